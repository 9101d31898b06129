//! Kimi's form: `q0`, `q1` and so on, all of them required, without a free text.
//! Its fallback for clients without forms is left to `permission.rs`.

use super::{
    elicitation::{content, values},
    question::MockQuestion,
    response::{FieldAnswer, QuestionResponse},
};

/// Reads the response. Kimi drops values that are not labels.
pub(super) fn read(question: &MockQuestion, result: &str) -> Option<QuestionResponse> {
    let content = match content(result)? {
        Ok(content) => content,
        Err(response) => return Some(response),
    };
    let fields = question.fields();
    let answers = fields.iter().enumerate().map(|(at, field)| {
        let mut values = values(&content, &key(at), field.multiple)?;
        values.retain(|value| field.choices.iter().any(|choice| choice.label == value));
        Some(FieldAnswer::new(field, values, None))
    });
    answers.collect::<Option<_>>().map(QuestionResponse::Answered)
}

fn key(at: usize) -> String {
    format!("q{at}")
}
