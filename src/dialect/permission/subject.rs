//! What a permission is for, from a tool call or another subject to the model.
//!
//! Source: `ToolCallUpdate` and `RequestPermissionSubject` of the ACP schema; `rawInput` of the released agents:
//! `command` and `description` (Claude, Qwen, opencode), `command` as a list and `cwd` (Codex), `plan` (Claude).

use serde::Deserialize;
use serde_json::{Value as Json, value::RawValue};

use super::wire::{PermissionSubject, PermissionToolCall};
use crate::{
    limits,
    question::{Diff, Question, Subject, subject::cut},
};

/// The kinds of tools of which a wrong answer can do harm, beside what the agent marks.
const DANGEROUS: [&str; 2] = ["execute", "delete"];

/// The kind of a tool that changes what the agent may do, such as the end of a plan.
const SWITCH_MODE: &str = "switch_mode";

/// The type of a subject of version 2 that is a command.
const COMMAND: &str = "command";

/// What is known of a permission's subject.
#[derive(Default)]
pub(super) struct Draft {
    pub tool_call: Option<String>,
    subject: Subject,
    is_marked: bool,
}

/// What is known of the input of tools.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Input {
    command: Json,
    cmd: Json,
    cwd: Json,
    workdir: Json,
    directory: Json,
    description: Json,
    plan: Json,
}

impl Draft {
    pub(super) fn of_tool_call(tool_call: PermissionToolCall<'_>) -> Self {
        let mut subject = Subject {
            kind: tool_call.kind,
            title: tool_call.title,
            locations: locations(&tool_call.locations),
            ..Subject::default()
        };
        if let Some(raw) = tool_call.raw_input {
            subject.read_input(raw);
        }
        subject.read_content(&tool_call.content);
        if subject.plan.is_none() && subject.kind.as_deref() == Some(SWITCH_MODE) {
            subject.plan = subject.content.take();
        }
        if subject.content.is_some() && [&subject.plan, &subject.description].contains(&&subject.content) {
            subject.content = None;
        }
        let is_marked = is_marked(&tool_call.meta);
        Draft { tool_call: tool_call.tool_call_id, subject, is_marked }
    }

    /// Reads a subject of version 2. One of an unknown type is kept as it is.
    pub(super) fn of_subject(about: PermissionSubject<'_>, raw: &RawValue) -> Self {
        if let Some(tool_call) = about.tool_call {
            return Draft::of_tool_call(tool_call);
        }
        let is_command = about.kind == COMMAND;
        let mut subject = Subject { kind: Some(about.kind), ..Subject::default() };
        if is_command {
            (subject.command, subject.folder) = (about.command, about.cwd);
        } else {
            subject.raw_input = Some(raw.get().to_owned());
        }
        Draft { tool_call: about.tool_call_id, subject, is_marked: is_command }
    }

    /// Returns a draft of what a dialect has read by itself.
    pub(super) fn of_known(subject: Subject, is_marked: bool) -> Self {
        Draft { tool_call: None, subject, is_marked }
    }

    pub(super) fn is_dangerous(&self) -> bool {
        self.is_marked || self.subject.kind.as_deref().is_some_and(|kind| DANGEROUS.contains(&kind))
    }

    /// Returns the heading of the permission, and its subject within the limits.
    pub(super) fn with_heading(
        self,
        title: Option<String>,
        description: Option<String>,
    ) -> (String, Subject) {
        let mut subject = self.subject;
        subject.description = description.or(subject.description.take());
        let heading = match (title, subject.title.take()) {
            (Some(title), of_tool_call) => {
                subject.title = of_tool_call.filter(|other| *other != title);
                title
            }
            (None, Some(title)) => title,
            (None, None) => subject.untitled(),
        };
        subject.fit();
        (heading, subject)
    }
}

