//! Reads Copilot's permissions from JSON as questions. Judging the danger and cutting a subject are left to
//! `permission`.

use serde::Deserialize;
use serde_json::{Value as Json, json};

use crate::{
    dialect::permission::{PermissionDescription, said},
    question::{Answer, FieldOption, Origin, Outcome, Question, Reason, Role, Subject, Value},
};

/// The subject of a permission: a prompt for users, or the request behind it, which has the same members.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[derive(Default)]
struct Prompt {
    kind: String,
    intention: String,
    full_command_text: String,
    resolved_working_directory: Option<String>,
    command_identifiers: Vec<String>,
    can_offer_session_approval: bool,
    managed_approval_required: bool,
    request_sandbox_bypass: bool,
    request_sandbox_bypass_reason: Option<String>,
    warning: Option<String>,
    file_name: String,
    resolved_path: Option<String>,
    diff: String,
    path: String,
    paths: Vec<String>,
    access_kind: String,
    url: String,
    server_name: String,
    tool_name: String,
    tool_title: String,
    tool_description: String,
    tool_call_id: Option<String>,
    hook_message: Option<String>,
    fact: String,
    reason: Option<String>,
    args: Json,
    tool_args: Json,
}

/// Members of a prompt that are read on their own, or that Copilot itself reads from the command and the change.
const OF_PROMPT: [&str; 40] = [
    "kind",
    "intention",
    "fullCommandText",
    "resolvedWorkingDirectory",
    "commandIdentifiers",
    "canOfferSessionApproval",
    "managedApprovalRequired",
    "requestSandboxBypass",
    "requestSandboxBypassReason",
    "warning",
    "fileName",
    "resolvedPath",
    "diff",
    "path",
    "paths",
    "accessKind",
    "url",
    "serverName",
    "toolName",
    "toolTitle",
    "toolDescription",
    "toolCallId",
    "hookMessage",
    "fact",
    "reason",
    "args",
    "toolArgs",
    "commands",
    "possiblePaths",
    "possibleUrls",
    "hasWriteFileRedirection",
    "newFileContents",
    "readOnly",
    "isReadOnly",
    "subject",
    "citations",
    "action",
    "direction",
    "requestId",
    "sessionId",
];

/// The value of the option that allows it this time, which is also its name on the wire.
const ONCE: &str = "approve-once";
/// The value of the option that allows it for the rest of the session.
const FOR_SESSION: &str = "approve-for-session";
/// The value of the option that refuses it.
pub(super) const REJECT: &str = "reject";

/// Reads a permission, and the approval that allows it for the rest of the session, if Copilot offers one. Returns
/// `None` for a kind that is not known.
pub(super) fn read(prompt: &str, id: &str) -> Option<(Question, Option<Json>)> {
    let json = prompt;
    let prompt: Prompt = serde_json::from_str(json).ok()?;
    let approval = prompt.session_approval();
    let for_session = approval.as_ref().map(|_| FieldOption {
        grants: prompt.session_grants(),
        ..option(FOR_SESSION, &prompt.session_label(), Role::AllowAlways)
    });
    let once = option(ONCE, "Allow once", Role::AllowOnce);
    let options = [Some(once), for_session, Some(option(REJECT, "Reject", Role::RejectOnce))];
    let (title, mut subject) = prompt.described()?;
    let is_marked = said::add_unknown(&mut subject, json.as_bytes(), &OF_PROMPT);
    let described = PermissionDescription {
        title: title.filter(|title| !title.is_empty()),
        subject,
        is_marked: is_marked || prompt.request_sandbox_bypass || prompt.warning.is_some(),
        options: options.into_iter().flatten().collect(),
        tool_call: prompt.tool_call_id,
        ..PermissionDescription::default()
    };
    Some((described.question(Origin::Copilot, id)?, approval))
}

/// Returns an option of a permission.
pub(super) fn option(value: &str, label: &str, role: Role) -> FieldOption {
    FieldOption {
        value: value.to_owned(),
        label: label.to_owned(),
        role: Some(Box::new(role)),
        ..FieldOption::default()
    }
}

impl Prompt {
    /// Returns what would be allowed for the rest of the session, if Copilot offers that.
    fn session_approval(&self) -> Option<Json> {
        if !self.can_offer_session_approval || self.managed_approval_required {
            return None;
        }
        match &*self.kind {
            "commands" if !self.command_identifiers.is_empty() => {
                Some(json!({ "kind": "commands", "commandIdentifiers": self.command_identifiers }))
            }
            "write" => Some(json!({ "kind": "write" })),
            _ => None,
        }
    }

    /// Returns what is allowed for the rest of the session, beyond what is shown.
    fn session_grants(&self) -> Vec<String> {
        match &*self.kind {
            "commands" => {
                self.command_identifiers.iter().map(|name| format!("All commands of `{name}`")).collect()
            }
            _ => vec!["All further changes of files".to_owned()],
        }
    }

    fn session_label(&self) -> String {
        match &*self.kind {
            "commands" => format!("Allow {} in this session", self.command_identifiers.join(", ")),
            _ => "Allow all changes of files in this session".to_owned(),
        }
    }

