//! What a permission or one of its options allows beyond its act, in words: modes, rules, folders, hosts, and the rights
//! of a sandbox, in the shapes in which agents write them.
//!
//! Source: `PermissionUpdate` of the Claude agent SDK 0.3.330; `additionalPermissions` and the amendments of Codex
//! 0.169.0; `required_permissions` of mistral-vibe 3.0.3; `allowedPrompts` of Claude Code 2.1.330.

use std::{cmp::Ordering, slice};

use serde_json::{Map, Value as Json};

use super::commands::command;
use crate::question::command::bare_name;

/// The most lines that are made of one request.
const MOST: usize = 64;

/// The depth up to which values are read.
const DEPTH: usize = 6;

/// Parts of the names of members that allow less if they are `false`. A `false` behind any other name may allow more:
/// `"sandbox": false`, `"askAgain": false`.
const LESS_IF_FALSE: [&str; 22] = [
    "additional",
    "allow",
    "always",
    "background",
    "bypass",
    "danger",
    "destructive",
    "disable",
    "elevat",
    "escalat",
    "grant",
    "interactive",
    "isdefault",
    "network",
    "openworld",
    "persist",
    "privileg",
    "recommend",
    "remember",
    "selected",
    "skip",
    "unsafe",
];

/// What a value means, by the bare name of its member.
const MEANINGS: [(&[&str], &str); 5] = [
    (
        &["host", "hosts", "domain", "domains", "allowedhosts", "alloweddomains", "origins"],
        "Network access to",
    ),
    (
        &[
            "directory",
            "directories",
            "additionaldirectories",
            "folder",
            "folders",
            "grantroot",
            "roots",
            "root",
            "writableroots",
        ],
        "Access to",
    ),
    (
        &[
            "approvalmode",
            "mode",
            "modeid",
            "newmode",
            "permissionmode",
            "sessionmode",
            "sessionmodeid",
            "setmode",
            "targetmode",
            "targetmodeid",
        ],
        "Switches to the mode",
    ),
    (
        &["execpolicyamendment", "proposedexecpolicyamendment", "prefix", "prefixrule"],
        "Commands that start with",
    ),
    (&["rule", "rules", "pattern", "patterns", "always", "sessionpattern"], "From now on:"),
];

/// Adds a line for each thing that a member allows. What is off or empty allows nothing.
pub(in crate::dialect) fn read(name: &str, value: &Json, lines: &mut Vec<String>) {
    add(name, value, lines, DEPTH);
}

/// Adds the lines for a member that asks for more rights. It may do so by `false`: that it has no sandbox.
pub(super) fn read_rights(name: &str, value: &Json, lines: &mut Vec<String>) {
    let mut own = Vec::new();
    read(name, value, &mut own);
    if own.is_empty() {
        own.push(format!("{name}: {}", if value == false { "no".to_owned() } else { value.to_string() }));
    }
    own.into_iter().for_each(|line| push(line, lines));
}

fn add(name: &str, value: &Json, lines: &mut Vec<String>, depth: usize) {
    let Some(depth) = depth.checked_sub(1) else { return push(format!("{name}: {value}"), lines) };
    let bare = bare_name(name);
    if is_nothing(&bare, value) || keeps_the_sandbox(&bare, value) {
        return;
    }
    match value {
        Json::Null => {}
        Json::Bool(is_on) => push(format!("{name}: {}", if *is_on { "yes" } else { "no" }), lines),
        Json::String(text) => push(format!("{} {text}", meaning(name, &bare)), lines),
        Json::Number(number) => push(format!("{name}: {number}"), lines),
        // A list of words may be the beginning of a command.
        Json::Array(items) if is_prefix(&bare) && items.iter().all(Json::is_string) => {
            if let Some(command) = command(value) {
                push(format!("{} `{command}`", meaning(name, &bare)), lines);
            }
        }
        Json::Array(items) => items.iter().for_each(|item| add(name, item, lines, depth)),
        Json::Object(members) => {
            let Known { lines: of_known, members: read } = known(members, value).unwrap_or_default();
            of_known.into_iter().for_each(|line| push(line, lines));
            let others = members.iter().filter(|(name, _)| !read.contains(&name.as_str()));
            others.for_each(|(name, value)| add(name, value, lines, depth));
        }
    }
}

