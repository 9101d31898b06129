//! What a permission or one of its options allows beyond its act, in words: modes, rules, folders, hosts, and the rights
//! of a sandbox, in the shapes in which agents write them.
//!
//! Source: `PermissionUpdate` of the Claude agent SDK 0.3.330; `additionalPermissions` and the amendments of Codex
//! 0.169.0; `required_permissions` of mistral-vibe 3.0.3; `allowedPrompts` of Claude Code 2.1.330.

use serde_json::{Map, Value as Json};

use super::input::command;
use crate::question::command::bare_name;

/// The most lines that are made of one request.
const MOST: usize = 64;

/// The depth up to which values are read.
const DEPTH: usize = 6;

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
    (&["mode", "setmode", "permissionmode", "approvalmode", "sessionmode"], "Switches to the mode"),
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
    match value {
        Json::Null | Json::Bool(false) => {}
        Json::Bool(true) => push(format!("{name}: yes"), lines),
        Json::String(text) if text.is_empty() => {}
        Json::String(text) => push(format!("{} {text}", meaning(name, &bare)), lines),
        Json::Number(number) => push(format!("{name}: {number}"), lines),
        // A list of words may be the beginning of a command.
        Json::Array(items) if is_prefix(&bare) && items.iter().all(Json::is_string) => {
            if let Some(command) = command(value) {
                push(format!("{} `{command}`", meaning(name, &bare)), lines);
            }
        }
        Json::Array(items) => items.iter().take(MOST).for_each(|item| add(name, item, lines, depth)),
        Json::Object(members) if members.is_empty() => {}
        Json::Object(members) => match known(members, value) {
            Some(known) => known.into_iter().for_each(|line| push(line, lines)),
            None => members.iter().for_each(|(name, value)| add(name, value, lines, depth)),
        },
    }
}

fn push(line: String, lines: &mut Vec<String>) {
    if lines.len() < MOST && !lines.contains(&line) {
        lines.push(line);
    }
}

fn is_prefix(bare: &str) -> bool {
    MEANINGS[3].0.contains(&bare)
}

fn meaning(name: &str, bare: &str) -> String {
    let known = MEANINGS.iter().find(|(names, _)| names.contains(&bare));
    known.map_or_else(|| format!("{name}:"), |(_, meaning)| (*meaning).to_owned())
}

/// Returns the words for an object of a known shape.
fn known(members: &Map<String, Json>, value: &Json) -> Option<Vec<String>> {
    let text = |name: &str| members.get(name).and_then(Json::as_str).filter(|text| !text.is_empty());
    if is_profile(value) {
        return Some(profile(value));
    }
    if let Some(update) = update(value) {
        return Some(update);
    }
    // What a plan allows beyond its text.
    if let (Some(tool), Some(prompt)) = (text("tool"), text("prompt")) {
        return Some(vec![format!("{tool}: {prompt}")]);
    }
    if let Some(host) = text("host") {
        let action = text("action").filter(|action| *action != "allow");
        return Some(vec![match (action, text("protocol")) {
            (Some(action), _) => format!("Network access to {host}: {action}"),
            (None, Some(protocol)) => format!("Network access to {host} over {protocol}"),
            (None, None) => format!("Network access to {host}"),
        }]);
    }
    if let Some(tool) = text("toolName") {
        return Some(vec![rule(tool, text("ruleContent"))]);
    }
    if let Some(pattern) = text("session_pattern").or_else(|| text("sessionPattern")) {
        let scope = text("scope").map(|scope| format!(" ({scope})")).unwrap_or_default();
        let label = text("label").filter(|label| *label != pattern).map(|label| format!(", {label}"));
        return Some(vec![format!("From now on: {pattern}{scope}{}", label.unwrap_or_default())]);
    }
    None
}

/// Returns the words for a change of Claude Code's permissions, a line for each part. `None` if it is none.
pub(in crate::dialect) fn update(value: &Json) -> Option<Vec<String>> {
    let kind = value["type"].as_str()?;
    let until = until(value["destination"].as_str());
    let list = |name: &str| value[name].as_array().into_iter().flatten();
    let rules = || {
        list("rules").map(|it| match it["toolName"].as_str() {
            Some(tool) => rule(tool, it["ruleContent"].as_str()),
            None => it.to_string(),
        })
    };
    let directories =
        || list("directories").map(|it| it.as_str().map_or_else(|| it.to_string(), str::to_owned));
    Some(match kind {
        "addRules" | "replaceRules" => {
            let behavior = value["behavior"].as_str().filter(|behavior| *behavior != "allow");
            let behavior = behavior.map(|behavior| format!("{behavior} ")).unwrap_or_default();
            rules().map(|rule| format!("{behavior}{rule} {until}")).collect()
        }
        "removeRules" => rules().map(|rule| format!("no longer the rule {rule} {until}")).collect(),
        "setMode" => {
            let mode = value["mode"].as_str().map_or_else(|| value["mode"].to_string(), str::to_owned);
            vec![format!("Switches to the mode {mode} {until}")]
        }
        "addDirectories" => directories().map(|folder| format!("Access to {folder} {until}")).collect(),
        "removeDirectories" => {
            directories().map(|folder| format!("no longer access to {folder} {until}")).collect()
        }
        _ => return None,
    })
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
    match rights["network"]["enabled"].as_bool().or(rights["network"].as_bool()) {
        Some(true) => lines.push("Network: yes".to_owned()),
        Some(false) => lines.push("Network: no".to_owned()),
        None => {}
    }
    let files = match &rights["fileSystem"] {
        Json::Null => &rights["file_system"],
        files => files,
    };
    for (member, verb) in [("read", "Read"), ("write", "Write")] {
        let paths = files[member].as_array().into_iter().flatten().filter_map(Json::as_str);
        lines.extend(paths.map(|path| format!("{verb}: {path}")));
    }
    for entry in files["entries"].as_array().into_iter().flatten() {
        let access = entry["access"].as_str().unwrap_or("use");
        let path =
            ["/path/path", "/path/pattern", "/path"].into_iter().find_map(|at| entry.pointer(at)?.as_str());
        let path = path.map_or_else(|| entry["path"].to_string(), str::to_owned);
        lines.push(format!("{access}: {path}"));
    }
    // The person must see rights of an unknown shape as well.
    let known = ["network", "fileSystem", "file_system"];
    let others = rights.as_object().into_iter().flatten();
    let others = others.filter(|(name, value)| !known.contains(&name.as_str()) && !value.is_null());
    lines.extend(others.map(|(name, value)| format!("{name}: {value}")));
    if lines.is_empty() {
        lines.push(rights.to_string());
    }
    lines
}
