//! Codex's forms: titles are the questions, descriptions the headers, and each field has a note.
//! Codex goes on working while the asynchronous form is open, which has no tool call. The form itself is left to
//! `elicitation.rs`.

use std::io;

use serde_json::{Value, json};

use super::{
    elicitation::{ElicitationForm, by_label, content, property, text, values},
    field::MockField,
    question::{MockQuestion, QuestionRequest},
    response::{FieldAnswer, QuestionResponse},
};

const NONE: &str = "None of the above";

pub(super) fn ask(question: &MockQuestion) -> io::Result<QuestionRequest> {
    let fields = question.fields();
    let required = fields.iter().map(|field| field.id.to_owned()).collect();
    let mut form = ElicitationForm::new(question, properties(&fields, id)).requiring(required);
    form.tool_call_id = Some(question.tool_call());
    form.message = "Codex needs your input to continue.".to_owned();
    form.meta = Some(json!({ "codex": { "autoResolutionMs": null } }));
    form.request()
}

pub(super) fn ask_async(question: &MockQuestion) -> io::Result<QuestionRequest> {
    let mut form = ElicitationForm::new(question, properties(&question.fields(), numbered));
    form.message =
        "Codex keeps working while you answer. An answer sent after it finishes is not delivered.".to_owned();
    form.meta = Some(json!({ "codex": { "delivery": "async" } }));
    form.request()
}

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

fn properties(fields: &[MockField], key: Key) -> Vec<(String, Value)> {
    let mut properties = Vec::new();
    for (at, field) in fields.iter().enumerate() {
        let key = key(at, field);
        let mut choice = property(field, by_label);
        choice["title"] = json!(field.question);
        choice["description"] = json!(field.header);
        choice["_meta"] = json!({ "codex": { "isOther": true, "isSecret": false } });
        if let Some(options) = choice["oneOf"].as_array_mut() {
            let description = "Provide a different answer in the note field.";
            options.push(json!({ "const": NONE, "title": NONE, "description": description }));
        }
        let note = json!({
            "type": "string", "title": "Additional answer or note",
            "_meta": { "codex": { "questionId": key, "role": "user_note", "isSecret": false } },
        });
        properties.push((key.clone(), choice));
        properties.push((note_key(&key), note));
    }
    properties
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