/// Returns whether a member says no more than the request without it.
pub(super) fn is_nothing(bare: &str, value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::Bool(false) => LESS_IF_FALSE.iter().any(|part| bare.contains(part)),
        Json::String(text) => text.is_empty(),
        Json::Array(items) => items.is_empty(),
        Json::Object(members) => members.is_empty(),
        Json::Bool(true) | Json::Number(_) => false,
    }
}

/// Returns whether a member says that the sandbox stays.
fn keeps_the_sandbox(bare: &str, value: &Json) -> bool {
    matches!(bare, "sandbox" | "sandboxed" | "usesandbox") && *value == true
}

/// Adds a line. The last one says where there are more than are kept.
fn push(line: String, lines: &mut Vec<String>) {
    match lines.len().cmp(&MOST) {
        Ordering::Less if !lines.contains(&line) => lines.push(line),
        Ordering::Equal => lines.push("… more are not shown".to_owned()),
        _ => {}
    }
}

fn is_prefix(bare: &str) -> bool {
    MEANINGS[3].0.contains(&bare)
}

fn meaning(name: &str, bare: &str) -> String {
    let known = MEANINGS.iter().find(|(names, _)| names.contains(&bare));
    known.map_or_else(|| format!("{name}:"), |(_, meaning)| (*meaning).to_owned())
}

/// The words for an object of a known shape, and the members that they are made of. The other members are read on their
/// own.
#[derive(Default)]
struct Known {
    lines: Vec<String>,
    members: &'static [&'static str],
}

fn known(members: &Map<String, Json>, value: &Json) -> Option<Known> {
    let text = |name: &str| members.get(name).and_then(Json::as_str).filter(|text| !text.is_empty());
    let one = |line: String, members| Some(Known { lines: vec![line], members });
    if is_profile(value) {
        let all: &[&str] = &["network", "fileSystem", "file_system"];
        return Some(Known { lines: profile(value), members: all });
    }
    if let Some(lines) = update(value) {
        return Some(Known { lines, members: &OF_UPDATE });
    }
    // What a plan allows beyond its text.
    if let (Some(tool), Some(prompt)) = (text("tool"), text("prompt")) {
        return one(format!("{tool}: {prompt}"), &["tool", "prompt"]);
    }
    if let Some(host) = text("host") {
        let action = text("action").filter(|action| *action != "allow");
        let line = match (action, text("protocol")) {
            (Some(action), _) => format!("Network access to {host}: {action}"),
            (None, Some(protocol)) => format!("Network access to {host} over {protocol}"),
            (None, None) => format!("Network access to {host}"),
        };
        return one(line, &["host", "action", "protocol"]);
    }
    if let Some(tool) = text("toolName") {
        let until = text("destination").map(|place| format!(" {}", until(Some(place)))).unwrap_or_default();
        let line = rule(tool, text("ruleContent")) + &until;
        return one(line, &["toolName", "ruleContent", "destination", "behavior"]);
    }
    if let Some(pattern) = text("session_pattern").or_else(|| text("sessionPattern")) {
        let scope = text("scope").map(|scope| format!(" ({scope})")).unwrap_or_default();
        let label = text("label").filter(|label| *label != pattern).map(|label| format!(", {label}"));
        let line = format!("From now on: {pattern}{scope}{}", label.unwrap_or_default());
        // The call itself is one that the pattern allows, if that is all that it is.
        let is_shown = text("invocation_pattern").is_none_or(|call| line.contains(call));
        let members: &[&str] = match is_shown {
            true => &["session_pattern", "sessionPattern", "scope", "label", "invocation_pattern"],
            false => &["session_pattern", "sessionPattern", "scope", "label"],
        };
        return one(line, members);
    }
    None
}

/// The members of a change of Claude Code's permissions.
const OF_UPDATE: [&str; 6] = ["type", "destination", "behavior", "rules", "directories", "mode"];

