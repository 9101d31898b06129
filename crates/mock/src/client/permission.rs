//! A permission request in the client: a title, the command, folder, plan and changes that it is for, and its options.
//! Many agents describe the action only in the updates of the tool call that precede the request, so the client keeps
//! those updates. Choosing an option is left to `answers.rs`.

use std::{collections::VecDeque, env};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::form::{ClientChoice, ClientField, ClientForm, Detail, text};

/// A permission request: its options, each with its kind, and its parameters.
#[derive(Debug)]
pub(super) struct Permission {
    options: Vec<PermissionOption>,
    params: Value,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct PermissionOption {
    option_id: String,
    name: String,
    kind: String,
}

impl Permission {
    /// Returns the first option whose kind has this prefix.
    pub(super) fn first(&self, kind: &str) -> Option<&str> {
        let found = self.options.iter().find(|option| option.kind.starts_with(kind));
        found.map(|option| option.option_id.as_str())
    }

    /// Returns the option with this ID.
    pub(super) fn option(&self, id: &str) -> Option<&str> {
        let found = self.options.iter().find(|option| option.option_id == id);
        found.map(|option| option.option_id.as_str())
    }

    /// Returns whether the option with this ID rejects.
    pub(super) fn rejects(&self, id: &str) -> bool {
        self.options.iter().any(|option| option.option_id == id && option.kind.starts_with("reject_"))
    }

    /// Adds what earlier updates said about the tool call of the request.
    pub(super) fn complete(&mut self, tool_calls: &ToolCalls) {
        tool_calls.complete(&mut self.params);
    }

    /// Returns the parameters of the request.
    pub(super) fn params(&self) -> &Value {
        &self.params
    }
}

/// Reads the parameters as a form of one field.
pub(super) fn read(params: &Value) -> Option<(ClientForm, Permission)> {
    let options = Vec::<PermissionOption>::deserialize(&params["options"]).ok()?;
    let choices = options
        .iter()
        .map(|option| ClientChoice::new(option.option_id.clone(), Some(option.name.clone()), None));
    let field = ClientField {
        // Version 2 of the protocol has the title beside the tool call.
        question: text(&params["toolCall"], &["title", "toolCallId"]).or_else(|| text(params, &["title"]))?,
        options: choices.collect(),
        opaque: true,
        ..ClientField::default()
    };
    let form = ClientForm { message: None, fields: vec![field] };
    (!options.is_empty()).then(|| (form, Permission { options, params: params.clone() }))
}

/// Returns the result that selects an option.
pub(super) fn selected(option: &str) -> Value {
    json!({ "outcome": { "outcome": "selected", "optionId": option } })
}

/// Returns the result for a cancelled request.
pub(super) fn cancelled() -> Value {
    json!({ "outcome": { "outcome": "cancelled" } })
}

/// The most tool calls that are kept.
const MOST: usize = 64;
/// The most lines that are shown.
const LONGEST: usize = 40;

/// The fields of each tool call, with its ID, the oldest first.
#[derive(Debug, Default)]
pub(super) struct ToolCalls(VecDeque<(String, Map<String, Value>)>);

/// The parameters of `session/update`.
#[derive(Debug, Default, Deserialize)]
pub(super) struct ToolCallUpdate {
    update: Map<String, Value>,
}

impl ToolCalls {
    /// Merges an update into the known tool call. Fields of the update replace earlier ones, except for `null`.
    pub(super) fn update(&mut self, ToolCallUpdate { update }: ToolCallUpdate) {
        let Some(Value::String(id)) = update.get("toolCallId") else { return };
        let id = id.clone();
        let fields = update.into_iter().filter(|(_, value)| !value.is_null());
        if let Some((_, known)) = self.0.iter_mut().find(|(known, _)| *known == id) {
            return known.extend(fields);
        }
        if self.0.len() >= MOST {
            self.0.pop_front();
        }
        self.0.push_back((id, fields.collect()));
    }

