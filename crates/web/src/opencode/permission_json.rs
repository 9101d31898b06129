//! The JSON of a permission in opencode's API: in the list of its current API, and in the event of its first API.
//! Changes of files are one text in the unified diff format, which opencode's clients show in colour.
//! Replies are left to `permission.rs`.

use std::{fmt::Write, sync::Arc, time::Duration};

use askbridge_core::{
    desk::{Record, Timestamp},
    question::{Diff, FieldOption, Image, Question, Role, Subject},
};
use serde::{Serialize, Serializer};

use super::{question::session, shown::ShownId};

/// A permission in opencode's format.
#[derive(Serialize)]
struct PermissionRequest<'a> {
    id: ShownId,
    #[serde(rename = "sessionID")]
    session: &'a str,
    /// The tool, by opencode's name.
    permission: &'a str,
    /// The commands, files or other subjects of the permission.
    patterns: Vec<&'a str>,
    metadata: Metadata<'a>,
    /// The patterns that a reply of `always` allows. If such a reply would be refused, this is empty, and clients do
    /// not offer it.
    always: Vec<&'a str>,
}

/// A permission in the format of the first API.
#[derive(Serialize)]
struct LegacyPermission<'a> {
    id: ShownId,
    #[serde(rename = "type")]
    permission: &'a str,
    pattern: Vec<&'a str>,
    #[serde(rename = "sessionID")]
    session: &'a str,
    /// Always empty: the bridge does not know opencode's messages.
    #[serde(rename = "messageID")]
    message: &'static str,
    #[serde(rename = "callID", skip_serializing_if = "Option::is_none")]
    call: Option<&'a str>,
    title: &'a str,
    metadata: Metadata<'a>,
    time: CreationTime,
}

#[derive(Serialize)]
struct CreationTime {
    /// Milliseconds since 1970.
    #[serde(serialize_with = "milliseconds")]
    created: Timestamp,
}

/// The metadata for clients. The names `filepath` and `diff` are opencode's, for its tool `edit`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Metadata<'a> {
    title: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    filepath: Option<&'a str>,
    #[serde(skip_serializing_if = "String::is_empty")]
    diff: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<&'a Subject>,
    /// What the images are, which no client of opencode shows: their data is asked for.
    #[serde(skip_serializing_if = "<[Image]>::is_empty")]
    images: &'a [Image],
    /// What the agent sent and no client can show, each as a sentence.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    unshown: &'a [String],
    dangerous: bool,
    options: &'a [FieldOption],
}

impl<'a> PermissionRequest<'a> {
    fn of(record: &'a Record) -> Self {
        let question = &*record.question;
        PermissionRequest {
            id: ShownId::of(record),
            session: session(record),
            permission: tool(question),
            patterns: patterns(question),
            metadata: Metadata::of(question),
            always: match with_role(question, Role::AllowAlways)[..] {
                [only] => vec![&only.label],
                _ => Vec::new(),
            },
        }
    }
}

impl<'a> LegacyPermission<'a> {
    fn of(record: &'a Record) -> Self {
        let question = &*record.question;
        LegacyPermission {
            id: ShownId::of(record),
            permission: tool(question),
            pattern: patterns(question),
            session: session(record),
            message: "",
            call: question.tool_call.as_deref(),
            title: question.heading(),
            metadata: Metadata::of(question),
            time: CreationTime { created: record.opened_at },
        }
    }
}

impl<'a> Metadata<'a> {
    fn of(question: &'a Question) -> Self {
        let subject = question.subject.as_deref();
        let diff = match subject {
            Some(Subject { patch: Some(patch), .. }) => patch.clone(),
            Some(subject) => unified(&subject.diffs),
            None => String::new(),
        };
        let filepath = subject.and_then(|subject| {
            let changed = subject.diffs.first().map(|diff| &diff.path);
            changed.or_else(|| subject.locations.first()).map(String::as_str)
        });
        Metadata {
            title: question.heading(),
            filepath,
            diff,
            command: subject.and_then(|subject| subject.command.as_deref()),
            subject,
            images: &question.images,
            unshown: &question.unshown,
            dangerous: question.dangerous,
            options: options(question),
        }
    }
}

/// Returns opencode's name of the tool, or else the agent's own kind of the tool call.
fn tool(question: &Question) -> &str {
    let Some(subject) = question.subject.as_deref() else { return "other" };
    match subject.kind.as_deref() {
        Some("execute" | "command") => "bash",
        Some("fetch") => "webfetch",
        Some("search") => "grep",
        // Without a useful kind, the content tells the tool.
        None | Some("other") if subject.command.is_some() => "bash",
        None | Some("other") if !subject.diffs.is_empty() => "edit",
        kind => kind.unwrap_or("other"),
    }
}

