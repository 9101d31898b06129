//! Permission requests that ask for a permission, from JSON to a question with a subject.
//! Those that are questions are left to `request.rs`, what the permission is for to `subject.rs`.
//!
//! A permission that is not understood, or is beyond the limits, is no error: the request goes on to the client, and
//! other responders do not see it.

use super::{
    PermissionReply,
    subject::{Draft, is_marked},
    wire::{PermissionOption, PermissionParams},
};
use crate::{
    limits,
    question::{Field, FieldOption, Kind, Origin, Purpose, Question, Role, subject},
};

/// Reads a permission.
pub(super) fn read_permission(
    params: PermissionParams<'_>,
    fallback_id: &str,
) -> Option<(Question, PermissionReply)> {
    let about = params.subject();
    let mut draft = match (params.tool_call, about) {
        (Some(tool_call), _) => Draft::of_tool_call(tool_call),
        (None, Some(about)) => Draft::of_subject(about, params.subject?),
        (None, None) if params.title.is_some() => Draft::default(),
        (None, None) => return None,
    };
    if params.options.is_empty() || has_same_ids(&params.options) {
        return None;
    }
    let dangerous = draft.is_marked || is_marked(&params.meta);
    let tool_call = draft.tool_call.take();
    let (message, subject) = draft.with_heading(params.title, params.description);
    let message = subject::cut(&message, limits::TEXT);
    let reject = rejecting_option(&params.options);
    let options = params.options.into_iter().map(permission_option).collect();
    let field = Field::at(0, message.clone(), None, Kind::choice(options, false, false));
    let question = Question {
        session: params.session_id,
        tool_call,
        message,
        purpose: Purpose::Permission,
        subject: (!subject.is_empty()).then(|| Box::new(subject)),
        dangerous,
        // No released agent reads what is said beside the chosen option.
        notes: false,
        ..Question::new(Origin::Permission, fallback_id, vec![field])
    };
    Some((question, PermissionReply::Grant { reject }))
}

/// An answer names an option by its id.
fn has_same_ids(options: &[PermissionOption]) -> bool {
    let is_known = |(place, option): (usize, &PermissionOption)| {
        options[..place].iter().any(|other| other.option_id == option.option_id)
    };
    options.iter().enumerate().any(is_known)
}

/// Returns the option that refuses: this time, or else from now on.
fn rejecting_option(options: &[PermissionOption]) -> Option<String> {
    let with = |role: Role| options.iter().find(|option| option.kind == role);
    let option = with(Role::RejectOnce).or_else(|| with(Role::RejectAlways))?;
    Some(option.option_id.clone())
}

fn permission_option(option: PermissionOption) -> FieldOption {
    FieldOption {
        value: option.option_id,
        label: option.name,
        role: Some(Box::new(option.kind)),
        ..FieldOption::default()
    }
}
