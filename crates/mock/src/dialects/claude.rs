//! Claude's form: `question_N` for the choices, and `question_N_custom` for a free text.
//! No property is required, so an empty answer is valid. The form itself is left to `elicitation.rs`.

use serde_json::Value;

use super::{
    elicitation::{content, text, values},
    field::MockField,
    question::MockQuestion,
    response::{FieldAnswer, QuestionResponse},
};

pub(super) fn read(question: &MockQuestion, result: &str) -> Option<QuestionResponse> {
    let content = match content(result)? {
        Ok(content) => content,
        Err(response) => return Some(response),
    };
    let fields = question.fields();
    let answers = fields.iter().enumerate().map(|(at, field)| {
        let values = values(&content, &key(at), field.multiple)?;
        Some(answer(field, values, text(&content, &custom_key(at))?))
    });
    answers.collect::<Option<_>>().map(QuestionResponse::Answered)
}

/// Puts a free text where Claude does: one more value of a multiple choice, the answer itself if no option was
/// chosen, or a note on the option.
fn answer(field: &MockField, mut values: Vec<String>, custom: Option<String>) -> FieldAnswer {
    if field.multiple {
        values.extend(custom);
        return FieldAnswer::new(field, values.iter().map(|value| quoted(value)).collect(), None);
    }
    match custom {
        Some(custom) if values.is_empty() => FieldAnswer::new(field, vec![custom], None),
        note => FieldAnswer::new(field, values, note),
    }
}

/// Quotes a value that contains the separator: Claude joins the values to one text.
fn quoted(value: &str) -> String {
    if value.contains(", ") || value.contains('"') {
        Value::from(value).to_string()
    } else {
        value.to_owned()
    }
}

fn key(at: usize) -> String {
    format!("question_{at}")
}

fn custom_key(at: usize) -> String {
    format!("question_{at}_custom")
}
