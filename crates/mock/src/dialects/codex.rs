//! Codex's forms: titles are the questions, descriptions the headers, and each field has a note.
//! Codex goes on working while the asynchronous form is open, which has no tool call. The form itself is left to
//! `elicitation.rs`.

use super::{
    elicitation::{content, text, values},
    field::MockField,
    question::MockQuestion,
    response::{FieldAnswer, QuestionResponse},
};

pub(super) fn read(question: &MockQuestion, result: &str) -> Option<QuestionResponse> {
    answers(question, result, id)
}

pub(super) fn read_async(question: &MockQuestion, result: &str) -> Option<QuestionResponse> {
    answers(question, result, numbered)
}

/// Returns the key of the field at this place.
type Key = fn(usize, &MockField) -> String;

fn id(_: usize, field: &MockField) -> String {
    field.id.to_owned()
}

fn numbered(at: usize, _: &MockField) -> String {
    format!("question_{at}")
}

fn note_key(key: &str) -> String {
    format!("{key}_note")
}

fn answers(question: &MockQuestion, result: &str, key: Key) -> Option<QuestionResponse> {
    let content = match content(result)? {
        Ok(content) => content,
        Err(response) => return Some(response),
    };
    let fields = question.fields();
    let answers = fields.iter().enumerate().map(|(at, field)| {
        let key = key(at, field);
        let values = values(&content, &key, field.multiple)?;
        let answer = FieldAnswer::new(field, values, text(&content, &note_key(&key))?);
        // The value is never a free text: Codex has the note for that.
        Some(FieldAnswer { written: false, ..answer })
    });
    answers.collect::<Option<_>>().map(QuestionResponse::Answered)
}
