//! The change of a file that the input of a tool is, where the agent neither says what kind of tool it is nor shows the
//! change. Inputs with further members are changes, too: `guard` judges what the others do.
//!
//! Source: `rawInput` of deepagents-acp 0.0.13, which sends no kind and no content; the members by which released agents
//! name the same things.

use serde_json::{Map, Value as Json, value::RawValue};

use crate::question::{Diff, Subject, command::bare_name};

/// The kind of a tool that has no other, or not yet.
pub(super) const OTHER: &str = "other";

/// Members that name the file, by their bare names.
const FILES: [&str; 7] =
    ["absolutepath", "file", "filename", "filepath", "path", "relativepath", "targetfile"];

/// Pairs of members that have the text before and after.
const PAIRS: [(&str, &str); 5] = [
    ("oldstring", "newstring"),
    ("oldstr", "newstr"),
    ("oldtext", "newtext"),
    ("search", "replace"),
    ("old", "new"),
];

/// Members that have the whole text of the file.
const WHOLE: [&str; 4] = ["content", "contents", "filecontent", "filetext"];

/// The member that has several changes of the file.
const EDITS: &str = "edits";

/// Members that have a patch, and how one begins.
const PATCHES: [&str; 3] = ["diff", "input", "patch"];
const PATCH_BEGINS: [&str; 3] = ["*** Begin Patch", "diff --git ", "--- "];

/// Adds the change that the input of a tool is to the subject, unless the agent says more of the tool.
pub(super) fn add(input: Option<&RawValue>, subject: &mut Subject) {
    if says_no_kind(subject)
        && let Some(input) = input.and_then(|input| serde_json::from_str(input.get()).ok())
    {
        read(&input, subject);
    }
}

/// Returns whether the agent does not say what kind of tool it is, and the permission shows neither a command nor a change.
fn says_no_kind(subject: &Subject) -> bool {
    subject.kind.as_deref().is_none_or(|kind| kind == OTHER)
        && subject.command.is_none()
        && subject.diffs.is_empty()
        && subject.patch.is_none()
}

/// Adds the change that an input is to the subject, with its file. Does nothing if the input is none.
fn read(input: &Json, subject: &mut Subject) {
    let text = input.as_str().filter(|text| text.trim_start().starts_with('{'));
    let within: Option<Json> = text.and_then(|text| serde_json::from_str(text).ok());
    let Json::Object(input) = within.as_ref().unwrap_or(input) else { return };
    let Some(path) = FILES.iter().find_map(|name| member(input, name)?.as_str()) else {
        subject.patch = PATCHES.iter().find_map(|name| patch(member(input, name)?));
        return;
    };
    let edits = member(input, EDITS).and_then(Json::as_array);
    let diffs: Option<Vec<_>> = match edits {
        // A change that is not understood would be missing among those that are shown.
        Some(edits) => edits.iter().map(|edit| replacement(path, edit.as_object()?)).collect(),
        None => replacement(path, input).or_else(|| whole(path, input)).map(|diff| vec![diff]),
    };
    let Some(diffs) = diffs.filter(|diffs| !diffs.is_empty()) else { return };
    subject.diffs = diffs;
    if subject.locations.is_empty() {
        subject.locations.push(path.to_owned());
    }
}

fn replacement(path: &str, edit: &Map<String, Json>) -> Option<Diff> {
    let texts =
        |(old, new): &(&str, &str)| Some((member(edit, old)?.as_str()?, member(edit, new)?.as_str()?));
    let (old, new) = PAIRS.iter().find_map(texts)?;
    // An empty old text stands for a file that is new.
    Some(Diff::new(path, Some(old).filter(|old| !old.is_empty()), new))
}

fn whole(path: &str, input: &Map<String, Json>) -> Option<Diff> {
    let text = WHOLE.iter().find_map(|name| member(input, name)?.as_str())?;
    Some(Diff::new(path, None, text))
}

fn patch(json: &Json) -> Option<String> {
    let text = json.as_str()?;
    PATCH_BEGINS.iter().any(|begin| text.trim_start().starts_with(begin)).then(|| text.to_owned())
}

/// Returns the value of the only member with this bare name.
fn member<'a>(input: &'a Map<String, Json>, name: &str) -> Option<&'a Json> {
    let mut found = input.iter().filter(|(known, _)| bare_name(known) == name).map(|(_, value)| value);
    found.next().filter(|_| found.next().is_none())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_change_is_known_by_its_members() {
        for (input, changes) in [
            (json!({ "file_path": "a", "old_string": "x", "new_string": "y" }), &[("a", Some("x"), "y")][..]),
            (json!({ "filePath": "a", "oldString": "x", "newString": "" }), &[("a", Some("x"), "")]),
            (json!({ "path": "a", "old_str": "x", "new_str": "y" }), &[("a", Some("x"), "y")]),
            (json!({ "path": "a", "old_str": "", "new_str": "y" }), &[("a", None, "y")]),
            (json!({ "path": "a", "content": "y" }), &[("a", None, "y")]),
            (json!({ "path": "a", "file_text": "y", "mode": 5 }), &[("a", None, "y")]),
            (
                json!({ "path": "a", "edits": [{ "oldText": "x", "newText": "y" }, { "old": "v", "new": "w" }] }),
                &[("a", Some("x"), "y"), ("a", Some("v"), "w")],
            ),
            (json!(r#"{"file_path":"a","old_string":"x","new_string":"y"}"#), &[("a", Some("x"), "y")]),
            // One of these changes would be missing.
            (json!({ "path": "a", "edits": [{ "oldText": "x", "newText": "y" }, { "line": 5 }] }), &[]),
            (json!({ "path": "a", "old_string": "x" }), &[]),
            (json!({ "path": "a", "PATH": "b", "content": "y" }), &[]),
            (json!({ "path": "a" }), &[]),
            (json!({ "content": "y" }), &[]),
            (json!(["a", "y"]), &[]),
        ] {
            let mut subject = Subject::default();
            read(&input, &mut subject);
            let found: Vec<_> =
                subject.diffs.iter().map(|diff| (&*diff.path, diff.old.as_deref(), &*diff.new)).collect();
            assert_eq!(found, changes, "{input}");
            assert_eq!(subject.locations, if changes.is_empty() { vec![] } else { vec!["a"] }, "{input}");
        }
        for (input, is_patch) in [
            (json!({ "patch": "*** Begin Patch\n*** Delete File: a\n*** End Patch" }), true),
            (json!({ "diff": "--- a\n+++ b\n" }), true),
            (json!({ "input": "hello" }), false),
        ] {
            let mut subject = Subject::default();
            read(&input, &mut subject);
            assert_eq!(subject.patch.is_some(), is_patch, "{input}");
        }
    }
}
