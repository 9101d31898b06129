//! Grok's `_x.ai/ask_user_question`: answers by the text of the question, and notes beside them.
//! It takes no acknowledgement for an answer: there must be an outcome.

use std::{collections::BTreeMap, io};

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
        .zip(1..)
        .map(|(field, number)| {
            let choices = field.choices.iter();
            let options: Vec<Value> = choices
                .map(|choice| json!({ "label": choice.label, "description": choice.description }))
                .collect();
            json!({
                "id": format!("q{number}"), "question": field.question, "options": options,
                "multiSelect": field.multiple.then_some(true),
            })
        })
        .collect();
    let params = json!({
        "sessionId": question.session, "toolCallId": question.tool_call(), "questions": questions,
        "mode": "default",
    });
    Request::new("_x.ai/ask_user_question", &params)
}

pub(super) fn hear(question: &Question, result: &str) -> Option<Heard> {
    match serde_json::from_str(result).ok()? {
        Told::Cancelled => Some(Heard::Unanswered(How::Cancelled, None)),
        Told::SkipInterview => Some(Heard::Unanswered(How::Skipped, None)),
        Told::ChatAboutThis => Some(Heard::Unanswered(How::InChat, None)),
        Told::Accepted { answers, annotations } => {
            let fields = question.fields();
            let known = answers.keys().all(|asked| fields.iter().any(|field| field.question == *asked));
            let given = fields.iter().map(|field| {
                let values = answers.get(&field.question).cloned().unwrap_or_default();
                let note = annotations.get(&field.question).and_then(|annotation| annotation.notes.clone());
                Answer::new(field, values, note)
            });
            known.then(|| Heard::Answered(given.collect()))
        }
    }
}

#[derive(Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
enum Told {
    Accepted {
        answers: BTreeMap<String, Vec<String>>,
        #[serde(default)]
        annotations: BTreeMap<String, Annotation>,
    },
    Cancelled,
    SkipInterview,
    ChatAboutThis,
}

#[derive(Deserialize)]
struct Annotation {
    notes: Option<String>,
}
