//! `item/fileChange/requestApproval`: the approval of file changes. The request names an item that Codex announced
//! before, and does not contain the changes: [`Changes`] remembers the last such items.

use std::collections::VecDeque;

use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::{
    CodexReply,
    approval::{Decision, approval, non_empty_text},
};
use crate::{
    dialect::{
        once,
        permission::{PermissionDescription, said},
    },
    limits,
    question::{Diff, Question, Role, Subject},
    wire::scan::{member, text},
};

/// The heading of an approval of file changes.
pub(super) const TITLE: &str = "Change files?";

/// The kind of a tool that changes files, as ACP names it.
pub(super) const EDIT: &str = "edit";

/// The kind of a tool that removes files, as ACP names it. A wrong answer to it does harm.
const DELETE: &str = "delete";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct FileChangeParams {
    thread_id: Option<String>,
    item_id: Option<String>,
    #[serde(default)]
    reason: Json,
    #[serde(default)]
    grant_root: Json,
}

pub(super) fn read(params: &[u8], fallback_id: &str) -> Option<(Question, CodexReply)> {
    let FileChangeParams { thread_id, item_id, reason, grant_root } = serde_json::from_slice(params).ok()?;
    let root = non_empty_text(&grant_root);
    let decisions = vec![
        Decision::named("accept", "Allow these changes", Role::AllowOnce),
        Decision::named("acceptForSession", for_session(root.as_deref()), Role::AllowAlways)
            .granting(grants_for_session(root.as_deref())),
        Decision::decline(),
        Decision::cancel(),
    ];
    let mut subject = Subject {
        kind: Some(EDIT.to_owned()),
        description: non_empty_text(&reason),
        grants: root.as_deref().map(below).into_iter().collect(),
        locations: root.into_iter().collect(),
        ..Subject::default()
    };
    said::add_unknown(&mut subject, params, &["threadId", "itemId", "reason", "grantRoot"]);
    let described = PermissionDescription {
        session: thread_id,
        tool_call: item_id,
        title: Some(TITLE.to_owned()),
        subject,
        // A wrong answer can do harm until the changes are known.
        is_marked: true,
        ..PermissionDescription::default()
    };
    approval(described, decisions, json!({ "decision": "cancel" }), fallback_id)
}

/// Returns the words of the option that lasts until the session ends. `root` is the folder in which everything may be
/// changed.
pub(super) fn for_session(root: Option<&str>) -> String {
    match root {
        Some(root) => format!("Allow changes below {root} for the rest of this session"),
        None => "Allow changes of these files for the rest of this session".to_owned(),
    }
}

/// Returns what the option that lasts allows beyond the changes that are shown.
pub(super) fn grants_for_session(root: Option<&str>) -> Vec<String> {
    vec![root.map_or_else(|| "All further changes of these files".to_owned(), below)]
}

/// Returns what the grant of a folder allows.
pub(super) fn below(root: &str) -> String {
    format!("Changes of all files below {root}")
}

