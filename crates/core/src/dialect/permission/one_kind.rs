//! Questions in the shape of a permission whose options all have one kind: each of them allows, and none refuses. So agents
//! ask for a choice where the client has no forms, as Paseo's documentation tells them to. What is about an act remains a
//! permission, so that no act is allowed as the answer to a question (I12).
//!
//! Source: pull request 3952 of gajae-code, 2026-08-06.

use super::{subject::Draft, wire::PermissionToolCall};
use crate::{
    guard::subject::is_about_no_act,
    question::{Field, FieldOption, Kind, Purpose, Question, Role},
};

/// Kinds of tools that do not act.
const IDLE: [&str; 2] = ["other", "think"];

/// Returns a permission as the question that it is, or `None` if it is none.
pub(super) fn as_question(permission: &Question) -> Option<Question> {
    let field = permission.fields.first()?;
    let options = field.kind.options();
    let role = options.first()?.role.as_deref()?;
    let is_choice = matches!(role, Role::AllowOnce | Role::AllowAlways);
    if !is_choice || options.len() < 2 || options.iter().any(|option| option.role.as_deref() != Some(role)) {
        return None;
    }
    let about = permission.subject.as_deref().cloned().unwrap_or_default();
    let is_idle = about.kind.as_deref().is_none_or(|kind| IDLE.contains(&kind));
    let has_more = about.plan.is_some() || about.plan_file.is_some() || !about.grants.is_empty();
    if permission.message == about.untitled()
        || !is_idle
        || has_more
        || permission.dangerous
        || is_about_no_act(&about).is_err()
    {
        return None;
    }
    if options.iter().any(|option| !option.grants.is_empty()) {
        return None;
    }
    let options = options.iter().map(|option| FieldOption { role: None, ..option.clone() });
    let kind = Kind::choice(options.collect(), false, false);
    let texts = [about.title, about.description, about.content];
    let help: Vec<_> = texts.into_iter().flatten().filter(|text| *text != permission.message).collect();
    let help = (!help.is_empty()).then(|| help.join("\n"));
    let field = Field { help, kind, ..field.clone() };
    Some(Question {
        purpose: Purpose::Question,
        subject: None,
        message: String::new(),
        fields: vec![field],
        ..permission.clone()
    })
}

/// Returns whether an update of a tool call, as JSON, is about an act.
pub fn acts(update: &[u8]) -> bool {
    let Ok(tool_call) = serde_json::from_slice::<PermissionToolCall<'_>>(update) else { return true };
    let about = Draft::of_update(tool_call, update).subject;
    let is_idle = about.kind.as_deref().is_none_or(|kind| IDLE.contains(&kind));
    !is_idle || is_about_no_act(&about).is_err()
}
