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
const HARMLESS: [(&str, &str); 25] = [
    ("toolname", "Qwen Code, claude-agent-acp: the tool, which the title and the kind say"),
    ("ismcptoolapproval", "codex-acp: the kind of dialog"),
    ("ismcptoolcall", "codex-acp: the kind of tool, which the title says"),
    ("toolresponse", "claude-agent-acp: the output of a tool"),
    ("provenance", "Qwen Code: whether the tool is its own"),
    ("phase", "Qwen Code: how far its call is"),
    ("version", "claude-agent-acp, codex-acp: the version of `_meta`"),
    ("askbridge", "this program: it is read on its own"),
    ("dangerous", "this program: it is read on its own"),
    ("qwenquestions", "Qwen Code: a question, which is read on its own"),
    ("qweninteractionkind", "Qwen Code: that it is a question"),
    ("askuserquestion", "a fork of claude-code-acp: a question, which is read on its own"),
    ("idempotenthint", "MCP: whether a second call would change more than the first"),
    ("terminaloutput", "codex-acp: the output of a command"),
    ("terminalexit", "codex-acp: the end of a command"),
    ("rawoutput", "all: the output of a tool"),
    ("status", "all: how far the call is"),
    ("sessionupdate", "all: the kind of an update"),
    ("traceparent", "OpenTelemetry"),
    ("tracestate", "OpenTelemetry"),
    ("baggage", "OpenTelemetry"),
    ("timestamp", "all: a time"),
    ("createdat", "all: a time"),
    ("startedatms", "Codex: a time"),
    ("progresstoken", "MCP: an ID"),
];

/// Members that say what an object is, and nothing else, where one of these values stands in them.
const LABELS: [(&str, &[&str]); 4] = [
    // codex-acp and Gemini CLI: the kind of a change, which is read with the change.
    ("kind", &["add", "delete", "modify", "update"]),
    ("type", &["allow", "content", "permission", "rule", "text", "tool"]),
    ("action", &["allow"]),
    ("behavior", &["allow"]),
];

/// IDs of something that only agents and clients tell apart. Others name a mode, a host or a place.
const IDS: [&str; 27] = [
    "agentid",
    "approvalid",
    "askid",
    "callid",
    "conversationid",
    "correlationid",
    "elicitationid",
    "eventid",
    "id",
    "interruptid",
    "itemid",
    "messageid",
    "parenttooluseid",
    "permissionid",
    "promptid",
    "questionid",
    "requestid",
    "runid",
    "sessionid",
    "spanid",
    "stepid",
    "taskid",
    "terminalid",
    "threadid",
    "toolcallid",
    "toolid",
    "tooluseid",
];
const MORE_IDS: [&str; 4] = ["subagentid", "traceid", "turnid", "uuid"];

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
const PLACES: [&str; 11] = [
    "container",
    "containerid",
    "environment",
    "environmentid",
    "environmentname",
    "executor",
    "executorid",
    "machine",
    "machineid",
    "remotehost",
    "sandboxid",
];

/// Members of such a place that name it, the best one first.
const NAMES: [&str; 3] = ["name", "id", "label"];

/// Members that mark a refusal as the choice that an agent would make itself.
const NO_BY_DEFAULT: [&str; 4] = ["defaulttono", "defaultno", "defaultstono", "noisdefault"];
const DEFAULTS: [&str; 6] =
    ["default", "defaultchoice", "defaultdecision", "defaultoption", "defaultoptionid", "preselected"];
