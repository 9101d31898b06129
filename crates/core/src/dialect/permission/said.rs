//! What a request says outside of the members of the standard: in `_meta` of the request, of the tool call and of an
//! option, and in members that no version of the standard has. Nothing of it is lost: what is known says why, where, or
//! what would be allowed; what is known to say nothing is left out ([`HARMLESS`]); the rest is shown with its name.
//!
//! Source: claude-agent-acp 0.101.0 (`jetbrains.air.permission`, `claudeCode`), codex-acp 2.6.0 (`permission_prompt`,
//! `is_mcp_tool_approval`), mistral-vibe 3.0.3 (`required_permissions` of an option), Qwen Code 0.24.4, Gemini CLI 0.61.0
//! and tantra 2.2.0, recorded or read in their packages.

use serde_json::{Map, Value as Json};

use super::{grants, input};
use crate::{
    dialect::once,
    guard::wants_rights,
    question::{Subject, command::bare_name},
    wire::scan::Members,
};

/// Members that say nothing about what would be allowed, by their bare names, each with the agent that sends it.
const HARMLESS: [(&str, &str); 27] = [
    ("toolname", "Qwen Code, claude-agent-acp: the tool, which the title and the kind say"),
    ("ismcptoolapproval", "codex-acp: the kind of dialog"),
    ("provenance", "Qwen Code: whether the tool is its own"),
    ("phase", "Qwen Code: how far its call is"),
    ("version", "claude-agent-acp, codex-acp: the version of `_meta`"),
    ("capabilities", "claude-agent-acp: what the client supports"),
    ("kind", "codex-acp, Gemini CLI: the kind of a change, which is read with the change"),
    ("askbridge", "this program: it is read on its own"),
    ("dangerous", "this program: it is read on its own"),
    ("qwenquestions", "Qwen Code: a question, which is read on its own"),
    ("qweninteractionkind", "Qwen Code: that it is a question"),
    ("askuserquestion", "a fork of claude-code-acp: a question, which is read on its own"),
    ("terminalinfo", "codex-acp: the terminal of a command"),
    ("terminaloutput", "codex-acp: the output of a command"),
    ("terminalexit", "codex-acp: the end of a command"),
    ("rawoutput", "all: the output of a tool"),
    ("status", "all: how far the call is"),
    ("sessionupdate", "all: the kind of an update"),
    ("name", "claude-agent-acp, codex-acp: the tool, which the title and the kind say"),
    ("type", "all: the kind of an object"),
    ("traceparent", "OpenTelemetry"),
    ("tracestate", "OpenTelemetry"),
    ("baggage", "OpenTelemetry"),
    ("timestamp", "all: a time"),
    ("createdat", "all: a time"),
    ("startedatms", "Codex: a time"),
    ("progresstoken", "MCP: an ID"),
];

/// Members whose text says why, or what it is about.
const REASONS: [&str; 18] = [
    "body",
    "context",
    "decisionreason",
    "description",
    "detail",
    "details",
    "explanation",
    "justification",
    "message",
    "note",
    "rationale",
    "reason",
    "subtitle",
    "summary",
    "text",
    "title",
    "warning",
    "why",
];

/// Members that say where a command would run.
const PLACES: [&str; 9] = [
    "container",
    "environment",
    "environmentid",
    "environmentname",
    "executor",
    "executorid",
    "machine",
    "remotehost",
    "sandboxid",
];

/// Members that mark a refusal as the choice that an agent would make itself.
const NO_BY_DEFAULT: [&str; 2] = ["defaulttono", "defaultno"];
const DEFAULTS: [&str; 6] =
    ["default", "defaultchoice", "defaultdecision", "defaultoption", "defaultoptionid", "preselected"];
const REFUSALS: [&str; 6] = ["cancel", "decline", "deny", "no", "refuse", "reject"];

/// Parts of the names of members that allow more than the act.
const GRANTS: [&str; 26] = [
    "additional",
    "allow",
    "always",
    "amendment",
    "approval",
    "domain",
    "director",
    "duration",
    "elevat",
    "escalat",
    "expire",
    "folder",
    "grant",
    "host",
    "mode",
    "network",
    "pattern",
    "permission",
    "policy",
    "prefix",
    "privileg",
    "roots",
    "rule",
    "scope",
    "suggestion",
    "updates",
];

/// The depth up to which members are read.
const DEPTH: usize = 6;

/// The most bytes of a value that is shown with its name.
const VALUE: usize = 400;