    /// Adds what earlier updates said to the tool call of a permission request.
    pub(super) fn complete(&self, params: &mut Value) {
        // Version 2 of the protocol puts the tool call into a subject.
        let has_subject = !params["subject"].is_null();
        let about = if has_subject { &mut params["subject"] } else { &mut *params };
        let ids = [&about["toolCall"], &*about];
        let id = ids.iter().find_map(|from| from["toolCallId"].as_str()).unwrap_or_default();
        let Some((_, mut known)) = self.0.iter().find(|(known, _)| known == id).cloned() else { return };
        for (name, value) in about["toolCall"].as_object().into_iter().flatten() {
            // An empty list or input in the request must not hide what an earlier update said.
            if !is_empty(value) {
                known.insert(name.clone(), value.clone());
            }
        }
        about["toolCall"] = Value::Object(known);
    }
}

/// Adds the contents of a permission request to the field. The command that would run becomes the heading, above the
/// words of the agent.
pub(super) fn describe(params: &Value, field: &mut ClientField) {
    let subject = &params["subject"];
    let tool_call = if subject.is_null() { &params["toolCall"] } else { &subject["toolCall"] };
    if params["title"].is_null()
        && let Some(title) = text(tool_call, &["title"])
    {
        field.question = title;
    }
    field.details = details(tool_call, subject, &field.question);
    let Some(command) = command(tool_call, subject) else { return };
    let title = std::mem::replace(&mut field.question, prompted(&command).next().unwrap_or_default());
    let is_said = title == command;
    if !is_said {
        field.details.push(Detail::Text(title));
    }
}

/// Returns the command that would run.
fn command(tool_call: &Value, subject: &Value) -> Option<String> {
    text(subject, &["command"]).or_else(|| text(&tool_call["rawInput"], &["command"]))
}

/// Returns the lines of a command behind a prompt.
fn prompted(command: &str) -> impl Iterator<Item = String> {
    command.lines().enumerate().map(|(place, line)| format!("{} {line}", if place == 0 { "$" } else { " " }))
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(values) => values.is_empty(),
        Value::Object(members) => members.is_empty(),
        _ => false,
    }
}

fn details(tool_call: &Value, subject: &Value, title: &str) -> Vec<Detail> {
    let input = &tool_call["rawInput"];
    let mut lines = Vec::new();
    let command = command(tool_call, subject);
    let plan = text(input, &["plan"]);
    if let Some(command) = &command {
        // The first line is the heading.
        lines.extend(prompted(command).skip(1).map(Detail::Text));
        // A command without a folder runs in that of the session, which is ours.
        let here = || env::current_dir().map(|folder| folder.to_string_lossy().into_owned()).ok();
        let folder = text(subject, &["cwd"]).or_else(|| text(input, &["cwd"])).or_else(here);
        lines.extend(folder.map(|folder| Detail::Text(format!("in {folder}"))));
    }
    for shown in [plan.clone(), text(input, &["url", "message"])].into_iter().flatten() {
        if !title.contains(&shown) {
            lines.extend(paragraph(&shown));
        }
    }
    for block in tool_call["content"].as_array().into_iter().flatten() {
        match block["type"].as_str() {
            Some("diff") => lines.extend(diff(block)),
            Some("content") => {
                let said = text(&block["content"], &["text"]);
                let said = said.filter(|said| plan.as_ref() != Some(said) && command.as_ref() != Some(said));
                lines.extend(said.iter().flat_map(|said| paragraph(said)));
            }
            _ => {}
        }
    }
    if lines.len() > LONGEST {
        let more = lines.len() - LONGEST;
        lines.truncate(LONGEST);
        lines.push(Detail::Text(format!("… {more} more lines")));
    }
    lines
}

fn paragraph(text: &str) -> impl Iterator<Item = Detail> {
    text.lines().map(|line| Detail::Text(line.to_owned()))
}

/// Returns the path of a change and the lines that differ, without the lines that both texts begin and end with.
fn diff(block: &Value) -> Vec<Detail> {
    if let Some(patch) = block["patch"]["text"].as_str() {
        return patch.lines().map(patched).collect();
    }
    let lines = |name: &str| block[name].as_str().unwrap_or_default().lines().collect::<Vec<_>>();
    let (old, new) = (lines("oldText"), lines("newText"));
    let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[same..], &new[same..]);
    let end = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let path = block["path"].as_str().unwrap_or_default();
    let mut shown = vec![Detail::Text(path.to_owned())];
    shown.extend(old[..old.len() - end].iter().map(|&line| Detail::Removed(line.to_owned())));
    shown.extend(new[..new.len() - end].iter().map(|&line| Detail::Added(line.to_owned())));
    shown
}