/// Adds to a permission what only an earlier update of its tool call says. `update` is the JSON of that update.
pub fn complete(question: &mut Question, update: &[u8]) {
    let Ok(tool_call) = serde_json::from_slice::<PermissionToolCall<'_>>(update) else { return };
    let earlier = Draft::of_tool_call(tool_call);
    question.dangerous |= earlier.is_dangerous();
    let Subject {
        kind,
        title,
        command,
        folder,
        locations,
        diffs,
        plan,
        content,
        raw_input,
        description,
        patch,
    } = earlier.subject;
    let subject = question.subject.get_or_insert_default();
    let is_untitled = question.message == subject.untitled();
    for (known, earlier) in [
        (&mut subject.kind, kind),
        (&mut subject.command, command),
        (&mut subject.folder, folder),
        (&mut subject.plan, plan),
        (&mut subject.content, content),
        (&mut subject.raw_input, raw_input),
        (&mut subject.description, description),
        (&mut subject.patch, patch),
    ] {
        *known = known.take().or(earlier);
    }
    if subject.locations.is_empty() {
        subject.locations = locations;
    }
    if subject.diffs.is_empty() {
        subject.diffs = diffs;
    }
    match title {
        Some(title) if is_untitled => question.message = cut(&title, limits::TEXT),
        Some(title) if title != question.message => drop(subject.title.get_or_insert(title)),
        None if is_untitled => question.message = cut(&subject.untitled(), limits::TEXT),
        _ => {}
    }
    subject.fit();
    if let Some(field) = question.fields.first_mut() {
        field.label.clone_from(&question.message);
    }
}

impl Subject {
    /// Returns a heading for a permission that has none.
    fn untitled(&self) -> String {
        let command = self.command.as_deref().map(|command| command.lines().next().unwrap_or(command));
        match (command, &self.kind) {
            (Some(command), _) => command.to_owned(),
            (None, Some(kind)) => format!("Permission to {}", kind.replace('_', " ")),
            (None, None) => "The agent asks for a permission.".to_owned(),
        }
    }

    fn read_input(&mut self, raw: &RawValue) {
        if !matches!(raw.get(), "null" | "{}") {
            self.raw_input = Some(raw.get().to_owned());
        }
        let input: Input = serde_json::from_str(raw.get()).unwrap_or_default();
        self.command = command(&input.command).or_else(|| command(&input.cmd));
        self.folder = [&input.cwd, &input.workdir, &input.directory].into_iter().find_map(text);
        self.description = text(&input.description);
        self.plan = text(&input.plan);
    }

    /// Reads the content of a tool call: texts, and diffs of both versions.
    fn read_content(&mut self, content: &Json) {
        let mut texts = Vec::new();
        for block in content.as_array().into_iter().flatten() {
            match block.get("type").and_then(Json::as_str) {
                Some("diff") => self.read_diff(block),
                _ => texts.extend(block.pointer("/content/text").and_then(text)),
            }
        }
        self.content = (!texts.is_empty()).then(|| texts.join("\n"));
    }

    fn read_diff(&mut self, block: &Json) {
        let member = |name: &str| block.get(name).and_then(Json::as_str);
        if let (Some(path), Some(new)) = (member("path"), member("newText")) {
            self.diffs.push(Diff::new(path, member("oldText"), new));
        }
        if let Some(patch) = block.pointer("/patch/text").and_then(text) {
            self.patch = Some(self.patch.take().unwrap_or_default() + &patch);
        }
        let changes = block.get("changes").and_then(Json::as_array).into_iter().flatten();
        self.locations.extend(changes.filter_map(|change| text(change.get("path")?)));
    }
}

/// Returns whether the agent says that the wrong answer can do harm.
pub(super) fn is_marked(meta: &Json) -> bool {
    let of = |meta: &Json| meta.get("dangerous").and_then(Json::as_bool);
    of(meta).or_else(|| of(meta.get("askbridge")?)).unwrap_or_default()
}

fn text(json: &Json) -> Option<String> {
    json.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Returns a command, which is a text or a list of its words.
pub(in crate::dialect) fn command(json: &Json) -> Option<String> {
    match json {
        Json::Array(words) => {
            let words: Option<Vec<_>> = words.iter().map(|word| word.as_str().map(quoted)).collect();
            words.filter(|words| !words.is_empty()).map(|words| words.join(" "))
        }
        json => text(json),
    }
}

/// Returns a word as a shell would read it as one.
fn quoted(word: &str) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_./=:,@%+".contains(char);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

fn locations(json: &Json) -> Vec<String> {
    let place = |location: &Json| {
        let path = text(location.get("path")?)?;
        Some(match location.get("line").and_then(Json::as_u64) {
            Some(line) => format!("{path}:{line}"),
            None => path,
        })
    };
    // One more than is kept, so that the cut is seen.
    let most = 8 * limits::LOCATIONS;
    json.as_array().into_iter().flatten().take(most).filter_map(place).collect()
}