/// Adds the changes to the approval of a file change. `item` is the JSON of the item that began before the request. An
/// item of another kind, or one that is not understood, changes nothing.
pub(super) fn complete(question: &mut Question, item: &[u8]) {
    let Some(item) = once::from_slice(item) else { return };
    if item["type"] != "fileChange" || item["id"].as_str() != question.tool_call.as_deref() {
        return;
    }
    let Some(subject) = question.subject.as_deref_mut().filter(|it| it.kind.as_deref() == Some(EDIT)) else {
        return;
    };
    // The only location so far is a folder in which everything may be changed.
    let has_root = !subject.locations.is_empty();
    let changes = item["changes"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut are_known = !changes.is_empty();
    for change in changes {
        are_known &= match change["path"].as_str() {
            Some(path) => add(subject, path, &change["kind"], change["diff"].as_str()),
            None => false,
        };
    }
    // A root allows more changes than those that are shown.
    if are_known && !has_root {
        question.dangerous = false;
    }
    subject.fit();
}

/// Records that the approval is for other changes than those that it was asked for at first. A change that came before
/// there was any is none of these.
pub fn contradict(question: &mut Question, first: &Question) {
    let changes = |question: &Question| {
        let subject = question.subject.as_deref()?;
        let Subject { kind, diffs, patch, locations, .. } = subject;
        let has_changes = !diffs.is_empty() || patch.is_some();
        has_changes.then(|| (kind.clone(), diffs.clone(), patch.clone(), locations.clone()))
    };
    let Some(before) = changes(first) else { return };
    if changes(question).as_ref() != Some(&before)
        && let Some(subject) = question.subject.as_deref_mut()
    {
        subject.unclear.get_or_insert_with(|| "its change of files is another one than at first".to_owned());
    }
}

/// Adds the change of one file. `diff` is the whole text of a file that is new or removed, otherwise a patch. Returns
/// whether the kind of change is known.
pub(super) fn add(subject: &mut Subject, path: &str, kind: &Json, diff: Option<&str>) -> bool {
    let name = kind["type"].as_str().or(kind.as_str());
    let is_known = diff.is_some() && matches!(name, Some("add" | "delete" | "update"));
    let diff = diff.unwrap_or_default();
    match name {
        Some("add") => subject.diffs.push(Diff::new(path, None, diff)),
        Some("delete") => {
            subject.kind = Some(DELETE.to_owned());
            subject.diffs.push(Diff::new(path, Some(diff), ""));
        }
        _ => {
            let target = kind["move_path"].as_str().or(kind["movePath"].as_str()).unwrap_or(path);
            // `guard` reads the names of the files from the head of a patch.
            let patch = subject.patch.get_or_insert_default();
            patch.push_str(&format!("--- {path}\n+++ {target}\n{diff}"));
            if !patch.ends_with('\n') {
                patch.push('\n');
            }
        }
    }
    subject.locations.push(path.to_owned());
    is_known
}

/// The type of an item that changes files.
const ITEM_TYPE: &str = "fileChange";

/// The last items that change files, as JSON, oldest first.
#[derive(Debug, Default)]
pub struct Changes(VecDeque<Box<[u8]>>);

impl Changes {
    /// Remembers an item. An item that changes no files, or that is longer than the limit, is ignored.
    pub fn push(&mut self, item: &[u8]) {
        let is_change = member(item, "type").and_then(text).is_some_and(|kind| kind == ITEM_TYPE);
        let Some(id) = member(item, "id").filter(|_| is_change) else { return };
        // The changes of an earlier version of the item must not be shown, even if this one is too long to keep.
        self.0.retain(|other| member(other, "id") != Some(id));
        if item.len() > limits::CODEX_CHANGE {
            return;
        }
        if self.0.len() == limits::CODEX_CHANGES {
            self.0.pop_front();
        }
        self.0.push_back(item.into());
    }

    /// Remembers the present changes of an item, from the parameters of the notification that its changes are others now.
    pub fn updated(&mut self, params: &[u8]) {
        let (Some(id), Some(changes)) = (member(params, "itemId"), member(params, "changes")) else { return };
        let head: [&[u8]; 3] = [br#"{"type":"fileChange","id":"#, id, br#","changes":"#];
        self.push(&[&head.concat(), changes, b"}"].concat());
    }

    /// Adds the changes to an approval of file changes, if its item is known.
    pub fn complete(&self, question: &mut Question) {
        let Some(wanted) = question.tool_call.as_deref() else { return };
        let is_wanted = |item: &[u8]| member(item, "id").and_then(text).is_some_and(|id| id == wanted);
        if let Some(item) = self.0.iter().find(|item| is_wanted(item)) {
            complete(question, item);
        }
    }

    /// Forgets all of them.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{dialect::codex, limits};

    fn item(id: usize, path: &str) -> String {
        format!(
            r#"{{"type":"fileChange","id":"{id}","changes":[{{"path":"{path}","kind":{{"type":"add"}},"diff":"a"}}]}}"#
        )
    }

    /// Returns the locations of an approval of this item.
    fn locations(changes: &Changes, id: usize) -> Vec<String> {
        let params = format!(r#"{{"threadId":"t","itemId":"{id}"}}"#);
        let read = codex::read(codex::request::FILE_CHANGE, params.as_bytes(), "q");
        let (mut question, _) = read.expect("it is a question");
        changes.complete(&mut question);
        question.subject.map(|subject| subject.locations).unwrap_or_default()
    }

    #[test]
    fn last_changes_are_known_by_their_item() {
        let mut changes = Changes::default();
        (0..=limits::CODEX_CHANGES).for_each(|id| changes.push(item(id, "/p/a").as_bytes()));
        assert_eq!(locations(&changes, 0), [""; 0]);
        assert_eq!(locations(&changes, 1), ["/p/a"]);
        changes.push(item(1, "/p/b").as_bytes());
        assert_eq!(locations(&changes, 1), ["/p/b"]);
        assert_eq!(locations(&changes, 2), ["/p/a"], "an item that comes again takes no further room");
        changes.push(item(1, &"x".repeat(limits::CODEX_CHANGE)).as_bytes());
        assert_eq!(locations(&changes, 1), [""; 0], "what is out of date is not shown");
        for other in [&b"5"[..], br#"{"type":"agentMessage","id":"7"}"#, br#"{"type":"fileChange"}"#] {
            changes.push(other);
        }
        assert_eq!(changes.0.len(), limits::CODEX_CHANGES - 1);
        changes.clear();
        assert_eq!(locations(&changes, 2), [""; 0]);
    }
}