/// What a request says beside the standard.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Said {
    pub reasons: Vec<String>,
    pub grants: Vec<String>,
    /// Members that are not known, each on a line with its name.
    pub further: Vec<String>,
    pub environment: Option<String>,
    /// Whether the agent marks it as one that can do harm, or would itself choose no.
    pub is_marked: bool,
}

impl Said {
    /// Reads `_meta`.
    pub(super) fn meta(&mut self, meta: &Json) {
        if let Some(members) = meta.as_object() {
            members.iter().for_each(|(name, value)| self.member(name, value, DEPTH));
        }
    }

    /// Reads the members of an object whose names are not these.
    pub(super) fn unknown(&mut self, object: &[u8], known: &[&str]) {
        let Ok(mut members) = Members::enter(object) else { return };
        while let Ok(Some(key)) = members.key() {
            let Ok(value) = members.value() else { break };
            if known.iter().any(|name| key.is(name)) {
                continue;
            }
            if let (Some(name), Some(value)) = (key.unescaped(), once::every(value)) {
                self.member(&name, &value, DEPTH);
            }
        }
    }

    /// Reads members that are not known.
    pub(super) fn members(&mut self, members: &Map<String, Json>) {
        members.iter().for_each(|(name, value)| self.member(name, value, DEPTH));
    }

    fn member(&mut self, name: &str, value: &Json, depth: usize) {
        // A vendor may stand before the name.
        let name = name.rsplit('/').next().unwrap_or(name);
        let bare = bare_name(name);
        let Some(depth) = depth.checked_sub(1) else { return self.further(name, value) };
        if is_harmless(&bare, value) {
            return;
        }
        match wants_rights(name, value).filter(|_| !PLACES.contains(&&*bare)) {
            // It may do so by a `false`.
            Some(true) => return grants::read_rights(name, value, &mut self.grants),
            _ if is_nothing(value) => return,
            Some(false) => return self.further(name, value),
            None => {}
        }
        if NO_BY_DEFAULT.contains(&&*bare) {
            // What occurs twice is a list.
            self.is_marked |=
                value == true || value.as_array().is_some_and(|values| values.contains(&true.into()));
        } else if DEFAULTS.contains(&&*bare) && value.is_string() {
            let chosen = bare_name(value.as_str().unwrap_or_default());
            match REFUSALS.iter().any(|refusal| chosen.starts_with(refusal)) {
                true => self.is_marked = true,
                false => self.further(name, value),
            }
        } else if PLACES.contains(&&*bare) && value.is_string() {
            self.environment = self.environment.take().or_else(|| input::environment(value));
        } else if REASONS.contains(&&*bare) && value.is_string() {
            self.reasons.extend(input::text(value));
        } else if bare == "mcpserver" {
            self.reasons.push(server(value));
        } else if is_group(&bare, value) {
            self.group(value, depth);
        } else if GRANTS.iter().any(|part| bare.contains(part)) {
            grants::read(name, value, &mut self.grants);
        } else if value.is_object() {
            self.group(value, depth);
        } else {
            self.further(name, value);
        }
    }

    fn group(&mut self, value: &Json, depth: usize) {
        for (name, value) in value.as_object().into_iter().flatten() {
            self.member(name, value, depth);
        }
    }

    fn further(&mut self, name: &str, value: &Json) {
        let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let text = crate::question::subject::cut(&text, VALUE);
        self.further.push(format!("{name}: {text}"));
    }

    /// Adds all of it to the subject.
    pub(super) fn add_to(mut self, subject: &mut Subject) {
        // The heading of its dialog may repeat that of the call.
        self.reasons.retain(|text| ![&subject.title, &subject.command].contains(&&Some(text.clone())));
        input::add_reasons(subject, self.reasons.into_iter());
        add_lines(&mut subject.grants, self.grants);
        add_lines(&mut subject.further, self.further);
        subject.environment = subject.environment.take().or(self.environment);
    }
}

/// Adds the members of a request that are not these to its subject. Returns whether they mark it as one that can do
/// harm.
pub(in crate::dialect) fn add_unknown(subject: &mut Subject, request: &[u8], known: &[&str]) -> bool {
    let mut said = Said::default();
    said.unknown(request, known);
    let is_marked = said.is_marked;
    said.add_to(subject);
    is_marked
}

