//! The approvals of a command, of access to a network host (`item/commandExecution/requestApproval`), and of
//! permissions that the sandbox does not have (`item/permissions/requestApproval`).
//!
//! The approval of a command lists its options in `availableDecisions`. For a version without that member, [`fallback`]
//! returns the options in the documentation of the protocol.

use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::{
    CodexReply,
    approval::{Decision, approval, non_empty_text},
};
use crate::{
    dialect::permission::{self, PermissionDescription, command, environment, grants, said},
    question::{Question, Role, Subject},
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CommandParams {
    thread_id: Option<String>,
    item_id: Option<String>,
    #[serde(default)]
    command: Json,
    #[serde(default)]
    cwd: Json,
    #[serde(default)]
    reason: Json,
    #[serde(default)]
    network_approval_context: Json,
    #[serde(default)]
    proposed_execpolicy_amendment: Json,
    #[serde(default)]
    proposed_network_policy_amendments: Json,
    #[serde(default)]
    additional_permissions: Json,
    #[serde(default)]
    environment_id: Json,
    available_decisions: Option<Vec<Json>>,
}

/// Members of the approval of a command that are read on their own, or say nothing more: the actions are what Codex reads
/// from the command.
const OF_COMMAND: [&str; 13] = [
    "threadId",
    "itemId",
    "command",
    "cwd",
    "reason",
    "networkApprovalContext",
    "proposedExecpolicyAmendment",
    "proposedNetworkPolicyAmendments",
    "additionalPermissions",
    "environmentId",
    "availableDecisions",
    "commandActions",
    "kind",
];

/// Members of a request for permissions that are read on their own.
const OF_PERMISSIONS: [&str; 6] = ["threadId", "itemId", "reason", "cwd", "permissions", "environmentId"];

pub(super) fn read(params: &[u8], fallback_id: &str) -> Option<(Question, CodexReply)> {
    let read: CommandParams = serde_json::from_slice(params).ok()?;
    let host = non_empty_text(&read.network_approval_context["host"]);
    let offered = match &read.available_decisions {
        Some(offered) => offered.clone(),
        None => fallback(&read),
    };
    let mut decisions: Vec<_> =
        offered.iter().filter_map(|offered| decision(offered, host.as_deref())).collect();
    number(&mut decisions);
    let mut subject = subject(&read, host.is_some());
    let is_marked = said::add_unknown(&mut subject, params, &OF_COMMAND);
    let described = PermissionDescription {
        session: read.thread_id.clone(),
        tool_call: read.item_id.clone(),
        title: title(&read, host.as_deref()),
        subject,
        is_marked,
        ..PermissionDescription::default()
    };
    approval(described, decisions, json!({ "decision": "cancel" }), fallback_id)
}

/// Returns the decisions that may be chosen if the request does not list them.
fn fallback(read: &CommandParams) -> Vec<Json> {
    let rules = read.proposed_execpolicy_amendment.as_array().filter(|words| !words.is_empty());
    let rules =
        rules.map(|words| json!({ "acceptWithExecpolicyAmendment": { "execpolicy_amendment": words } }));
    let hosts = read.proposed_network_policy_amendments.as_array().into_iter().flatten();
    let hosts =
        hosts.map(|host| json!({ "applyNetworkPolicyAmendment": { "network_policy_amendment": host } }));
    let mut decisions = vec![json!("accept")];
    match (read.network_approval_context.is_null(), read.additional_permissions.is_null()) {
        (false, _) => {
            decisions.push(json!("acceptForSession"));
            decisions.extend(hosts);
            decisions.push(json!("decline"));
        }
        (true, false) => {}
        (true, true) => {
            decisions.push(json!("acceptForSession"));
            decisions.extend(rules);
            decisions.push(json!("decline"));
        }
    }
    decisions.push(json!("cancel"));
    decisions
}

/// Returns the option for a decision. `None` for an unknown decision, which is not offered.
fn decision(offered: &Json, host: Option<&str>) -> Option<Decision> {
    let what = host.map_or_else(String::new, |host| format!(" access to {host}"));
    match offered.as_str() {
        Some("accept") => {
            return Some(Decision::named("accept", format!("Allow{what} once"), Role::AllowOnce));
        }
        Some("acceptForSession") => {
            let label = format!("Allow{what} for the rest of this session");
            // What follows is another access to the host, and the same command otherwise.
            let host = host.map(|host| format!("Network access to {host}, for all commands of this session"));
            let decision = Decision::named("acceptForSession", label, Role::AllowAlways);
            return Some(decision.granting(host.into_iter().collect()));
        }
        Some("decline") => return Some(Decision::decline()),
        Some("cancel") => return Some(Decision::cancel()),
        Some(_) => return None,
        None => {}
    }
    if let Some(rule) = offered.pointer("/acceptWithExecpolicyAmendment/execpolicy_amendment") {
        let rule = command(rule)?;
        let label = format!("Allow, and do not ask again for commands that start with `{rule}`");
        let value = "acceptWithExecpolicyAmendment";
        let decision = Decision::new(value, label, Role::AllowAlways, offered.clone());
        return Some(decision.granting(vec![format!("Commands that start with `{rule}`, from now on")]));
    }
    let amendment = offered.pointer("/applyNetworkPolicyAmendment/network_policy_amendment")?;
    let host = non_empty_text(&amendment["host"])?;
    let (label, role) = match amendment["action"].as_str()? {
        "allow" => (format!("Allow access to {host}, and do not ask again"), Role::AllowAlways),
        "deny" => (format!("Block access to {host}, and do not ask again"), Role::RejectAlways),
        _ => return None,
    };
    let grants = match role {
        Role::AllowAlways => vec![format!("Network access to {host}, from now on")],
        _ => Vec::new(),
    };
    Some(Decision::new("applyNetworkPolicyAmendment", label, role, offered.clone()).granting(grants))
}

/// Makes the value of each option unique: several amendments may have the same name.
fn number(decisions: &mut [Decision]) {
    for place in 1..decisions.len() {
        let (before, rest) = decisions.split_at_mut(place);
        let Some(decision) = rest.first_mut() else { continue };
        let name = decision.value.clone();
        // Earlier options of this name have a number already.
        let is_same = |other: &&Decision| {
            other.value == name || other.value.strip_prefix(&name).is_some_and(|rest| rest.starts_with('-'))
        };
        let others = before.iter().filter(is_same).count();
        if others > 0 {
            decision.value = format!("{name}-{}", others + 1);
        }
    }
}

fn title(read: &CommandParams, host: Option<&str>) -> Option<String> {
    match (shell_command(&read.command), host) {
        (None, Some(host)) => Some(format!("Allow access to {host}?")),
        (None, None) => non_empty_text(&read.reason),
        // The command itself is the heading then.
        (Some(_), _) => None,
    }
}

fn subject(read: &CommandParams, is_network: bool) -> Subject {
    let command = shell_command(&read.command);
    let (mut network, mut lines) = (Vec::new(), Vec::new());
    grants::read("networkApprovalContext", &read.network_approval_context, &mut network);
    // Without a command, the access is the act itself.
    let content = command.is_none().then(|| network.join("\n")).filter(|text| !text.is_empty());
    if command.is_some() {
        lines.append(&mut network);
    }
    grants::read("additionalPermissions", &read.additional_permissions, &mut lines);
    Subject {
        kind: Some(if is_network && command.is_none() { "fetch" } else { "execute" }.to_owned()),
        command,
        folder: non_empty_text(&read.cwd),
        description: non_empty_text(&read.reason),
        environment: environment(&read.environment_id),
        grants: lines,
        content,
        // `guard` and the rules look for further rights in the raw input.
        raw_input: beside(read),
        ..Subject::default()
    }
}

/// Returns the permissions that are requested beside the command, as JSON.
fn beside(read: &CommandParams) -> Option<String> {
    let members = [
        ("networkApprovalContext", &read.network_approval_context),
        ("additionalPermissions", &read.additional_permissions),
    ];
    let members = members.into_iter().filter(|(_, value)| !value.is_null());
    let members: serde_json::Map<_, _> =
        members.map(|(name, value)| (name.to_owned(), value.clone())).collect();
    (!members.is_empty()).then(|| Json::Object(members).to_string())
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PermissionsParams {
    thread_id: Option<String>,
    item_id: Option<String>,
    #[serde(default)]
    reason: Json,
    #[serde(default)]
    cwd: Json,
    #[serde(default)]
    environment_id: Json,
    permissions: Json,
}

pub(super) fn read_permissions(params: &[u8], fallback_id: &str) -> Option<(Question, CodexReply)> {
    let read: PermissionsParams = serde_json::from_slice(params).ok()?;
    let mut granted = read.permissions.as_object()?.clone();
    // A grant has no members that are null.
    granted.retain(|_, permission| !permission.is_null());
    if granted.is_empty() {
        return None;
    }
    let grant = |value: &str, label: &str, role, scope: &str| Decision {
        value: value.to_owned(),
        label: label.to_owned(),
        role,
        grants: Vec::new(),
        result: json!({ "permissions": granted, "scope": scope, "strictAutoReview": false }),
    };
    let refused = json!({ "permissions": {}, "scope": "turn", "strictAutoReview": false });
    let decisions = vec![
        grant("turn", "Grant these permissions for this turn", Role::AllowOnce, "turn"),
        grant(
            "session",
            "Grant these permissions for the rest of this session",
            Role::AllowAlways,
            "session",
        ),
        Decision {
            value: "refuse".to_owned(),
            label: "Reject, and let Codex continue without them".to_owned(),
            role: Role::RejectOnce,
            grants: Vec::new(),
            result: refused.clone(),
        },
    ];
    let mut subject = Subject {
        kind: Some("other".to_owned()),
        description: non_empty_text(&read.reason),
        folder: non_empty_text(&read.cwd),
        environment: environment(&read.environment_id),
        content: Some(grants::profile(&read.permissions).join("\n")),
        raw_input: Some(read.permissions.to_string()),
        ..Subject::default()
    };
    said::add_unknown(&mut subject, params, &OF_PERMISSIONS);
    let described = PermissionDescription {
        session: read.thread_id,
        tool_call: read.item_id,
        title: Some("Grant permissions?".to_owned()),
        subject,
        // The permissions go beyond what the sandbox allows.
        is_marked: true,
        ..PermissionDescription::default()
    };
    approval(described, decisions, refused, fallback_id)
}

/// Shells whose script is shown as the command, and the folders that they are in. In another folder, a program of that
/// name may be anything.
const SHELLS: [&str; 4] = ["bash", "dash", "sh", "zsh"];
const FOLDERS: [&str; 3] = ["/bin/", "/usr/bin/", ""];

/// Returns the script that a command gives to a shell, or all words of a command without a known shell.
pub(super) fn shell_command(json: &Json) -> Option<String> {
    let words = match json {
        Json::Array(words) => words.iter().map(|word| word.as_str().map(str::to_owned)).collect(),
        json => json.as_str().and_then(shlex::split),
    };
    words.and_then(in_shell).or_else(|| permission::command(json))
}

fn in_shell(words: Vec<String>) -> Option<String> {
    // Codex runs a command by a shell. The user and the rules judge the script, and not the shell around it.
    let [shell, option, script] = <[String; 3]>::try_from(words).ok()?;
    let names = FOLDERS.iter().filter_map(|folder| shell.strip_prefix(folder));
    let is_shell = names.into_iter().any(|name| SHELLS.contains(&name)) && ["-c", "-lc"].contains(&&*option);
    Some(script).filter(|script| is_shell && !script.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_command_is_what_the_shell_is_given() {
        for (json, expected) in [
            (json!("/bin/bash -lc 'cargo test'"), "cargo test"),
            (json!("/usr/bin/zsh -c \"rg -n 'fn main' src\""), "rg -n 'fn main' src"),
            (json!(["bash", "-lc", "rm -rf \"a b\" && ls"]), "rm -rf \"a b\" && ls"),
            (json!("cargo test"), "cargo test"),
            (json!("./bash -lc 'cargo test'"), "./bash -lc 'cargo test'"),
            (json!("/p/bin/bash -lc 'cargo test'"), "/p/bin/bash -lc 'cargo test'"),
            (json!("bash -lc cargo test"), "bash -lc cargo test"),
            (json!("bash -x 'cargo test'"), "bash -x 'cargo test'"),
            (json!("bash -lc ''"), "bash -lc ''"),
            (json!("bash -lc 'cargo test"), "bash -lc 'cargo test"),
            (json!(["python3", "-c", "print(1)"]), "python3 -c 'print(1)'"),
        ] {
            assert_eq!(shell_command(&json).as_deref(), Some(expected), "{json}");
        }
        assert_eq!(
            (shell_command(&json!([])), shell_command(&json!("")), shell_command(&json!(["a", 1]))),
            (None, None, None)
        );
    }
}
