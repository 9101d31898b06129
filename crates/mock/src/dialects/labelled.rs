//! The forms of oh-my-pi and Devin, which number their properties and accept free texts.
//! oh-my-pi has a second property for the free text; Devin takes it as the value. The form itself is left to
//! `elicitation.rs`.

use super::{
    elicitation::{content, text, values},
    question::MockQuestion,
    response::{FieldAnswer, QuestionResponse},
};

pub(super) fn read_oh_my_pi(question: &MockQuestion, result: &str) -> Option<QuestionResponse> {
    let content = match content(result)? {
        Ok(content) => content,
        Err(response) => return Some(response),
    };
    let fields = question.fields();
    let answers = fields.iter().enumerate().map(|(at, field)| {
        let mut values = values(&content, &key(at), field.multiple)?;
        let other = text(&content, &other_key(at))?;
        if !field.multiple && other.is_some() {
            values.clear();
        }
        values.extend(other);
        Some(FieldAnswer::new(field, values, None))
    });
    answers.collect::<Option<_>>().map(QuestionResponse::Answered)
}

pub(super) fn read_devin(question: &MockQuestion, result: &str) -> Option<QuestionResponse> {
    let content = match content(result)? {
        Ok(content) => content,
        Err(response) => return Some(response),
    };
    let fields = question.fields();
    let answers = fields
        .iter()
        .enumerate()
        .map(|(at, field)| Some(FieldAnswer::new(field, values(&content, &key(at), field.multiple)?, None)));
    answers.collect::<Option<_>>().map(QuestionResponse::Answered)
}

fn key(at: usize) -> String {
    format!("q{at}")
}

fn other_key(at: usize) -> String {
    format!("q{at}__other")
}