/// Returns the subjects of the permission: the command, the files, or else the title. Clients show them, so there is
/// always one.
fn patterns(question: &Question) -> Vec<&str> {
    let Some(subject) = question.subject.as_deref() else { return vec![question.heading()] };
    if let Some(command) = &subject.command {
        return vec![command];
    }
    let mut files: Vec<&str> = subject.diffs.iter().map(|diff| &*diff.path).collect();
    if files.is_empty() {
        files = subject.locations.iter().map(String::as_str).collect();
    }
    if files.is_empty() { vec![question.heading()] } else { files }
}

/// Returns the options of a permission.
pub(super) fn options(question: &Question) -> &[FieldOption] {
    question.fields.first().map(|field| field.kind.options()).unwrap_or_default()
}

/// Returns the options of a permission with this role.
pub(super) fn with_role(question: &Question, role: Role) -> Vec<&FieldOption> {
    options(question).iter().filter(|option| option.role.as_deref() == Some(&role)).collect()
}

fn milliseconds<S: Serializer>(time: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
    let passed: Duration = time.since(Timestamp::default());
    serializer.serialize_u64(u64::try_from(passed.as_millis()).unwrap_or(u64::MAX))
}

/// A permission that is converted only when it is serialized.
pub(super) struct PermissionData(pub(super) Arc<Record>);

impl Serialize for PermissionData {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        PermissionRequest::of(&self.0).serialize(serializer)
    }
}

/// A permission that is converted to the first API's format only when it is serialized.
pub(super) struct LegacyPermissionData(pub(super) Arc<Record>);

impl Serialize for LegacyPermissionData {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        LegacyPermission::of(&self.0).serialize(serializer)
    }
}

/// Returns the changes as one text in the unified diff format.
pub(super) fn unified(diffs: &[Diff]) -> String {
    let mut text = String::new();
    for diff in diffs {
        // Writing to a `String` never fails.
        write_diff(&mut text, diff).unwrap_or_default();
    }
    text
}

fn write_diff(text: &mut String, diff: &Diff) -> std::fmt::Result {
    let old: Vec<_> = diff.old.iter().flat_map(|old| old.split_inclusive('\n')).collect();
    let new: Vec<_> = diff.new.split_inclusive('\n').collect();
    // The old lines from the first difference to the last are replaced as a block. A search for the shortest diff could
    // take long, since the agent chooses both texts.
    let before = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let ends = old[before..].iter().rev().zip(new[before..].iter().rev());
    let after = ends.take_while(|(old, new)| old == new).count();

    // A path with a line break could otherwise add lines to the diff.
    let path = diff.path.replace(char::is_control, "\u{fffd}");
    writeln!(text, "--- {}\n+++ {path}", if diff.old.is_some() { &path } else { "/dev/null" })?;
    // By the unified format, an empty side has line number 0.
    let place = |lines: &[&str]| if lines.is_empty() { 0 } else { diff.line };
    writeln!(text, "@@ -{},{} +{},{} @@", place(&old), old.len(), place(&new), new.len())?;
    write_lines(text, ' ', &old[..before]);
    write_lines(text, '-', &old[before..old.len() - after]);
    write_lines(text, '+', &new[before..new.len() - after]);
    write_lines(text, ' ', &old[old.len() - after..]);
    Ok(())
}

fn write_lines(text: &mut String, mark: char, lines: &[&str]) {
    for line in lines {
        text.push(mark);
        text.push_str(line);
        if !line.ends_with('\n') {
            text.push_str("\n\\ No newline at end of file\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_written_in_the_unified_format() {
        let old: String = (1..=9).map(|line| format!("{line}\n")).collect();
        let new = old.replace("5\n", "five\nand more\n");
        let expected = "--- /a\n+++ /a\n@@ -2,7 +2,8 @@\n 2\n 3\n 4\n-5\n+five\n+and more\n 6\n 7\n 8\n";
        assert_eq!(unified(&[Diff::new("/a", Some(&old), &new)]), expected);
    }

    #[test]
    fn odd_changes_are_written_in_the_unified_format() {
        for (path, old, new, expected) in [
            ("a", None, "x\n", "--- /dev/null\n+++ a\n@@ -0,0 +1,1 @@\n+x\n"),
            ("a", Some("x"), "", "--- a\n+++ a\n@@ -1,1 +0,0 @@\n-x\n\\ No newline at end of file\n"),
            ("a", Some("x"), "x\n", "--- a\n+++ a\n@@ -1,1 +1,1 @@\n-x\n\\ No newline at end of file\n+x\n"),
            ("a", Some("x\n"), "x\n", "--- a\n+++ a\n@@ -1,1 +1,1 @@\n x\n"),
            ("a", Some("x\nx\n"), "x\n", "--- a\n+++ a\n@@ -1,2 +1,1 @@\n x\n-x\n"),
            ("a\n+++ b\u{1b}", None, "", "--- /dev/null\n+++ a\u{fffd}+++ b\u{fffd}\n@@ -0,0 +0,0 @@\n"),
        ] {
            assert_eq!(unified(&[Diff::new(path, old, new)]), expected);
        }
    }
}
