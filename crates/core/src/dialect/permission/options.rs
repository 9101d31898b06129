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

/// Parts of labels and descriptions that allow more than what is shown. A label may promise less than its option does, so
/// the lack of such a part proves nothing.
const WIDE: [&str; 62] = [
    "accept edits",
    "acceptedits",
    "access from",
    "access to",
    "again this session",
    "agent mode",
    "act mode",
    "allow everything",
    "allow reading from",
    "allow reads",
    "allow this host",
    "allow writes",
    "allow writing",
    "and save",
    "any command",
    "any tool",
    "anything",
    "approve mode",
    "as root",
    "ask again",
    "ask anymore",
    "ask me again",
    "auto accept",
    "auto approve",
    "auto edit",
    "auto mode",
    "auto run",
    "autopilot",
    "bypass",
    "code mode",
    "commands for",
    "commands in",
    "commands like",
    "commands starting with",
    "commands that",
    "dangerously",
    "disable",
    "edit its own settings",
    "edit mode",
    "elevated",
    "escalat",
    "every",
    "for user",
    "freely",
    "full access",
    "full auto",
    "global",
    "in the future",
    "network",
    "never ask",
    "no longer ask",
    "sandbox",
    "similar",
    "skip permissions",
    "stop asking",
    "switch mode",
    "switch to",
    "trust",
    "turn off",
    "unattended",
    "without asking",
    "yolo",
];

/// Words that allow more than what is shown, wherever they stand in a label or in the ID of an option. `all` does so
/// unless it is a part of what is asked for.
const WIDE_WORDS: [&str; 9] =
    ["all", "autoedit", "autopilot", "bypass", "everything", "fullauto", "sudo", "unrestricted", "yolo"];

/// Words of which one stands behind `always` where the option is about more than the call.
const KINDS: [&str; 22] = [
    "command",
    "commands",
    "directory",
    "domain",
    "domains",
    "edits",
    "files",
    "folder",
    "host",
    "hosts",
    "project",
    "projects",
    "repository",
    "server",
    "servers",
    "session",
    "sessions",
    "tool",
    "tools",
    "user",
    "workspace",
    "workspaces",
];

/// Beginnings of labels of options that last, behind which is what they last for. It is more than the act unless it is
/// the act itself.
const NOT_ASKED: [&str; 3] = ["don't ask again for ", "do not ask again for ", "always allow in "];
const THE_ACT: [&str; 4] = ["this command", "this call", "this request", "this file"];

/// What is said of an option whose label alone shows that it allows more.
const BY_ITS_LABEL: &str = "more than what is shown, as its label says";

/// What an option that lasts allows for a change of files, in agents whose option of this ID does not say so.
const LASTING_CHANGES: [&str; 2] = ["proceedalways", "allowforsession"];

/// What is said of an option whose ID alone shows that it allows more.
const BY_ITS_ID: &str = "more than what is shown, as its ID says";

/// What is said of an option whose kind no version of the standard has.
const BY_ITS_KIND: &str = "more than this time, as far as is known: its kind is";

/// Kinds that agents give options that allow it once, or refuse it, beside those of the standard.
const ONCE: [&str; 9] = ["accept", "allow", "approve", "confirm", "no", "ok", "once", "proceed", "yes"];

/// How such kinds begin that refuse, for however long.
const REFUSING: [&str; 5] = ["cancel", "decline", "deny", "refuse", "reject"];

/// Members of an option that only say how it is shown, by their bare names.
const DISPLAY: [&str; 19] = [
    "accelerator",
    "accent",
    "color",
    "colour",
    "default",
    "danger",
    "emphasis",
    "group",
    "hotkey",
    "icon",
    "index",
    "key",
    "order",
    "position",
    "primary",
    "shortcut",
    "style",
    "theme",
    "variant",
];

