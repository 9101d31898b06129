//! Forms of agents that number their properties and leave room for other texts: oh-my-pi's and Devin's.
//! oh-my-pi takes such a text in a property of its own, Devin in the place of a choice.

use std::io;

use serde_json::{Value, json};

use super::{
    elicitation::{Form, by_label, content, property, text, values},
    field::Choice,
    heard::{Answer, Heard},
    question::{Question, Request},
};

const ALLOW_OTHER: &str = "cognition.ai/allowOther";

/// The first option is the recommended one.
pub(super) fn ask_oh_my_pi(question: &Question) -> io::Result<Request> {
    let mut properties = Vec::new();
    for (at, field) in question.fields().iter().enumerate() {
        let mut choice = property(field, by_label);
        if let Some(first) = field.choices.first() {
            choice["default"] = if field.multiple { json!([first.label]) } else { json!(first.label) };
        }
        properties.push((key(at), choice));
        properties.push((other_key(at), json!({ "type": "string", "title": "Other" })));
    }
    Form::new(question, properties).request()
}

pub(super) fn hear_oh_my_pi(question: &Question, result: &str) -> Option<Heard> {
    let content = match content(result)? {
        Ok(content) => content,
        Err(heard) => return Some(heard),
    };
    let fields = question.fields();
    let answers = fields.iter().enumerate().map(|(at, field)| {
        let mut values = values(&content, &key(at), field.multiple)?;
        let other = text(&content, &other_key(at))?;
        if !field.multiple && other.is_some() {
            values.clear();
        }
        values.extend(other);
        Some(Answer::new(field, values, None))
    });
    answers.collect::<Option<_>>().map(Heard::Answered)
}

/// Its labels are the constants, and its descriptions the titles. The mark that allows other texts has been seen
/// on the request, and is said to stand on the property: it stands on both.
pub(super) fn ask_devin(question: &Question) -> io::Result<Request> {
    let fields = question.fields();
    let properties: Vec<(String, Value)> = fields
        .iter()
        .enumerate()
        .map(|(at, field)| {
            let mut choice = property(field, by_description);
            choice["_meta"] = json!({ ALLOW_OTHER: true });
            (key(at), choice)
        })
        .collect();
    let required = (0..fields.len()).map(key).collect();
    let mut form = Form::new(question, properties).requiring(required);
    form.meta = Some(json!({ ALLOW_OTHER: true }));
    form.request()
}

pub(super) fn hear_devin(question: &Question, result: &str) -> Option<Heard> {
    let content = match content(result)? {
        Ok(content) => content,
        Err(heard) => return Some(heard),
    };
    let fields = question.fields();
    let answers = fields
        .iter()
        .enumerate()
        .map(|(at, field)| Some(Answer::new(field, values(&content, &key(at), field.multiple)?, None)));
    answers.collect::<Option<_>>().map(Heard::Answered)
}

fn by_description(choice: &Choice) -> Value {
    json!({ "const": choice.label, "title": choice.description })
}

fn key(at: usize) -> String {
    format!("q{at}")
}

fn other_key(at: usize) -> String {
    format!("q{at}__other")
}
