//! Kiro's `_kiro/userInput`: one field, whose answer is one text.
//! Whether the client advertised it is left to `capabilities.rs`.

use std::io;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    question::{MockQuestion, QuestionRequest},
    response::{FieldAnswer, NonAnswer, QuestionResponse},
};

pub(super) fn ask(question: &MockQuestion) -> io::Result<QuestionRequest> {
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
    QuestionRequest::new("_kiro/userInput", &params)
}

pub(super) fn read(question: &MockQuestion, result: &str) -> Option<QuestionResponse> {
    match serde_json::from_str(result).ok()? {
        KiroResult::Dismissed => Some(QuestionResponse::Unanswered(NonAnswer::Dismissed, None)),
        KiroResult::Answered { answer } => Some(QuestionResponse::Answered(vec![FieldAnswer::new(
            &question.fields()[0],
            vec![answer],
            None,
        )])),
    }
}

#[derive(Deserialize)]
#[serde(tag = "action", rename_all = "lowercase")]
enum KiroResult {
    Answered { answer: String },
    Dismissed,
}
