//! A question as a native request, for a client that takes those.
//!
//! Its plain shape is the canonical one where that is enough, otherwise `questions`; the whole form stands beside it
//! under `_meta`, for clients that can show more.

use serde::Serialize;
use serde_json::value::RawValue;

use super::request::{NO, YES};
use crate::{
    dialect::asked,
    question::{Field, FieldOption, Kind, Question},
};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    session_id: Option<&'a str>,
    question_id: &'a str,
    #[serde(flatten)]
    form: Form<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_call_id: Option<&'a str>,
    #[serde(rename = "_meta")]
    meta: Meta<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Form<'a> {
    Canonical { prompt: String, options: Vec<(&'a str, &'a str)> },
    Questions { prompt: &'a str, questions: Vec<Asking<'a>> },
}

#[derive(Serialize)]
struct Asking<'a> {
    question: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    header: Option<&'a str>,
    options: Vec<Choice<'a>>,
    multiple: bool,
    custom: bool,
}

#[derive(Serialize)]
struct Choice<'a> {
    value: &'a str,
    label: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
}

#[derive(Serialize)]
struct Meta<'a> {
    askbridge: Additions<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Additions<'a> {
    fields: &'a [Field],
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    dangerous: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout_ms: Option<u64>,
}

/// Says a question as the `params` of a native request.
pub fn write(question: &Question) -> Box<RawValue> {
    let additions = Additions {
        fields: &question.fields,
        dangerous: question.dangerous,
        timeout_ms: question.timeout.map(|time| time.as_millis().try_into().unwrap_or(u64::MAX)),
    };
    asked::json(&Params {
        session_id: question.session.as_deref(),
        question_id: &question.id,
        form: form(question),
        tool_call_id: question.tool_call.as_deref(),
        meta: Meta { askbridge: additions },
    })
}

fn form(question: &Question) -> Form<'_> {
    match &*question.fields {
        [field] if is_canonical(field) => {
            let options = choices(field).into_iter().map(|choice| (choice.value, choice.label));
            Form::Canonical { prompt: prompt(question, field), options: options.collect() }
        }
        fields => {
            Form::Questions { prompt: question.heading(), questions: fields.iter().map(asking).collect() }
        }
    }
}

/// Says whether pairs of value and label are enough.
fn is_canonical(field: &Field) -> bool {
    let plain = |option: &FieldOption| option.description.is_none();
    match &field.kind {
        Kind::Choices { .. } => false,
        kind => !kind.takes_other() && field.header.is_none() && kind.options().iter().all(plain),
    }
}

/// Returns all that is asked, where the form as a whole says something that the field does not.
fn prompt(question: &Question, field: &Field) -> String {
    let heading = question.heading();
    if heading.contains(&*field.label) { heading.to_owned() } else { format!("{heading}\n{}", field.label) }
}

fn asking(field: &Field) -> Asking<'_> {
    Asking {
        question: &field.label,
        header: field.header.as_deref(),
        options: choices(field),
        multiple: matches!(field.kind, Kind::Choices { .. }),
        custom: field.kind.takes_other(),
    }
}

fn choices(field: &Field) -> Vec<Choice<'_>> {
    fn plain<'a>(value: &'a str, label: &'a str) -> Choice<'a> {
        Choice { value, label, description: None }
    }
    match &field.kind {
        Kind::Boolean { .. } => vec![plain("true", YES), plain("false", NO)],
        Kind::Confirm { yes, no } => vec![plain(yes, yes), plain(no, no)],
        kind => {
            let options = kind.options().iter();
            options
                .map(|FieldOption { value, label, description, .. }| Choice {
                    value,
                    label,
                    description: description.as_deref(),
                })
                .collect()
        }
    }
}