    /// Returns why Copilot asks, and what speaks against it.
    fn description(&self) -> Option<String> {
        let bypass = self.request_sandbox_bypass.then_some("It would run outside of the sandbox.");
        let texts = [
            Some(&*self.intention),
            self.warning.as_deref(),
            bypass,
            self.request_sandbox_bypass_reason.as_deref(),
            self.reason.as_deref(),
        ];
        let texts: Vec<_> = texts.into_iter().flatten().filter(|text| !text.is_empty()).collect();
        (!texts.is_empty()).then(|| texts.join("\n"))
    }

    /// Returns a heading, if the subject alone does not say everything, and the subject. `None` for a kind that is not
    /// known.
    fn described(&self) -> Option<(Option<String>, Subject)> {
        // `guard` looks into the raw input for requests to leave the sandbox.
        let bypass = self.request_sandbox_bypass.then(|| json!({ "requestSandboxBypass": true }).to_string());
        let of = |kind: &str| Subject {
            kind: Some(kind.to_owned()),
            description: self.description(),
            grants: self
                .request_sandbox_bypass
                .then(|| "It runs outside of the sandbox".to_owned())
                .into_iter()
                .collect(),
            raw_input: bypass.clone(),
            ..Subject::default()
        };
        let at = |path: &str| {
            // Both paths count: the named one may lead to the resolved one by a link.
            let resolved = self.resolved_path.as_deref().filter(|resolved| *resolved != path);
            resolved.into_iter().chain([path]).map(str::to_owned).collect()
        };
        Some(match &*self.kind {
            "commands" | "shell" => {
                let (command, folder) =
                    (self.full_command_text.clone(), self.resolved_working_directory.clone());
                (None, Subject { command: Some(command), folder, ..of("execute") })
            }
            "write" => {
                let (patch, locations) = (Some(self.diff.clone()), at(&self.file_name));
                (Some(self.file_name.clone()), Subject { patch, locations, ..of("edit") })
            }
            "read" => (Some(self.path.clone()), Subject { locations: at(&self.path), ..of("read") }),
            "path" => {
                let kind = if self.access_kind == "write" { "edit" } else { "read" };
                let title = format!("Access to {}", self.paths.join(", "));
                (Some(title), Subject { locations: self.paths.clone(), ..of(kind) })
            }
            "url" => {
                let raw_input = Some(json!({ "url": self.url }).to_string());
                (Some(self.url.clone()), Subject { raw_input, ..of("fetch") })
            }
            "mcp" => {
                let tool = if self.tool_title.is_empty() { &self.tool_name } else { &self.tool_title };
                let raw_input = Some(self.args.to_string());
                (Some(format!("{}: {tool}", self.server_name)), Subject { raw_input, ..of("other") })
            }
            "custom-tool" => {
                let (raw_input, content) = (Some(self.args.to_string()), Some(self.tool_description.clone()));
                (Some(self.tool_name.clone()), Subject { raw_input, content, ..of("other") })
            }
            "hook" => {
                let (raw_input, content) = (Some(self.tool_args.to_string()), self.hook_message.clone());
                (Some(self.tool_name.clone()), Subject { raw_input, content, ..of("other") })
            }
            "memory" => (Some(format!("Remember: {}", self.fact)), of("other")),
            _ => return None,
        })
    }
}

/// Writes an outcome as a decision. Also returns the name of the decision in Copilot's events. A permission is allowed
/// only by an option that allows it (I12).
pub(super) fn decision(
    outcome: &Outcome,
    remark: Option<&str>,
    approval: Option<&Json>,
) -> (Json, &'static str) {
    let chosen = match outcome {
        Outcome::Answered(Answer { values, .. }) => values.values().next(),
        _ => None,
    };
    match (chosen, approval) {
        (Some(Value::Text(text)), _) if text == ONCE => (json!({ "kind": ONCE }), "approved"),
        (Some(Value::Text(text)), Some(approval)) if text == FOR_SESSION => {
            (json!({ "kind": FOR_SESSION, "approval": approval }), "approved-for-session")
        }
        _ => {
            let reject = match remark {
                Some(remark) => json!({ "kind": REJECT, "feedback": remark }),
                None => json!({ "kind": REJECT }),
            };
            (reject, "denied-interactively-by-user")
        }
    }
}

/// Returns the outcome that the end of a permission means.
pub(super) fn outcome(question: &Question, kind: &str) -> Outcome {
    let option = match kind {
        "approved" => ONCE,
        // For the session, or for all sessions at this location; perhaps for reading only.
        kind if kind.starts_with("approved-") => FOR_SESSION,
        "denied-interactively-by-user" => return Outcome::Rejected(Reason::User),
        "cancelled" => return Outcome::Rejected(Reason::Cancelled),
        kind if kind.starts_with("denied-") => return Outcome::Rejected(Reason::Policy),
        _ => return Outcome::Rejected(Reason::Withdrawn),
    };
    let field = question.fields.first().filter(|field| {
        // The dialog may have choices that this program does not offer.
        field.kind.options().iter().any(|known| known.value == option)
    });
    Outcome::Answered(field.map(|field| Answer::text(&field.name, option)).unwrap_or_default())
}