const REFUSALS: [&str; 12] = [
    "abort", "block", "cancel", "decline", "deny", "disallow", "forbid", "never", "no", "refuse", "reject",
    "skip",
];

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
        match meta {
            Json::Object(members) => self.members(members),
            meta if grants::is_nothing("_meta", meta) => {}
            meta => self.further("_meta", meta),
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
            _ if grants::is_nothing(&bare, value) => return,
            Some(false) => return self.further(name, value),
            None => {}
        }
        if NO_BY_DEFAULT.contains(&&*bare) {
            self.is_marked |= value != false;
        } else if DEFAULTS.contains(&&*bare) {
            match texts(value).any(is_refusal) {
                true => self.is_marked = true,
                false => self.further(name, value),
            }
        } else if PLACES.contains(&&*bare) && (value.is_string() || value.is_object()) {
            self.place(name, value, depth);
        } else if REASONS.contains(&&*bare) && value.is_string() {
            self.reasons.extend(input::text(value));
        } else if bare == "mcpserver" && value.is_object() {
            self.server(value, depth);
        } else if is_group(&bare, value) {
            self.group(value, &[], depth);
        } else if GRANTS.iter().any(|part| bare.contains(part)) {
            grants::read(name, value, &mut self.grants);
        } else if value.is_object() {
            self.group(value, &[], depth);
        } else {
            self.is_marked |= marks(value, depth);
            self.further(name, value);
        }
    }

    /// Reads where it would run: a name, or an object with one.
    fn place(&mut self, name: &str, value: &Json, depth: usize) {
        let named = NAMES.iter().find_map(|name| Some((*name, input::text(value.get(*name)?)?)));
        let (of_object, place) = match named {
            Some((member, place)) => (Some(member), input::environment(&place.into())),
            None if value.is_object() => return self.group(value, &[], depth),
            None => (None, input::environment(value)),
        };
        if let Some(member) = of_object {
            self.group(value, &[member], depth);
        }
        match (&self.environment, place) {
            (None, place) => self.environment = place,
            (Some(known), Some(other)) if *known != other => self.further(name, &other.into()),
            _ => {}
        }
    }

    /// Reads which MCP server has the tool: claude-agent-acp says so, and where it was set up.
    fn server(&mut self, value: &Json, depth: usize) {
        let known = ["name", "source"];
        let text = |name: &str| value[name].as_str();
        match (text("name"), text("source")) {
            (Some(name), Some(source)) => {
                self.reasons.push(format!("It is a tool of the MCP server {name} ({source})."));
            }
            (Some(name), None) => self.reasons.push(format!("It is a tool of the MCP server {name}.")),
            _ => return self.further("mcpServer", value),
        }
        self.group(value, &known, depth);
    }

    /// Reads the members of an object whose names are not these.
    fn group(&mut self, value: &Json, known: &[&str], depth: usize) {
        let members = value.as_object().into_iter().flatten();
        for (name, value) in members.filter(|(name, _)| !known.contains(&name.as_str())) {
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
        let place = self.environment.filter(|place| subject.environment.as_ref() != Some(place));
        match (&subject.environment, place) {
            (Some(_), Some(other)) => add_lines(&mut subject.further, vec![format!("environment: {other}")]),
            (None, place) => subject.environment = place,
            (Some(_), None) => {}
        }
    }
}

