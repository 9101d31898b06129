//! The input of a tool, as far as it is shown beside its JSON: the command, the folder, the plan, and what the tool would
//! be allowed beyond that. What the input risks is left to `guard`, which reads all of it.
//!
//! Source: `rawInput` of the released agents: `command` and `description` (Claude, Qwen, opencode), `command` as a list,
//! `cwd`, `additionalPermissions` and `environmentId` (codex-acp 2.6.0), `plan`, `planFilePath` and `allowedPrompts`
//! (Claude), `command` and `args` (fast-agent 0.10.48, workflows-acp 0.4.0a0), `reason` (yycode 0.3.7).

use serde_json::{Map, Value as Json, value::RawValue};

use super::grants;
use crate::{
    guard::wants_rights,
    question::{
        Subject,
        command::{self, Words, bare_name},
        subject::quoted_words,
    },
};

/// Members that have the input itself, where a tool's name stands beside it.
const NESTED: [&str; 6] = ["input", "arguments", "args", "params", "parameters", "payload"];

/// Members that say why, by their bare names.
const REASONS: [&str; 5] = ["description", "reason", "justification", "explanation", "rationale"];

/// Members that have a folder.
const FOLDERS: [&str; 4] = ["cwd", "workdir", "workingdirectory", "directory"];

/// Members that allow more than the act, by their bare names.
const GRANTS: [&str; 10] = [
    "additionalpermissions",
    "allowedprompts",
    "grantroot",
    "networkapprovalcontext",
    "permissionsuggestions",
    "proposedexecpolicyamendment",
    "proposednetworkpolicyamendments",
    "requestedpermissions",
    "requiredpermissions",
    "withadditionalpermissions",
];

/// The member that has the file of a plan.
const PLAN_FILE: &str = "planfilepath";

/// The member that names the environment of a command.
const ENVIRONMENT: &str = "environmentid";

/// The environment that is the machine of the agent itself.
const LOCAL: &str = "local";

/// Adds the input of a tool to the subject.
pub(super) fn read(raw: &RawValue, subject: &mut Subject) {
    if !matches!(raw.get(), "null" | "{}") {
        subject.raw_input = Some(raw.get().to_owned());
    }
    let Ok(Json::Object(input)) = serde_json::from_str(raw.get()) else { return };
    subject.command = of_command(&input).or_else(|| nested(&input));
    subject.folder = FOLDERS.iter().find_map(|name| text(member(&input, name)?));
    let reasons = REASONS.iter().filter_map(|name| text(member(&input, name)?));
    add_reasons(subject, reasons);
    subject.plan = member(&input, "plan").and_then(text);
    if subject.plan.is_none() {
        subject.plan_file = member(&input, PLAN_FILE).and_then(text);
    }
    subject.environment = member(&input, ENVIRONMENT).and_then(environment);
    subject.grants = of_input(&input);
}

/// Returns the value of the member with this bare name.
fn member<'a>(input: &'a Map<String, Json>, name: &str) -> Option<&'a Json> {
    input.iter().find(|(known, _)| bare_name(known) == name).map(|(_, value)| value)
}

/// Returns where a command would run, if that is another place than the machine of the agent.
pub(in crate::dialect) fn environment(json: &Json) -> Option<String> {
    text(json).filter(|name| name != LOCAL)
}

/// Adds reasons to the description, each on a line and once.
pub(super) fn add_reasons(subject: &mut Subject, reasons: impl Iterator<Item = String>) {
    for reason in reasons {
        match &mut subject.description {
            Some(known) if known.lines().any(|line| line == reason) || *known == reason => {}
            Some(known) => {
                known.push('\n');
                known.push_str(&reason);
            }
            None => subject.description = Some(reason),
        }
    }
}

/// Returns what the input of a tool allows beyond its act, each on a line.
pub(in crate::dialect) fn of_input(input: &Map<String, Json>) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, value) in input {
        let bare = bare_name(name);
        let is_profile = bare == "permissions" && grants::is_profile(value);
        if GRANTS.contains(&&*bare) || is_profile {
            grants::read(name, value, &mut lines);
        } else if wants_rights(name, value) == Some(true) {
            grants::read_rights(name, value, &mut lines);
        }
    }
    lines
}

/// Returns the command that an input has: one text, one list of words, or a program with its words beside it.
pub(in crate::dialect) fn of_command(input: &Map<String, Json>) -> Option<String> {
    let members: Vec<_> = input
        .iter()
        .map(|(name, value)| (bare_name(name), value))
        .filter(|(name, _)| command::is_program(name) || command::is_words(name))
        .map(|(name, value)| (name, words(value)))
        .collect();
    if let Some(joined) = command::joined(&members) {
        return Some(joined.command);
    }
    let named = |wanted: &str| command(member(input, wanted)?);
    ["command", "cmd", "commandline", "program", "executable", "bin"].into_iter().find_map(named).or_else(
        || {
            // A list of words is a command even without a program beside it.
            member(input, "argv").filter(|argv| argv.is_array()).and_then(command)
        },
    )
}

/// Returns the command of an input that stands in another, beside the name of a tool.
fn nested(input: &Map<String, Json>) -> Option<String> {
    NESTED.iter().find_map(|name| of_command(member(input, name)?.as_object()?))
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

/// Returns a text that is not empty.
pub(super) fn text(json: &Json) -> Option<String> {
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
