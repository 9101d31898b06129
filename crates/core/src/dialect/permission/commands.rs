//! The commands that the input of a tool has, as they are shown: a text, a list of words, a program with its words beside it,
//! in the input itself or in a member that holds others, also as JSON text. What they risk is left to `guard`, which reads
//! all of the input.

use serde_json::{Map, Value as Json};

use crate::question::{
    command::{self, Words, bare_name},
    subject::quoted_words,
};

/// Members that have the input itself, or one of several, by their bare names.
const HOLDERS: [&str; 22] = [
    "action",
    "actions",
    "args",
    "arguments",
    "call",
    "calls",
    "cmd",
    "cmds",
    "command",
    "commands",
    "exec",
    "execute",
    "input",
    "job",
    "parameters",
    "params",
    "payload",
    "process",
    "run",
    "step",
    "steps",
    "toolinput",
];

/// Those among [`HOLDERS`] of which a list has a command in each text.
const SEVERAL: [&str; 2] = ["cmds", "commands"];

/// Members that are a command, the one that counts first.
const COMMANDS: [&str; 6] = ["command", "cmd", "commandline", "program", "executable", "bin"];

/// The depth up to which members are read.
const DEPTH: usize = 6;

/// Returns the commands that an object has. Several stand on a line each, as in a script.
pub(in crate::dialect) fn of_command(input: &Map<String, Json>) -> Option<String> {
    let mut found = Vec::new();
    of_object(input, DEPTH, &mut found);
    joined(found)
}

/// Returns the commands of a whole input. `runs` says whether its tool runs commands: then a value without a name is one.
pub(super) fn of_input(input: &Json, runs: bool) -> Option<String> {
    let mut found = Vec::new();
    whole(input, runs, &mut found);
    joined(found)
}

