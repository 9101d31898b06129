//! The options of an approval: the value of each on the wire, its role, and its label. Which options an approval offers
//! is left to the file of its method.

use serde_json::{Value as Json, json};

use super::CodexReply;
use crate::{
    dialect::{permission::PermissionDescription, values},
    question::{FieldOption, Origin, Question, Role},
};

/// The words of the option that refuses and lets the turn continue.
pub(super) const DECLINE: &str = "Reject, and let Codex continue without it";
/// The words of the option that refuses and ends the turn.
pub(super) const CANCEL: &str = "Reject, and stop the turn";

/// One option of an approval.
pub(super) struct Decision {
    /// The value of the option: the name of the decision, if it has one.
    pub value: String,
    /// The words that the person sees.
    pub label: String,
    pub role: Role,
    /// What it allows beyond the act, each on a line.
    pub grants: Vec<String>,
    /// The `result` of the response that chooses it.
    pub result: Json,
}

impl Decision {
    /// Returns an option whose result is `{"decision": …}`.
    pub(super) fn new(value: &str, label: impl Into<String>, role: Role, decision: Json) -> Self {
        Decision {
            value: value.to_owned(),
            label: label.into(),
            role,
            grants: Vec::new(),
            result: json!({ "decision": decision }),
        }
    }

    /// Returns the option with what it allows beyond the act.
    pub(super) fn granting(self, grants: Vec<String>) -> Self {
        Decision { grants, ..self }
    }

    /// Returns an option whose decision is a name alone.
    pub(super) fn named(name: &str, label: impl Into<String>, role: Role) -> Self {
        Decision::new(name, label, role, name.into())
    }

    /// Returns the option that refuses and lets the turn continue.
    pub(super) fn decline() -> Self {
        Decision::named("decline", DECLINE, Role::RejectOnce)
    }

    /// Returns the option that refuses and ends the turn.
    pub(super) fn cancel() -> Self {
        Decision::named("cancel", CANCEL, Role::RejectOnce)
    }
}

/// Returns an approval as a question with these options. `cancelled` is the result for every end that the person did
/// not choose.
pub(super) fn approval(
    described: PermissionDescription,
    decisions: Vec<Decision>,
    cancelled: Json,
    fallback_id: &str,
) -> Option<(Question, CodexReply)> {
    let first_with = |role: Role| decisions.iter().find(|decision| decision.role == role);
    let reject = first_with(Role::RejectOnce).or_else(|| first_with(Role::RejectAlways));
    let reject = reject.map(|decision| decision.value.clone());
    let options = decisions.iter().map(|decision| FieldOption {
        value: decision.value.clone(),
        label: decision.label.clone(),
        role: Some(Box::new(decision.role)),
        grants: decision.grants.clone(),
        ..FieldOption::default()
    });
    let described = PermissionDescription { options: options.collect(), ..described };
    let question = described.question(Origin::Codex, fallback_id)?;
    let results =
        decisions.into_iter().map(|decision| (decision.value, values::json(&decision.result))).collect();
    Some((question, CodexReply::Decision { results, reject, cancelled: values::json(&cancelled) }))
}

/// Returns a text that is not empty, and `None` for anything else.
pub(super) fn non_empty_text(json: &Json) -> Option<String> {
    json.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}
