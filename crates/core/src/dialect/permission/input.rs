//! The input of a tool, as far as it is shown beside its JSON: the folder, the plan, and what the tool would be allowed
//! beyond that. Its commands are left to `commands.rs`. What the input risks is left to `guard`, which reads all of it.
//!
//! Source: `rawInput` of the released agents: `command` and `description` (Claude, Qwen, opencode), `command` as a list,
//! `cwd`, `additionalPermissions` and `environmentId` (codex-acp 2.6.0), `plan`, `planFilePath` and `allowedPrompts`
//! (Claude), `command` and `args` (fast-agent 0.10.48, workflows-acp 0.4.0a0), `reason` (yycode 0.3.7).

use serde_json::{Map, Value as Json, value::RawValue};

use super::{commands, grants};
use crate::{
    guard::wants_rights,
    question::{Subject, command::bare_name},
};

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

/// Kinds of tools that run a command.
const RUNNING: [&str; 2] = ["command", "execute"];

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
    let Ok(input) = serde_json::from_str(raw.get()) else { return };
    let runs = subject.kind.as_deref().is_some_and(|kind| RUNNING.contains(&&*kind.to_lowercase()));
    subject.command = commands::of_input(&input, runs);
    let Json::Object(input) = input else { return };
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

/// Returns a text that is not empty.
pub(super) fn text(json: &Json) -> Option<String> {
    json.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}
