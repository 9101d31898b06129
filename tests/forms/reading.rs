//! A form as the core reads it, and answers to it as a person types them.

use askbridge::present::{question::wanted, typed};
use askbridge_core::{
    dialect::elicitation::{FormReply, reply, request},
    question::{Answer, Field, Question, check},
};
use serde_json::{Value as Json, json};

/// A form that was read.
pub(super) struct Form {
    pub(super) question: Question,
    pub(super) format: FormReply,
}

impl Form {
    /// Reads the form of a schema.
    pub(super) fn of(schema: &Json) -> Self {
        let params = format!(r#"{{"sessionId":"s","message":"M","requestedSchema":{schema}}}"#);
        Self::read(&params)
    }

    /// Reads the `params` of a form.
    pub(super) fn read(params: &str) -> Self {
        let read = request::read("elicitation/create", params.as_bytes(), "q").expect("no mistake");
        let (question, format) = read.expect("a form");
        question.check_limits().expect("within the limits");
        Form { question, format }
    }

    /// Returns what a person sees of each field, in a line.
    pub(super) fn seen(&self) -> Vec<String> {
        self.question.fields.iter().map(seen).collect()
    }

    /// Returns what the asker gets for texts that are typed into the fields, or what the person is told.
    pub(super) fn typed(&self, texts: &[&str]) -> Result<Json, String> {
        let mut answer = Answer::default();
        for (field, text) in self.question.fields.iter().zip(texts).filter(|(_, text)| !text.is_empty()) {
            let value = typed::value(field, &[typed::TypedText::Value(text)], "hint");
            answer
                .values
                .insert(field.name.clone(), value.map_err(|wrong| format!("{} {wrong}", field.label))?);
        }
        self.answered(&answer)
    }

    /// Returns what the asker gets for an answer, or why it does not fit.
    pub(super) fn answered(&self, answer: &Answer) -> Result<Json, String> {
        check(&self.question, answer).map_err(|errors| {
            let errors = errors.iter().map(|error| format!("{} {}", error.field, error.message));
            errors.collect::<Vec<_>>().join("; ")
        })?;
        let result = reply::write_answer(&self.format, &self.question, answer);
        let result = serde_json::to_value(result).expect("JSON");
        Ok(match result["action"].as_str() {
            Some("accept") => result["content"].clone(),
            _ => json!(result["action"]),
        })
    }
}

fn seen(field: &Field) -> String {
    let labels: Vec<_> = field.kind.options().iter().map(|option| option.label.as_str()).collect();
    let options = if labels.is_empty() { String::new() } else { format!(": {}", labels.join(" · ")) };
    let header = field.header.as_ref().map(|header| format!("{header}: ")).unwrap_or_default();
    let null = if field.nullable { ", or null" } else { "" };
    let secret = if field.secret { ", a secret" } else { "" };
    let optional = if field.required { "" } else { ", optional" };
    format!("{header}{}: {}{options}{null}{secret}{optional}", field.label, wanted(&field.kind))
}
