//! Permissions of tools, and the end of plan mode: to allow once, to allow from now on, to deny.

use serde_json::{Value as Json, value::RawValue};

use super::{
    subject,
    suggestion::{self, Suggestion},
    tool_call::{EXIT_PLAN_MODE, ToolCall},
};
use crate::{
    dialect::{once, permission::PermissionDescription},
    question::{Answer, FieldOption, Origin, Question, Role, Value},
};

/// The values of the options that every permission has.
pub(super) const ALLOW: &str = "allow";
const DENY: &str = "deny";

/// The lasting permissions, by the values of their options.
pub(super) type LastingPermissions = Vec<(String, Box<RawValue>)>;

pub(super) fn read(call: &ToolCall<'_>, id: &str) -> Option<(Question, LastingPermissions)> {
    let input = once::from_slice(call.input.as_bytes())?;
    let is_plan = call.tool == EXIT_PLAN_MODE;
    // Without a plan there is nothing to judge, and Claude Code takes no decision without one.
    if is_plan && input["plan"].as_str().is_none_or(|plan| plan.trim().is_empty()) {
        return None;
    }
    let (yes, no) = match is_plan {
        true => ("Yes, carry out the plan", "No, keep planning"),
        false => ("Allow once", "Deny"),
    };
    let suggestions: Vec<_> = call
        .suggestions
        .iter()
        .take(suggestion::MOST_SUGGESTIONS)
        .filter_map(|raw| suggestion::read_suggestion(raw))
        .collect();
    let lasting = |(place, suggestion): (usize, &Suggestion<'_>)| {
        option(&suggestion_value(place), suggestion.label.clone(), Role::AllowAlways)
    };
    let mut options = vec![option(ALLOW, yes.to_owned(), Role::AllowOnce)];
    options.extend(suggestions.iter().enumerate().map(lasting));
    options.push(option(DENY, no.to_owned(), Role::RejectOnce));
    let (title, mut subject) = subject::read_subject(call.tool, &input, call.input);
    subject.description = subject.description.or_else(|| call.description.map(str::to_owned));
    let described = PermissionDescription {
        tool_call: call.id.map(str::to_owned),
        title,
        subject,
        is_marked: call.is_marked,
        options,
        ..PermissionDescription::default()
    };
    let question = described.question(Origin::Claude, id)?;
    let lasting = suggestions.iter().enumerate();
    let lasting = lasting.map(|(place, suggestion)| (suggestion_value(place), suggestion.raw.to_owned()));
    Some((question, lasting.collect()))
}

fn suggestion_value(place: usize) -> String {
    format!("always-{}", place + 1)
}

fn option(value: &str, label: String, role: Role) -> FieldOption {
    FieldOption { value: value.to_owned(), label, role: Some(Box::new(role)), ..FieldOption::default() }
}

/// Returns the value of the option that an answer chooses.
pub(super) fn chosen<'a>(question: &Question, answer: &'a Answer) -> Option<&'a str> {
    match answer.values.get(&question.fields.first()?.name)? {
        Value::Text(chosen) => Some(chosen),
        _ => None,
    }
}

/// Returns the answer to a permission that was granted elsewhere, with these lasting permissions.
pub(super) fn granted(
    question: &Question,
    lasting: &[(String, Box<RawValue>)],
    permissions: &Json,
) -> Answer {
    let first = permissions.as_array().and_then(|permissions| permissions.first());
    let is_given = |raw: &RawValue| serde_json::from_str::<Json>(raw.get()).ok().as_ref() == first;
    let given = lasting.iter().find(|(_, raw)| first.is_some() && is_given(raw));
    let value = given.map_or(ALLOW, |(value, _)| value);
    let names = question.fields.iter().map(|field| field.name.clone());
    let values = names.take(1).map(|name| (name, Value::Text(value.to_owned()))).collect();
    Answer { values, ..Answer::default() }
}
