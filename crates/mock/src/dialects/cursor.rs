//! Cursor's `cursor/ask_question`: no session ID, no descriptions, and no free text.
//! The tool call by which a client finds the session is left to `dispatch.rs`.

use serde::Deserialize;

use super::{
    question::MockQuestion,
    response::{FieldAnswer, NonAnswer, QuestionResponse},
};

pub(super) fn read(question: &MockQuestion, result: &str) -> Option<QuestionResponse> {
    let CursorResult { outcome } = serde_json::from_str(result).ok()?;
    match outcome {
        Outcome::Skipped { reason } => Some(QuestionResponse::Unanswered(NonAnswer::Skipped, reason)),
        Outcome::Cancelled => Some(QuestionResponse::Unanswered(NonAnswer::Cancelled, None)),
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
                FieldAnswer::new(field, ids, None)
            });
            known.then(|| QuestionResponse::Answered(given.collect()))
        }
    }
}

#[derive(Deserialize)]
struct CursorResult {
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