/// Returns an option, with what it allows beyond its act. `kind` is that of the tool.
pub(super) fn read(option: PermissionOption, kind: Option<&str>) -> FieldOption {
    let PermissionOption { option_id, name, kind: role, description, meta, more } = option;
    let mut said = Said::default();
    said.meta(&meta);
    said.members(&more);
    // What is not known may allow more, unless it only says how the option is shown.
    let (shown, unknown): (Vec<_>, Vec<_>) = said.further.into_iter().partition(|line| is_display(line));
    let mut beside: Vec<_> = description.into_iter().chain(said.reasons).chain(shown).collect();
    beside.retain(|text| *text != name);
    let mut grants = said.grants;
    add_lines(&mut grants, unknown);
    add_lines(&mut grants, said.environment.map(|place| format!("Runs on {place}")).into_iter().collect());
    let mut option = FieldOption {
        value: option_id,
        label: name,
        description: (!beside.is_empty()).then(|| beside.join("\n")),
        role: Some(Box::new(role)),
        grants,
        dangerous: said.is_marked && allows(role),
        ..FieldOption::default()
    };
    complete(&mut option, kind);
    option
}

fn is_display(line: &str) -> bool {
    let name = line.split_once(": ").map(|(name, _)| bare_name(name));
    name.is_some_and(|name| {
        DISPLAY.contains(&&*name) || name.starts_with("default") || name.starts_with("is")
    })
}

/// Returns whether an option with this role allows something, or may do so.
fn allows(role: Role) -> bool {
    !matches!(role, Role::RejectOnce | Role::RejectAlways)
}

/// Adds what the ID, the kind and the label of an option show that it allows.
pub(super) fn complete(option: &mut FieldOption, kind: Option<&str>) {
    if option.role.as_deref().is_some_and(|role| !allows(*role)) {
        // A refusal allows nothing, whatever it says.
        option.grants.clear();
        return;
    }
    let id = bare_name(&option.value);
    let known = KNOWN.iter().find(|(known, _)| *known == id).map(|(_, grant)| (*grant).to_owned());
    let lasting = || {
        let is_change = kind == Some("edit") && LASTING_CHANGES.contains(&&*id);
        is_change.then(|| "All further changes of files".to_owned())
    };
    // A label is shown itself, so it adds nothing to what is known.
    let by_words = || {
        let text = [Some(&option.label), option.description.as_ref()].into_iter().flatten();
        let by_label = text.into_iter().any(|text| is_wide(text)).then_some(BY_ITS_LABEL);
        let id: Vec<_> = words(&option.value).collect();
        let by_id = || has_wide_part(&id.join(" ")).then_some(BY_ITS_ID);
        by_label.or_else(by_id).filter(|_| option.grants.is_empty()).map(str::to_owned)
    };
    let by_kind = || {
        let role = option.role.as_deref().map(Role::to_string).filter(|_| option.grants.is_empty())?;
        let is_known = role.starts_with("allow_once") || role.starts_with("allow_always");
        let refuses = REFUSING.iter().any(|refusal| role.starts_with(refusal));
        (!is_known && !refuses && !ONCE.contains(&&*role)).then(|| format!("{BY_ITS_KIND} {role}"))
    };
    let more = known.or_else(lasting).or_else(by_words).or_else(by_kind);
    add_lines(&mut option.grants, more.into_iter().collect());
    fit_lines(&mut option.grants);
}

/// Returns whether a label or a description promises more than the act that is shown.
fn is_wide(text: &str) -> bool {
    let text = text.to_lowercase();
    let text = text.replace('-', " ").replace('’', "'");
    let is_for_more = |begin: &&str| {
        text.split_once(*begin).is_some_and(|(_, what)| !THE_ACT.iter().any(|act| what.starts_with(act)))
    };
    let about_the_act = THE_ACT.iter().any(|act| text.contains(act));
    let all: Vec<_> = words(&text).collect();
    let lasts = all.iter().any(|word| matches!(&**word, "always" | "session"));
    let is_about_more = || {
        let behind = all.iter().skip_while(|word| !matches!(&***word, "always" | "allow")).skip(1);
        behind.clone().any(|word| KINDS.contains(&&**word) && word != "session")
    };
    NOT_ASKED.iter().any(is_for_more)
        || (has_wide_part(&text) && !about_the_act)
        || (lasts && (text.contains('*') || is_about_more()) && !about_the_act)
}

