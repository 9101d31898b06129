//! Claude's form: `question_N` for the choices, and `question_N_custom` for an answer of the person's own.
//! No property is required, so an empty answer is one.

use std::io;

use serde_json::{Value, json};

use super::{
    elicitation::{Form, by_label, content, property, text, values},
    field::Field,
    heard::{Answer, Heard},
    question::{Question, Request},
};

const CUSTOM: &str = "Type your own answer, or add a note to the option you chose above (optional).";

pub(super) fn ask(question: &Question) -> io::Result<Request> {
    let fields = question.fields();
    let alone = fields.len() == 1;
    let mut properties = Vec::new();
    for (at, field) in fields.iter().enumerate() {
        let mut choice = property(field, by_label);
        if let (true, Some(choice)) = (alone, choice.as_object_mut()) {
            // The message says it.
            choice.remove("description");
        }
        properties.push((key(at), choice));
        let custom = json!({ "type": "string", "title": "Other", "description": CUSTOM });
        properties.push((custom_key(at), custom));
    }
    let mut form = Form::new(question, properties);
    form.tool_call_id = Some(question.tool_call());
    if !alone {
        form.message = "Please answer the following questions.".to_owned();
    }
    form.request()
}

pub(super) fn hear(question: &Question, result: &str) -> Option<Heard> {
    let content = match content(result)? {
        Ok(content) => content,
        Err(heard) => return Some(heard),
    };
    let fields = question.fields();
    let answers = fields.iter().enumerate().map(|(at, field)| {
        let values = values(&content, &key(at), field.multiple)?;
        Some(answer(field, values, text(&content, &custom_key(at))?))
    });
    answers.collect::<Option<_>>().map(Heard::Answered)
}

/// A text of one's own is the answer itself, one more of many, or a note beside the option.
fn answer(field: &Field, mut values: Vec<String>, custom: Option<String>) -> Answer {
    if field.multiple {
        values.extend(custom);
        return Answer::new(field, values.iter().map(|value| quoted(value)).collect(), None);
    }
    match custom {
        Some(custom) if values.is_empty() => Answer::new(field, vec![custom], None),
        note => Answer::new(field, values, note),
    }
}

/// The list is one text in the end: what could be taken for two of its items is quoted.
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