/// Returns a line of a patch as removed, added or unchanged, by its first character.
fn patched(line: &str) -> Detail {
    let is_header = ["--- ", "+++ "].iter().any(|header| line.starts_with(header));
    match (line.strip_prefix('-'), line.strip_prefix('+')) {
        (Some(line), _) if !is_header => Detail::Removed(line.to_owned()),
        (_, Some(line)) if !is_header => Detail::Added(line.to_owned()),
        _ => Detail::Text(line.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn described(update: Value, params: &Value) -> ClientField {
        let mut calls = ToolCalls::default();
        calls.update(serde_json::from_value(json!({ "update": update })).unwrap_or_default());
        let mut field = ClientField { question: "t".to_owned(), ..ClientField::default() };
        let mut params = params.clone();
        calls.complete(&mut params);
        describe(&params, &mut field);
        field
    }

    fn line(text: &str) -> Detail {
        Detail::Text(text.to_owned())
    }

    #[test]
    fn what_the_request_leaves_out_stands_in_the_earlier_update() {
        let update =
            json!({ "toolCallId": "t", "title": "Run", "rawInput": { "command": "ls", "cwd": "/w" } });
        for tool_call in [json!({ "toolCallId": "t" }), json!({ "toolCallId": "t", "rawInput": {} })] {
            let field = described(update.clone(), &json!({ "toolCall": tool_call }));
            assert_eq!(field.question, "$ ls");
            assert_eq!(field.details, [line("in /w"), line("Run")]);
        }
        let other = described(update, &json!({ "toolCall": { "toolCallId": "u" } }));
        assert_eq!((other.question.as_str(), other.details.len()), ("t", 0));
    }

    #[test]
    fn the_oldest_tool_call_is_forgotten_whatever_its_id() {
        let mut calls = ToolCalls::default();
        let mut update = |id: &str| {
            let update = json!({ "toolCallId": id, "rawInput": { "command": id } });
            calls.update(serde_json::from_value(json!({ "update": update })).unwrap_or_default());
        };
        // The first one has the largest ID, and the last one the smallest.
        let id = |number: usize| format!("call-{:03}", MOST - number);
        (0..MOST).for_each(|number| update(&id(number)));
        update(&id(1));
        update(&id(MOST));
        let is_known = |id: &str| {
            let mut params = json!({ "toolCall": { "toolCallId": id } });
            calls.complete(&mut params);
            params["toolCall"]["rawInput"]["command"] == id
        };
        assert!(!is_known(&id(0)));
        assert!((1..=MOST).all(|number| is_known(&id(number))));
    }

    #[test]
    fn a_change_is_shown_without_the_lines_that_stay() {
        let block =
            json!({ "type": "diff", "path": "/f", "oldText": "a\nb\nc\n", "newText": "a\nB\nB\nc\n" });
        let field = described(Value::Null, &json!({ "toolCall": { "content": [block] } }));
        let added = || Detail::Added("B".to_owned());
        assert_eq!(field.details, [line("/f"), Detail::Removed("b".to_owned()), added(), added()]);
    }

    #[test]
    fn version_2_has_a_command_or_a_tool_call_as_its_subject() {
        let command = json!({ "type": "command", "command": "ls", "cwd": "/w" });
        let field = described(Value::Null, &json!({ "title": "Run?", "subject": command }));
        assert_eq!((&*field.question, &*field.details), ("$ ls", &[line("in /w"), line("t")][..]));
        let diff = json!({ "type": "diff", "patch": { "text": "--- a\n+++ b\n-x\n+y\n z" } });
        let tool_call = json!({ "type": "tool_call", "toolCall": { "content": [diff] } });
        let field = described(Value::Null, &json!({ "title": "Edit?", "subject": tool_call }));
        let change = [Detail::Removed("x".to_owned()), Detail::Added("y".to_owned())];
        assert_eq!(field.details[2..4], change);
        assert_eq!(field.details.len(), 5);
    }

    #[test]
    fn a_long_plan_is_cut() {
        let plan = "step\n".repeat(LONGEST + 7);
        let field = described(Value::Null, &json!({ "toolCall": { "rawInput": { "plan": plan } } }));
        assert_eq!(field.details.len(), LONGEST + 1);
        assert_eq!(field.details[LONGEST], line("… 7 more lines"));
    }
}
