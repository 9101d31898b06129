//! Kiro's `_kiro/userInput`: one field, whose answer is one text.
//! A client takes part in it only if it promised to.

use std::io;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    heard::{Answer, Heard, How},
    question::{Question, Request},
};

pub(super) fn ask(question: &Question) -> io::Result<Request> {
    let fields = question.fields();
    let field = &fields[0];
    let mut options: Vec<Value> =
        field.choices.iter().map(|choice| json!({ "title": choice.label })).collect();
    if let Some(first) = options.first_mut() {
        first["recommended"] = json!(true);
    }
    let params = json!({
        "sessionId": question.session, "toolCallId": question.tool_call(), "question": field.question,
        "options": options,
    });
    Request::new("_kiro/userInput", &params)
}

pub(super) fn hear(question: &Question, result: &str) -> Option<Heard> {
    match serde_json::from_str(result).ok()? {
        Told::Dismissed => Some(Heard::Unanswered(How::Dismissed, None)),
        Told::Answered { answer } => {
            Some(Heard::Answered(vec![Answer::new(&question.fields()[0], vec![answer], None)]))
        }
    }
}

#[derive(Deserialize)]
#[serde(tag = "action", rename_all = "lowercase")]
enum Told {
    Answered { answer: String },
    Dismissed,
}
