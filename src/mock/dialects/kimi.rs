//! Kimi's form: `q0`, `q1` and so on, all of them required, without a free text.
//! Its fallback for clients without forms is left to `permission.rs`.

use std::io;

use serde_json::{Value, json};

use super::{
    elicitation::{ElicitationForm, by_label, content, property, values},
    question::{MockQuestion, QuestionRequest},
    response::{FieldAnswer, QuestionResponse},
};

pub(super) fn ask(question: &MockQuestion) -> io::Result<QuestionRequest> {
    let fields = question.fields();
    let properties: Vec<(String, Value)> = fields
        .iter()
        .enumerate()
        .map(|(at, field)| {
            let mut choice = property(field, by_label);
            if field.multiple {
                choice["minItems"] = json!(1);
            }
            (key(at), choice)
        })
        .collect();
    let required = (0..fields.len()).map(key).collect();
    ElicitationForm::new(question, properties).requiring(required).request()
}

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