/// Returns the words for a change of Claude Code's permissions, a line for each part. `None` if it is none.
pub(in crate::dialect) fn update(value: &Json) -> Option<Vec<String>> {
    let kind = value["type"].as_str()?;
    let until = until(value["destination"].as_str());
    let list = |name: &str| value[name].as_array().into_iter().flatten();
    let behavior = value["behavior"].as_str().filter(|behavior| *behavior != "allow");
    let behavior = behavior.map(|behavior| format!("{behavior} ")).unwrap_or_default();
    let is_removal = kind.starts_with("remove");
    let verb = if is_removal { "no longer the rule " } else { &*behavior };
    let rules = list("rules").map(|it| match it["toolName"].as_str() {
        Some(tool) => format!("{verb}{} {until}", rule(tool, it["ruleContent"].as_str())),
        None => format!("{verb}{it} {until}"),
    });
    let access = if is_removal { "no longer access to" } else { "Access to" };
    let folders = list("directories").map(|it| {
        let folder = it.as_str().map_or_else(|| it.to_string(), str::to_owned);
        format!("{access} {folder} {until}")
    });
    let mode = Some(&value["mode"]).filter(|mode| !mode.is_null()).map(|mode| {
        let mode = mode.as_str().map_or_else(|| mode.to_string(), str::to_owned);
        format!("Switches to the mode {mode} {until}")
    });
    match kind {
        "addRules" | "replaceRules" | "removeRules" | "setMode" | "addDirectories" | "removeDirectories" => {
            let lines: Vec<_> = rules.chain(folders).chain(mode).collect();
            Some(if lines.is_empty() { vec![value.to_string()] } else { lines })
        }
        _ => None,
    }
}

/// Returns a rule of Claude Code as it writes it.
pub(in crate::dialect) fn rule(tool: &str, content: Option<&str>) -> String {
    match content {
        Some(content) => format!("{tool}({content})"),
        None => format!("all of {tool}"),
    }
}

/// Returns how long a permission lasts, by the place where Claude Code stores it.
pub(in crate::dialect) fn until(destination: Option<&str>) -> &'static str {
    match destination {
        Some("session") => "until this session ends",
        Some("localSettings") => "from now on, for you in this project",
        Some("projectSettings") => "from now on, for everybody in this project",
        Some("userSettings") => "from now on, in all your projects",
        _ => "from now on",
    }
}

/// Returns whether these are rights of a sandbox, as Codex writes them.
pub(in crate::dialect) fn is_profile(value: &Json) -> bool {
    let has = |name: &str| value.get(name).is_some_and(|it| !it.is_null());
    has("fileSystem")
        || has("file_system")
        || value["network"].get("enabled").is_some()
        || value["network"].is_boolean()
}

/// Returns a line for each right of a sandbox.
pub(in crate::dialect) fn profile(rights: &Json) -> Vec<String> {
    let mut lines = Vec::new();
    let network = &rights["network"];
    match network["enabled"].as_bool().or(network.as_bool()) {
        Some(true) => lines.push("Network: yes".to_owned()),
        Some(false) => lines.push("Network: no".to_owned()),
        None if network.is_null() || network.is_object() => {}
        None => lines.push(format!("Network: {network}")),
    }
    others(network, &["enabled"], "network ", &mut lines);
    let files = match &rights["fileSystem"] {
        Json::Null => &rights["file_system"],
        files => files,
    };
    for (member, verb) in [("read", "Read"), ("write", "Write")] {
        let paths = match &files[member] {
            Json::Array(paths) => &paths[..],
            Json::Null => &[],
            path => slice::from_ref(path),
        };
        let path = |it: &Json| it.as_str().map_or_else(|| it.to_string(), str::to_owned);
        lines.extend(paths.iter().map(|it| format!("{verb}: {}", path(it))));
    }
    for entry in files["entries"].as_array().into_iter().flatten() {
        let access = entry["access"].as_str().unwrap_or("use");
        let path =
            ["/path/path", "/path/pattern", "/path"].into_iter().find_map(|at| entry.pointer(at)?.as_str());
        let path = path.map_or_else(|| entry["path"].to_string(), str::to_owned);
        lines.push(format!("{access}: {path}"));
    }
    if !files.is_null() && !files.is_object() {
        lines.push(format!("Files: {files}"));
    }
    // The person must see rights of an unknown shape as well.
    others(files, &["read", "write", "entries"], "files ", &mut lines);
    others(rights, &["network", "fileSystem", "file_system"], "", &mut lines);
    if lines.is_empty() {
        lines.push(rights.to_string());
    }
    lines
}

/// Adds a line for each further member of an object.
fn others(object: &Json, known: &[&str], of: &str, lines: &mut Vec<String>) {
    let members = object.as_object().into_iter().flatten();
    let members = members.filter(|(name, value)| !known.contains(&name.as_str()) && !value.is_null());
    lines.extend(members.map(|(name, value)| format!("{of}{name}: {value}")));
}