fn joined(found: Vec<String>) -> Option<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in found {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn whole(input: &Json, runs: bool, found: &mut Vec<String>) {
    match (input, within(input)) {
        (_, Some(json)) if !json.is_string() => whole(&json, runs, found),
        (Json::Array(items), _) if !items.iter().all(Json::is_string) => held(input, false, DEPTH, found),
        (Json::Array(_) | Json::String(_), _) => found.extend(command(input).filter(|_| runs)),
        (input, _) => held(input, false, DEPTH, found),
    }
}

/// Returns the JSON in a text.
fn within(json: &Json) -> Option<Json> {
    let text = json.as_str().filter(|text| text.trim_start().starts_with(['{', '[', '"']))?;
    serde_json::from_str(text).ok()
}

/// Adds the commands of what a member holds: an object, a list of objects, or either as JSON text.
fn held(value: &Json, are_commands: bool, depth: usize, found: &mut Vec<String>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match (value, within(value)) {
        (_, Some(json)) => held(&json, are_commands, depth, found),
        (Json::Object(members), _) => of_object(members, depth, found),
        (Json::Array(items), _) => {
            for item in items {
                match item {
                    Json::String(_) if are_commands && within(item).is_none() => found.extend(text(item)),
                    item => held(item, are_commands, depth, found),
                }
            }
        }
        _ => {}
    }
}

fn of_object(members: &Map<String, Json>, depth: usize, found: &mut Vec<String>) {
    let named: Vec<_> = members.iter().map(|(name, value)| (bare_name(name), value)).collect();
    found.extend(own(&named));
    for (name, value) in named {
        if HOLDERS.contains(&&*name) {
            held(value, SEVERAL.contains(&&*name), depth, found);
        }
    }
}

/// Returns the command that members are together.
fn own(members: &[(String, &Json)]) -> Option<String> {
    let parts = members.iter().filter(|(name, _)| command::is_program(name) || command::is_words(name));
    let parts: Vec<_> = parts.map(|(name, value)| (name.clone(), words(value))).collect();
    if let Some(joined) = command::joined(&parts) {
        return Some(joined.command).filter(|command| !command.is_empty());
    }
    let member = |wanted: &str| members.iter().find(|(name, _)| name == wanted).map(|(_, value)| *value);
    let named = |wanted: &str| member(wanted).filter(|value| !holds_more(value)).and_then(command);
    // A list of words is a command even without a program beside it.
    let argv = || member("argv").filter(|argv| argv.is_array()).and_then(command);
    COMMANDS.into_iter().find_map(named).or_else(argv)
}

/// Returns whether a text is JSON with a command in it.
fn holds_more(value: &Json) -> bool {
    let mut found = Vec::new();
    if let Some(json) = within(value) {
        held(&json, false, DEPTH, &mut found);
    }
    !found.is_empty()
}

fn words(json: &Json) -> Words {
    match json {
        Json::Null | Json::Bool(false) => Words::Nothing,
        Json::String(text) if text.is_empty() => Words::Nothing,
        Json::String(text) => Words::Text(text.clone()),
        Json::Array(items) if items.is_empty() => Words::Nothing,
        Json::Object(members) if members.is_empty() => Words::Nothing,
        Json::Array(items) => {
            let texts: Option<Vec<_>> = items.iter().map(|item| item.as_str().map(str::to_owned)).collect();
            texts.map_or(Words::Other, Words::List)
        }
        _ => Words::Other,
    }
}

fn text(json: &Json) -> Option<String> {
    json.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Returns a command, which is a text or a list of its words.
pub(in crate::dialect) fn command(json: &Json) -> Option<String> {
    match json {
        Json::Array(words) => {
            let words: Option<Vec<_>> = words.iter().map(Json::as_str).collect();
            words.filter(|words| !words.is_empty()).map(|words| quoted_words(&words))
        }
        json => text(json),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_command_is_found_wherever_an_input_has_it() {
        let push = json!({ "program": "git", "args": ["push", "--force"] });
        let text = push.to_string();
        for (input, expected) in [
            (json!({ "command": "ls" }), Some("ls")),
            (json!({ "command": push }), Some("git push --force")),
            (json!({ "command": text }), Some("git push --force")),
            (json!({ "command": json!(text).to_string() }), Some("git push --force")),
            (
                json!({ "cmd": { "executable": "git", "arguments": ["push", "--force"] } }),
                Some("git push --force"),
            ),
            (json!({ "exec": { "command": "git", "args": ["push", "--force"] } }), Some("git push --force")),
            (
                json!({ "process": { "program": "git", "argv": ["git", "push", "--force"] } }),
                Some("git push --force"),
            ),
            (json!({ "commands": [push, { "command": "ls" }] }), Some("git push --force\nls")),
            (json!({ "commands": ["ls", "rm x"] }), Some("ls\nrm x")),
            (json!({ "commands": text }), Some("git push --force")),
            (
                json!({ "steps": [{ "name": "a", "command": "ls" }, { "run": push }] }),
                Some("ls\ngit push --force"),
            ),
            (json!({ "tool": "run", "input": push }), Some("git push --force")),
            (json!({ "tool": "run", "arguments": text }), Some("git push --force")),
            (json!({ "command": "ls", "input": push }), Some("ls\ngit push --force")),
            (json!([push, push]), Some("git push --force")),
            (json!(text), Some("git push --force")),
            (json!(["git", "push", "--force"]), Some("git push --force")),
            (json!("git push"), Some("git push")),
            (json!(["git push"].to_vec()), Some("'git push'")),
            // They are texts.
            (json!({ "steps": ["think", "rm"] }), None),
            (json!({ "content": text }), None),
            (json!({ "command": "{ ls; }" }), Some("{ ls; }")),
            (json!({ "command": "[ -e x ]" }), Some("[ -e x ]")),
            (json!({ "command": "{\"a\": 1}" }), Some("{\"a\": 1}")),
            (json!({ "command": { "a": 1 } }), None),
            (json!(null), None),
        ] {
            assert_eq!(of_input(&input, true).as_deref(), expected, "{input}");
        }
        assert_eq!(of_input(&json!(["a.rs", "b.rs"]), false), None);
        assert_eq!(of_input(&json!("a.rs"), false), None);
    }
}