/// Returns whether an object in a list marks the request: an object that occurs twice is a list.
fn marks(value: &Json, depth: usize) -> bool {
    let mut inside = Said::default();
    value.as_array().into_iter().flatten().for_each(|item| inside.group(item, &[], depth));
    inside.is_marked
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

impl Subject {
    /// Adds what an update says beside what is known.
    pub(super) fn add_further(&mut self, mut further: Vec<String>) {
        // codex-acp says the folder of the terminal that will show the output.
        let folder = self.folder.as_ref().map(|folder| format!("cwd: {folder}"));
        further.retain(|line| Some(line) != folder.as_ref());
        add_lines(&mut self.further, further);
    }
}

/// Adds lines that are not there yet.
pub(super) fn add_lines(lines: &mut Vec<String>, more: Vec<String>) {
    for line in more {
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
}

fn is_harmless(bare: &str, value: &Json) -> bool {
    let is_known = HARMLESS.iter().any(|(name, _)| *name == bare);
    let is_id = !value.is_object() && (IDS.contains(&bare) || MORE_IDS.contains(&bare));
    let is_label = |text: &str| LABELS.iter().any(|(name, texts)| *name == bare && texts.contains(&text));
    is_known || is_id || value.as_str().is_some_and(is_label)
}

/// Returns the texts in a value, which may be an object that names one.
fn texts(value: &Json) -> impl Iterator<Item = &str> {
    let of_object = value.as_object().into_iter().flatten().map(|(_, value)| value);
    // What occurs twice is a list.
    let of_list = value.as_array().into_iter().flatten();
    [value].into_iter().chain(of_object).chain(of_list).filter_map(Json::as_str)
}

fn is_refusal(text: &str) -> bool {
    let text = bare_name(text);
    text == "n" || REFUSALS.iter().any(|refusal| text.starts_with(refusal))
}

/// Returns whether an object only groups members, whatever its name sounds like: the presentation of a permission.
fn is_group(bare: &str, value: &Json) -> bool {
    let is_known = matches!(bare, "permission" | "permissionprompt" | "permissionrequest" | "approval");
    is_known && value.is_object() && !grants::is_profile(value)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::json;

    use super::*;

    #[test]
    fn nothing_that_is_said_is_lost() {
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
                &["defaultOption: allow_once", "off: false"],
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

    /// What a name only sounds like says something, and so does a `false`, and each member beside those of a known shape.
    #[test]
    #[expect(clippy::too_many_lines, reason = "a table")]
    fn no_member_hides_behind_its_name_or_its_neighbours() {
        for (meta, texts) in [
            (json!({ "environment": { "id": "prod", "region": "east" } }), &["prod", "region: east"][..]),
            (json!({ "environment": { "name": "prod", "id": "7" } }), &["prod"]),
            (json!({ "environmentId": "east", "container": "web7" }), &["east", "web7"]),
            (json!({ "modeId": "bypass" }), &["Switches to the mode bypass"]),
            (json!({ "targetModeId": "yolo" }), &["Switches to the mode yolo"]),
            (json!({ "machineId": "prod-1" }), &["prod-1"]),
            (json!({ "serverId": "db" }), &["serverId: db"]),
            (json!({ "allowedHostIds": ["a.example"] }), &["a.example"]),
            (json!({ "profile": { "name": "full" } }), &["name: full"]),
            (json!({ "effect": { "type": "deleteAll" } }), &["type: deleteAll"]),
            (json!({ "target": { "kind": "production" } }), &["kind: production"]),
            (json!({ "sandbox": false }), &["sandbox: no"]),
            (json!({ "dryRun": false }), &["dryRun: false"]),
            (json!({ "askAgain": false }), &["askAgain: false"]),
            (json!({ "capabilities": ["net"] }), &["capabilities: [\"net\"]"]),
            (json!({ "terminal_info": { "cwd": "/etc" } }), &["cwd: /etc"]),
            (
                json!({ "mcpServer": { "name": "m", "url": "http://a.example" } }),
                &["server m.", "url: http://a"],
            ),
            (json!({ "hosts": [{ "host": "a.example", "ports": "all" }] }), &["a.example", "ports: all"]),
            (
                json!({ "allowedPrompts": [{ "tool": "Bash", "prompt": "tests", "limit": 0 }] }),
                &["tests", "limit: 0"],
            ),
            (
                json!({ "rules": [{ "toolName": "Bash", "ruleContent": "npm:*", "destination": "userSettings" }] }),
                &["Bash(npm:*) from now on, in all your projects"],
            ),
            (
                json!({ "required_permissions": [{ "session_pattern": "ls *", "invocation_pattern": "ls /etc" }] }),
                &["ls *", "ls /etc"],
            ),
            (
                json!({ "suggestions": [{ "type": "addRules", "rules": [], "directories": ["/etc"] }] }),
                &["Access to /etc"],
            ),
            (
                json!({ "additionalPermissions": { "network": { "enabled": true, "domains": ["a.example"] } } }),
                &["Network: yes", "a.example"],
            ),
            (
                json!({ "additionalPermissions": { "fileSystem": { "read": "/a", "delete": ["/b"] }, "network": "full" } }),
                &["Read: /a", "/b", "full"],
            ),
            (json!({ "defaultToNo": "true" }), &["marked"]),
            (json!({ "defaultDecision": { "optionId": "reject_once" } }), &["marked"]),
            (json!({ "default": false }), &["default: false"]),
            (json!("everything"), &["_meta: everything"]),
        ] {
            let said = read(meta.clone());
            let lines = [&said.reasons[..], &said.grants, &said.further].concat();
            let mut all = lines.join("\n") + said.environment.as_deref().unwrap_or_default();
            all.push_str(if said.is_marked { " marked" } else { "" });
            assert!(texts.iter().all(|text| all.contains(text)), "{meta}: {all}");
        }
        for meta in [
            json!({ "status": "pending", "traceparent": "00-1-2-01", "askId": 5, "toolCallId": "t" }),
            json!({ "kind": "add", "isDefault": false, "allowNetwork": false, "hosts": [], "destructiveHint": false }),
            json!(null),
        ] {
            assert_eq!(read(meta.clone()), Said::default(), "{meta}");
        }
    }

    fn read(meta: Json) -> Said {
        let mut said = Said::default();
        said.meta(&meta);
        said
    }

    #[test]
    fn each_harmless_member_has_one_row() {
        for (place, (name, why)) in HARMLESS.iter().enumerate() {
            assert_eq!(*name, bare_name(name));
            assert!(!why.is_empty() && HARMLESS[..place].iter().all(|(other, _)| other != name), "{name}");
        }
    }
}
