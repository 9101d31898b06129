//! The forms of oh-my-pi and Devin, which number their properties and accept free texts.
//! oh-my-pi has a second property for the free text; Devin takes it as the value. The form itself is left to
//! `elicitation.rs`.

use std::io;

use serde_json::{Value, json};

use super::{
    elicitation::{ElicitationForm, by_label, content, property, text, values},
    field::MockChoice,
    question::{MockQuestion, QuestionRequest},
    response::{FieldAnswer, QuestionResponse},
};

const ALLOW_OTHER: &str = "cognition.ai/allowOther";

/// Asks in oh-my-pi's form. The first option is the recommended one.
pub(super) fn ask_oh_my_pi(question: &MockQuestion) -> io::Result<QuestionRequest> {
    let mut properties = Vec::new();
    for (at, field) in question.fields().iter().enumerate() {
        let mut choice = property(field, by_label);
        if let Some(first) = field.choices.first() {
            choice["default"] = if field.multiple { json!([first.label]) } else { json!(first.label) };
        }
        properties.push((key(at), choice));
        properties.push((other_key(at), json!({ "type": "string", "title": "Other" })));
    }
    ElicitationForm::new(question, properties).request()
}

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

/// Asks in Devin's form: labels are the constants, descriptions the titles.
///
/// Devin's documentation puts the `allowOther` mark on the property, but Devin was seen to put it on the request: the
/// mock puts it on both.
pub(super) fn ask_devin(question: &MockQuestion) -> io::Result<QuestionRequest> {
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
    let mut form = ElicitationForm::new(question, properties).requiring(required);
    form.meta = Some(json!({ ALLOW_OTHER: true }));
    form.request()
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

fn by_description(choice: &MockChoice) -> Value {
    json!({ "const": choice.label, "title": choice.description })
}

fn key(at: usize) -> String {
    format!("q{at}")
}

fn other_key(at: usize) -> String {
    format!("q{at}__other")
}
