//! The result of a permission request that was a question, from an outcome to JSON.
//!
//! Source: `RequestPermissionResponse` of the ACP schema, and Qwen's `answers` beside it.

use serde::Serialize;

use super::Words;
use crate::{
    dialect::{entries::Entries, joined, meta::Meta},
    question::{Answer, Question, Reason, Value},
};

/// The `result` of a permission request.
#[derive(Debug, Serialize)]
pub struct Response {
    outcome: Outcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    answers: Option<Entries<String>>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<Meta>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
enum Outcome {
    #[serde(rename_all = "camelCase")]
    Selected {
        option_id: String,
    },
    Cancelled,
}

/// Says an answer.
pub fn answered(words: &Words, question: &Question, answer: &Answer) -> Response {
    let meta = Meta::of_notes(question, answer, |_| true);
    match words {
        Words::Option { .. } => {
            let chosen = question.fields.iter().find_map(|field| match answer.values.get(&field.name)? {
                Value::Text(option) => Some(Outcome::Selected { option_id: option.clone() }),
                _ => None,
            });
            Response { outcome: chosen.unwrap_or(Outcome::Cancelled), answers: None, meta }
        }
        Words::Answers { submit, .. } => {
            let answers = question.fields.iter().enumerate().filter_map(|(index, field)| {
                Some((index.to_string(), text(answer.values.get(&field.name)?)))
            });
            Response {
                outcome: Outcome::Selected { option_id: submit.clone() },
                answers: Some(Entries(answers.collect())),
                meta,
            }
        }
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::Many(texts) => joined::join(texts),
        Value::Flag(flag) => flag.to_string(),
        Value::Number(number) => number.to_string(),
    }
}

/// Says a rejection. Only a person chooses the option that leaves it out.
pub fn rejected(words: &Words, reason: Reason) -> Response {
    let (Words::Option { skip: out } | Words::Answers { cancel: out, .. }) = words;
    let outcome = match out {
        Some(option_id) if reason == Reason::User => Outcome::Selected { option_id: option_id.clone() },
        _ => Outcome::Cancelled,
    };
    Response { outcome, answers: None, meta: Some(Meta::of_rejection(reason)) }
}