/// Returns whether a text in lower case has a part that allows more.
fn has_wide_part(text: &str) -> bool {
    WIDE.iter().any(|part| text.contains(part)) || words(text).any(|word| WIDE_WORDS.contains(&&*word))
}

/// Returns the words of a text or an ID, in lower case: `proceedAlways` has two.
fn words(text: &str) -> impl Iterator<Item = String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for char in text.chars() {
        let begins = !char.is_alphanumeric() || (char.is_uppercase() && was_lower);
        if begins {
            words.push(String::new());
        }
        was_lower = char.is_lowercase();
        if let Some(word) = words.last_mut().filter(|_| char.is_alphanumeric()) {
            word.extend(char.to_lowercase());
        }
    }
    words.into_iter().filter(|word| !word.is_empty())
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
    #[expect(clippy::too_many_lines, reason = "a table")]
    fn an_option_that_widens_says_so_by_any_of_its_parts() {
        for label in [
            "Yes to all",
            "Approve all",
            "Trust this folder",
            "Turn off the sandbox",
            "Disable approvals",
            "Never ask again",
            "Stop asking",
            "Switch to agent mode",
            "Continue in Code mode",
            "Always allow git commands",
            "Run as root",
            "Allow network access",
            "Don’t ask me again",
            "Always allow this tool",
            "Always allow `cargo *`",
            "Yes, for every project",
            "Approve and remember for similar",
            "Full-auto",
            "Let it run freely",
            "Grant access to /etc",
            "Allow globally",
            "Proceed unattended",
            "Run unsandboxed",
            "Allow reads from /etc",
            "Always, for this MCP server",
            "Always approve this domain",
            "Always Allow for user: cargo test",
        ] {
            let json = json!({ "optionId": "o", "name": label, "kind": "allow_always" });
            assert_eq!(option(&json, None).grants, [BY_ITS_LABEL], "{label}");
        }
        for (more, grant) in [
            (
                json!({ "kind": "allow_session" }),
                "more than this time, as far as is known: its kind is allow_session",
            ),
            (json!({ "kind": "bypass" }), "more than this time, as far as is known: its kind is bypass"),
            (json!({ "optionId": "yes_to_all" }), BY_ITS_ID),
            (json!({ "optionId": "fullAuto" }), BY_ITS_ID),
            (json!({ "description": "Allows commands that start with cargo" }), BY_ITS_LABEL),
            (json!({ "_meta": { "modeId": "code" } }), "Switches to the mode code"),
            (json!({ "sandbox": false }), "sandbox: no"),
            (json!({ "_meta": { "paths": ["/etc"] } }), "paths: [\"/etc\"]"),
            (json!({ "_meta": { "preset": { "name": "full" } } }), "name: full"),
            (json!({ "askAgain": false }), "askAgain: false"),
        ] {
            let mut json = json!({ "optionId": "o", "name": "Yes", "kind": "allow_once" });
            let members = more.as_object().into_iter().flatten();
            members.for_each(|(name, value)| json[name] = value.clone());
            assert_eq!(option(&json, None).grants, [grant], "{json}");
        }
        for (label, kind) in [
            ("Allow once", "allow_once"),
            ("Always allow", "allow_always"),
            ("Yes, run it", "allow"),
            ("Approve", "approve"),
            ("Allow for this session", "allow_always"),
            ("Yes, manually approve edits", "allow_once"),
            ("Always allow: rm -rf build", "allow_always"),
            ("Yes, and don't ask again for this command", "allow_always"),
            ("No", "reject_forever"),
            ("Reject all", "reject_once"),
        ] {
            let json = json!({ "optionId": "o", "name": label, "kind": kind });
            assert_eq!(option(&json, None).grants, [""; 0], "{json}");
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
