//! Codex's forms: titles are the questions, descriptions the headers, and each field has a note.
//! The asynchronous one is asked while Codex works on, and names no tool call.

use std::io;

use serde_json::{Value, json};

use super::{
    elicitation::{Form, by_label, content, property, text, values},
    field::Field,
    heard::{Answer, Heard},
    question::{Question, Request},
};

const NONE: &str = "None of the above";

pub(super) fn ask(question: &Question) -> io::Result<Request> {
    let fields = question.fields();
    let required = fields.iter().map(|field| field.id.to_owned()).collect();
    let mut form = Form::new(question, properties(&fields, id)).requiring(required);
    form.tool_call_id = Some(question.tool_call());
    form.message = "Codex needs your input to continue.".to_owned();
    form.meta = Some(json!({ "codex": { "autoResolutionMs": null } }));
    form.request()
}

pub(super) fn ask_async(question: &Question) -> io::Result<Request> {
    let mut form = Form::new(question, properties(&question.fields(), numbered));
    form.message =
        "Codex keeps working while you answer. An answer sent after it finishes is not delivered.".to_owned();
    form.meta = Some(json!({ "codex": { "delivery": "async" } }));
    form.request()
}

pub(super) fn hear(question: &Question, result: &str) -> Option<Heard> {
    answers(question, result, id)
}

pub(super) fn hear_async(question: &Question, result: &str) -> Option<Heard> {
    answers(question, result, numbered)
}

/// The key of a field, by its place.
type Key = fn(usize, &Field) -> String;

fn id(_: usize, field: &Field) -> String {
    field.id.to_owned()
}

fn numbered(at: usize, _: &Field) -> String {
    format!("question_{at}")
}

fn properties(fields: &[Field], key: Key) -> Vec<(String, Value)> {
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

fn answers(question: &Question, result: &str, key: Key) -> Option<Heard> {
    let content = match content(result)? {
        Ok(content) => content,
        Err(heard) => return Some(heard),
    };
    let fields = question.fields();
    let answers = fields.iter().enumerate().map(|(at, field)| {
        let key = key(at, field);
        let values = values(&content, &key, field.multiple)?;
        let answer = Answer::new(field, values, text(&content, &note_key(&key))?);
        // It is no text of the person's own: that stands in the note.
        Some(Answer { written: false, ..answer })
    });
    answers.collect::<Option<_>>().map(Heard::Answered)
}
