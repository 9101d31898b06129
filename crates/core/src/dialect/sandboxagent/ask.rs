//! Writes a question as `_sandboxagent/session/request_question`, for a client that supports the extension. Reading the
//! client's reply is left to `reply.rs`.
//!
//! The request has the canonical shape if that is enough, otherwise `questions`. The complete form is added under
//! `_meta`, for clients that can show more.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::{
    dialect::values,
    question::{
        Field, FieldOption, Kind, Question,
        input::{NO, YES},
        naming::names,
    },
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ExtensionParams<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a str>,
    question_id: &'a str,
    #[serde(flatten)]
    form: ExtensionForm<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
    #[serde(rename = "_meta")]
    meta: ExtensionMeta<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ExtensionForm<'a> {
    Canonical { prompt: String, options: Vec<(&'a str, Cow<'a, str>)> },
    Questions { prompt: &'a str, questions: Vec<ExtensionQuestion<'a>> },
}

#[derive(Serialize)]
struct ExtensionQuestion<'a> {
    question: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    header: Option<&'a str>,
    options: Vec<ExtensionOption<'a>>,
    multiple: bool,
    custom: bool,
}

#[derive(Serialize)]
struct ExtensionOption<'a> {
    value: &'a str,
    label: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
}

#[derive(Serialize)]
struct ExtensionMeta<'a> {
    askbridge: ExtensionAdditions<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ExtensionAdditions<'a> {
    fields: &'a [Field],
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    dangerous: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout_ms: Option<u64>,
}

/// Writes a question as the `params` of an extension request.
pub fn write(question: &Question) -> Box<RawValue> {
    let additions = ExtensionAdditions {
        fields: &question.fields,
        dangerous: question.dangerous,
        timeout_ms: question.timeout.map(|time| time.as_millis().try_into().unwrap_or(u64::MAX)),
    };
    values::json(&ExtensionParams {
        session_id: question.session.as_deref(),
        question_id: &question.id,
        form: form(question),
        tool_call_id: question.tool_call.as_deref(),
        meta: ExtensionMeta { askbridge: additions },
    })
}

fn form(question: &Question) -> ExtensionForm<'_> {
    match &*question.fields {
        [field] if is_canonical(field) => {
            let options = choices(field).into_iter().map(|choice| (choice.value, choice.label));
            ExtensionForm::Canonical { prompt: prompt(question, field), options: options.collect() }
        }
        fields => ExtensionForm::Questions {
            prompt: question.heading(),
            questions: fields.iter().map(question_of).collect(),
        },
    }
}

/// Returns whether the canonical shape, a prompt with pairs of value and label, can express this field.
fn is_canonical(field: &Field) -> bool {
    let plain = |option: &FieldOption| option.description.is_none();
    match &field.kind {
        Kind::Choices { .. } => false,
        kind => !kind.takes_other() && field.header.is_none() && kind.options().iter().all(plain),
    }
}

/// Returns the text of the question: the heading, and the field's label unless the heading contains it.
fn prompt(question: &Question, field: &Field) -> String {
    let heading = question.heading();
    if heading.contains(&*field.label) { heading.to_owned() } else { format!("{heading}\n{}", field.label) }
}

fn question_of(field: &Field) -> ExtensionQuestion<'_> {
    ExtensionQuestion {
        question: &field.label,
        header: field.header.as_deref(),
        options: choices(field),
        multiple: matches!(field.kind, Kind::Choices { .. }),
        custom: field.kind.takes_other(),
    }
}

fn choices(field: &Field) -> Vec<ExtensionOption<'_>> {
    fn plain<'a>(value: &'a str, label: &'a str) -> ExtensionOption<'a> {
        ExtensionOption { value, label: label.into(), description: None }
    }
    match &field.kind {
        Kind::Boolean { .. } => vec![plain("true", YES), plain("false", NO)],
        Kind::Confirm { yes, no } => vec![plain(yes, yes), plain(no, no)],
        kind => {
            // Two labels that look alike would leave the client's user to guess.
            let options = kind.options().iter().zip(names(kind.options()));
            options
                .map(|(FieldOption { value, description, .. }, label)| ExtensionOption {
                    value,
                    label,
                    description: description.as_deref(),
                })
                .collect()
        }
    }
}