/// Adds lines that are not there yet.
pub(super) fn add_lines(lines: &mut Vec<String>, more: Vec<String>) {
    for line in more {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
}

fn is_nothing(value: &Json) -> bool {
    match value {
        Json::Null | Json::Bool(false) => true,
        Json::String(text) => text.is_empty(),
        Json::Array(items) => items.is_empty(),
        Json::Object(members) => members.is_empty(),
        Json::Bool(true) | Json::Number(_) => false,
    }
}

fn is_harmless(bare: &str, value: &Json) -> bool {
    let is_known = HARMLESS.iter().any(|(name, _)| *name == bare);
    // IDs tell requests apart. The name of an option or of a folder is none.
    let is_id = (bare.ends_with("id") || bare.ends_with("ids") || bare.ends_with("uuid"))
        && !value.is_object()
        && !PLACES.contains(&bare)
        && !DEFAULTS.contains(&bare);
    is_known || is_id
}

/// Returns whether an object only groups members, whatever its name sounds like: the presentation of a permission.
fn is_group(bare: &str, value: &Json) -> bool {
    let is_known = matches!(bare, "permission" | "permissionprompt" | "permissionrequest" | "approval");
    is_known && value.is_object() && !grants::is_profile(value)
}

/// Returns the words for an MCP server: claude-agent-acp says which one has the tool, and where it was set up.
fn server(value: &Json) -> String {
    match (value["name"].as_str(), value["source"].as_str()) {
        (Some(name), Some(source)) => format!("It is a tool of the MCP server {name} ({source})."),
        (Some(name), None) => format!("It is a tool of the MCP server {name}."),
        _ => format!("mcpServer: {value}"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;

    #[test]
    #[expect(clippy::too_many_lines, reason = "a table")]
    fn nothing_that_is_said_is_lost() {
        let read = |meta: Json| {
            let mut said = Said::default();
            said.meta(&meta);
            said
        };
        for (meta, reasons, grants, further, environment, is_marked) in [
            (
                json!({ "jetbrains": { "air": { "version": 1, "permission": { "version": 1, "defaultToNo": true, "description": "Reason: r", "title": "Bash" } } } }),
                &["Reason: r", "Bash"][..],
                &[][..],
                &[][..],
                None,
                true,
            ),
            (
                json!({ "claudeCode": { "toolName": "x", "parentToolUseId": "t", "mcpServer": { "name": "m", "source": "dynamic" } } }),
                &["It is a tool of the MCP server m (dynamic)."],
                &[],
                &[],
                None,
                false,
            ),
            (
                json!({ "x.example/hosts": ["a.example"], "sessionMode": "yolo", "folders": ["/etc"], "environmentId": "prod" }),
                &[],
                &["Access to /etc", "Switches to the mode yolo", "Network access to a.example"],
                &[],
                Some("prod"),
                false,
            ),
            (
                json!({ "required_permissions": [{ "scope": "command", "invocation_pattern": "ls", "session_pattern": "ls *", "label": "ls" }] }),
                &[],
                &["From now on: ls * (command), ls"],
                &[],
                None,
                false,
            ),
            (
                json!({ "permission_suggestions": [{ "type": "setMode", "mode": "acceptEdits", "destination": "session" }], "colour": "red", "tantra": { "askId": 5 }, "environmentId": "local" }),
                &[],
                &["Switches to the mode acceptEdits until this session ends"],
                &["colour: red"],
                None,
                false,
            ),
            (json!({ "defaultOption": "reject_once" }), &[], &[], &[], None, true),
            (
                json!({ "defaultOption": "allow_once", "off": false }),
                &[],
                &[],
                &["defaultOption: allow_once"],
                None,
                false,
            ),
        ] {
            let said = read(meta.clone());
            // Whether an object keeps the order of its members depends on the features of the build.
            assert_eq!(
                (set(&said.reasons), set(&said.grants), set(&said.further)),
                (set(reasons), set(grants), set(further)),
                "{meta}"
            );
            assert_eq!((said.environment.as_deref(), said.is_marked), (environment, is_marked), "{meta}");
        }
    }

    fn set<T: AsRef<str>>(lines: &[T]) -> BTreeSet<&str> {
        lines.iter().map(AsRef::as_ref).collect()
    }

    #[test]
    fn each_harmless_member_has_one_row() {
        for (place, (name, why)) in HARMLESS.iter().enumerate() {
            assert_eq!(*name, bare_name(name));
            assert!(!why.is_empty() && HARMLESS[..place].iter().all(|(other, _)| other != name), "{name}");
        }
    }
}
