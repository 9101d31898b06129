//! Cursor's `cursor/ask_question`: no session, no descriptions, and no text of one's own.
//! A client finds the session by the tool call, which was told before.

use std::io;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    heard::{Answer, Heard, How},
    question::{Question, Request},
};

pub(super) fn ask(question: &Question) -> io::Result<Request> {
    let fields = question.fields();
    let questions: Vec<Value> = fields
        .iter()
        .map(|field| {
            let choices = field.choices.iter();
            let options: Vec<Value> =
                choices.map(|choice| json!({ "id": choice.value, "label": choice.label })).collect();
            json!({
                "id": field.id, "prompt": field.question, "options": options,
                "allowMultiple": field.multiple,
            })
        })
        .collect();
    let params = json!({ "toolCallId": question.tool_call(), "title": "Setup", "questions": questions });
    Request::new("cursor/ask_question", &params)
}

pub(super) fn hear(question: &Question, result: &str) -> Option<Heard> {
    let Told { outcome } = serde_json::from_str(result).ok()?;
    match outcome {
        Outcome::Skipped { reason } => Some(Heard::Unanswered(How::Skipped, reason)),
        Outcome::Cancelled => Some(Heard::Unanswered(How::Cancelled, None)),
        Outcome::Answered { answers } => {
            let fields = question.fields();
            let known = answers.iter().all(|Chosen { question_id, selected_option_ids }| {
                let field = fields.iter().find(|field| field.id == question_id);
                field.is_some_and(|field| {
                    selected_option_ids.iter().all(|id| field.choices.iter().any(|choice| choice.value == id))
                })
            });
            let given = fields.iter().map(|field| {
                let chosen = answers.iter().find(|chosen| chosen.question_id == field.id);
                let ids = chosen.map(|chosen| chosen.selected_option_ids.clone()).unwrap_or_default();
                Answer::new(field, ids, None)
            });
            known.then(|| Heard::Answered(given.collect()))
        }
    }
}

#[derive(Deserialize)]
struct Told {
    outcome: Outcome,
}

#[derive(Deserialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
enum Outcome {
    Answered { answers: Vec<Chosen> },
    Skipped { reason: Option<String> },
    Cancelled,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Chosen {
    question_id: String,
    selected_option_ids: Vec<String>,
}
