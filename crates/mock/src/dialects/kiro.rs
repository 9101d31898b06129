//! Kiro's `_kiro/userInput`: one field, whose answer is one text.
//! Whether the client advertised it is left to `capabilities.rs`.

use serde::Deserialize;

use super::{
    question::MockQuestion,
    response::{FieldAnswer, NonAnswer, QuestionResponse},
};

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
