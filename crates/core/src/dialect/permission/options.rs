//! The options of a permission: what choosing one allows beyond the act that is shown. An option says so in `_meta`, by an
//! ID that a released agent gives it, or in its label alone.
//!
//! Source: the options of claude-agent-acp 0.101.0, codex-acp 2.6.0, Gemini CLI 0.61.0, Qwen Code 0.24.4 and
//! mistral-vibe 3.0.3, as recorded or read in their packages.

use super::{
    said::{Said, add_lines},
    wire::PermissionOption,
};
use crate::question::{FieldOption, Role, command::bare_name, subject::fit_lines};

/// Options of released agents, by their bare IDs, with what they allow.
const KNOWN: [(&str, &str); 13] = [
    ("exitplanbypass", "Switches to the mode bypassPermissions"),
    ("exitplanauto", "Switches to the mode auto"),
    ("exitplanacceptedits", "Switches to the mode acceptEdits"),
    ("exitplanclearbypass", "Switches to the mode bypassPermissions"),
    ("exitplanclearauto", "Switches to the mode auto"),
    ("exitplanclearacceptedits", "Switches to the mode acceptEdits"),
    ("bypasspermissions", "Switches to the mode bypassPermissions"),
    ("acceptedits", "Switches to the mode acceptEdits"),
    ("dontask", "Switches to the mode dontAsk"),
    ("yolo", "Switches to the mode yolo"),
    ("auto", "Switches to the mode auto"),
    ("proceedalwaysserver", "All tools of this MCP server"),
    ("proceedalwaystool", "All further calls of this tool"),
];

/// Parts of labels that allow more than what is shown. A label may promise less than its option does, so the lack of such
/// a part proves nothing.
const WIDE: [&str; 39] = [
    "accept edits",
    "acceptedits",
    "all changes",
    "all commands",
    "all edits",
    "all files",
    "all further",
    "all mcp",
    "all requests",
    "all server tools",
    "all tools",
    "allow all",
    "allow everything",
    "allow reading from",
    "allow this host",
    "always allow access to",
    "and allow access to",
    "any command",
    "any tool",
    "anything",
    "auto mode",
    "auto-accept",
    "auto-approve",
    "auto accept",
    "autopilot",
    "bypass",
    "commands that begin with",
    "commands that start with",
    "commands like",
    "commands starting with",
    "edit its own settings",
    "every command",
    "everything",
    "full access",
    "in the future",
    "similar commands",
    "skip permissions",
    "without asking",
    "yolo",
];

/// Beginnings of labels of options that last, behind which is what they last for. It is more than the act unless it is
/// the act itself.
const NOT_ASKED: [&str; 4] =
    ["don't ask again for ", "do not ask again for ", "don’t ask again for ", "always allow in "];
const THE_ACT: [&str; 4] = ["this command", "this call", "this request", "this file"];

/// What is said of an option whose label alone shows that it allows more.
const BY_ITS_LABEL: &str = "more than what is shown, as its label says";

/// What an option that lasts allows for a change of files, in agents whose option of this ID does not say so.
const LASTING_CHANGES: [&str; 2] = ["proceedalways", "allowforsession"];

/// Returns an option, with what it allows beyond its act. `kind` is that of the tool.
pub(super) fn read(option: PermissionOption, kind: Option<&str>) -> FieldOption {
    let PermissionOption { option_id, name, kind: role, description, meta, more } = option;
    let mut said = Said::default();
    said.meta(&meta);
    said.members(&more);
    let mut beside: Vec<_> = description.into_iter().chain(said.reasons).chain(said.further).collect();
    beside.retain(|text| *text != name);
    let mut option = FieldOption {
        value: option_id,
        label: name,
        description: (!beside.is_empty()).then(|| beside.join("\n")),
        role: Some(Box::new(role)),
        grants: said.grants,
        dangerous: said.is_marked && allows(role),
        ..FieldOption::default()
    };
    complete(&mut option, kind);
    option
}

/// Returns whether an option with this role allows something, or may do so.
fn allows(role: Role) -> bool {
    !matches!(role, Role::RejectOnce | Role::RejectAlways)
}

