//! Kimi's form: `q0`, `q1` and so on, all of them required, and no text of one's own.
//! Its fallback for clients without forms is a permission request.

use std::io;

use serde_json::{Value, json};

use super::{
    elicitation::{Form, by_label, content, property, values},
    heard::{Answer, Heard},
    question::{Question, Request},
};

pub(super) fn ask(question: &Question) -> io::Result<Request> {
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
    Form::new(question, properties).requiring(required).request()
}

/// What is none of the labels is dropped.
pub(super) fn hear(question: &Question, result: &str) -> Option<Heard> {
    let content = match content(result)? {
        Ok(content) => content,
        Err(heard) => return Some(heard),
    };
    let fields = question.fields();
    let answers = fields.iter().enumerate().map(|(at, field)| {
        let mut values = values(&content, &key(at), field.multiple)?;
        values.retain(|value| field.choices.iter().any(|choice| choice.label == value));
        Some(Answer::new(field, values, None))
    });
    answers.collect::<Option<_>>().map(Heard::Answered)
}

fn key(at: usize) -> String {
    format!("q{at}")
}