/// Adds what the ID and the label of an option show that it allows.
pub(super) fn complete(option: &mut FieldOption, kind: Option<&str>) {
    if option.role.as_deref().is_some_and(|role| !allows(*role)) {
        // A refusal allows nothing, whatever it says.
        option.grants.clear();
        return;
    }
    let id = bare_name(&option.value);
    let known = KNOWN.iter().find(|(known, _)| *known == id).map(|(_, grant)| *grant);
    let lasting = || {
        let is_change = kind == Some("edit") && LASTING_CHANGES.contains(&&*id);
        is_change.then_some("All further changes of files")
    };
    // A label is shown itself, so it adds nothing to what is known.
    let by_label = || by_label(&option.label).filter(|_| option.grants.is_empty());
    let more = known.or_else(lasting).or_else(by_label).map(str::to_owned);
    add_lines(&mut option.grants, more.into_iter().collect());
    fit_lines(&mut option.grants);
}

fn by_label(label: &str) -> Option<&'static str> {
    let label = label.to_lowercase();
    let is_for_more = |begin: &&str| {
        label.split_once(*begin).is_some_and(|(_, what)| !THE_ACT.iter().any(|act| what.starts_with(act)))
    };
    let is_wide = WIDE.iter().any(|part| label.contains(part)) || NOT_ASKED.iter().any(is_for_more);
    is_wide.then_some(BY_ITS_LABEL)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value as Json, json};

    use super::*;

    fn option(json: &Json, kind: Option<&str>) -> FieldOption {
        read(serde_json::from_value(json.clone()).expect("an option"), kind)
    }

    #[test]
    fn what_an_option_allows_beyond_the_act_is_said() {
        for (id, name, role, kind, grants) in [
            (
                "exit-plan-bypass",
                "Yes, and bypass permissions",
                "allow_always",
                None,
                Some("Switches to the mode bypassPermissions"),
            ),
            ("exit-plan-accept-edits", "Yes", "allow_always", None, Some("Switches to the mode acceptEdits")),
            ("auto", "Yes", "allow_once", None, Some("Switches to the mode auto")),
            ("exit-plan-default", "Yes, manually approve edits", "allow_once", None, None),
            (
                "allow-with-updates",
                "Yes, allow all edits during this session",
                "allow_always",
                Some("edit"),
                Some(BY_ITS_LABEL),
            ),
            (
                "allow-with-updates",
                "Yes, and don't ask again for cargo test commands",
                "allow_always",
                None,
                Some(BY_ITS_LABEL),
            ),
            (
                "allow_for_session",
                "Yes, and don't ask again for this command in this session",
                "allow_always",
                Some("execute"),
                None,
            ),
            (
                "allow_for_session",
                "Yes, and don't ask again for these files",
                "allow_always",
                Some("edit"),
                Some("All further changes of files"),
            ),
            (
                "proceed_always",
                "Allow for this session",
                "allow_always",
                Some("edit"),
                Some("All further changes of files"),
            ),
            ("proceed_always", "Allow for this session", "allow_always", Some("execute"), None),
            ("proceed_always_server", "x", "allow_always", None, Some("All tools of this MCP server")),
            ("once", "Allow once", "allow_once", None, None),
            ("always", "Always allow", "allow_always", None, None),
            ("no", "No, and bypass permissions", "reject_once", None, None),
            ("week", "Bypass permissions", "allow_week", None, Some(BY_ITS_LABEL)),
        ] {
            let json = json!({ "optionId": id, "name": name, "kind": role });
            let read = option(&json, kind);
            assert_eq!(read.grants.first().map(String::as_str), grants, "{json}");
        }
    }

    #[test]
    fn the_meta_of_an_option_is_shown() {
        let mut json = json!({ "optionId": "a", "name": "Always", "kind": "allow_always", "description": "Runs it.",
            "_meta": { "required_permissions": [{ "scope": "s", "session_pattern": "npm *", "label": "npm" }], "hotkey": "y" } });
        let read = option(&json, None);
        assert_eq!(read.grants, ["From now on: npm * (s), npm"]);
        assert_eq!(read.description.as_deref(), Some("Runs it.\nhotkey: y"));
        json["kind"] = "reject_once".into();
        assert_eq!(option(&json, None).grants, [""; 0]);
    }
}
