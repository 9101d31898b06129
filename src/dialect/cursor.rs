//! Cursor's dialect, `cursor/ask_question`: choices by id, without free texts, and without a session.
//!
//! Source: Cursor's documentation of its extensions, and the code of clients that take them.

use serde::{Deserialize, Serialize};

use super::asked::read_params;
use crate::question::{Answer, Dialect, Field, FieldOption, Kind, Question, Reason, Value};

/// The request's method.
pub const METHOD: &str = "cursor/ask_question";

/// What the methods of Cursor's other extensions begin with, and this one's.
pub const PREFIX: &str = "cursor/";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    session_id: Option<String>,
    tool_call_id: Option<String>,
    title: Option<String>,
    questions: Vec<Asking>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Asking {
    id: String,
    prompt: String,
    #[serde(default)]
    options: Vec<Choice>,
    allow_multiple: Option<bool>,
}

#[derive(Deserialize)]
struct Choice {
    id: String,
    label: Option<String>,
}

/// Reads the `params` of a request.
pub fn read(params: &[u8], made_up: &str) -> Result<Question, String> {
    let Params { session_id, tool_call_id, title, questions } = read_params(params)?;
    Ok(Question {
        session: session_id,
        request: None,
        id: made_up.to_owned(),
        message: String::new(),
        title,
        fields: questions.into_iter().map(Asking::into_field).collect::<Result<_, _>>()?,
        submit: None,
        tool_call: tool_call_id,
        dialect: Dialect::Cursor,
        dangerous: false,
        blocking: true,
        timeout: None,
    })
}

impl Asking {
    fn into_field(self) -> Result<Field, String> {
        if self.options.is_empty() {
            return Err(format!("params.questions: {:?} has no options", self.id));
        }
        let options = self.options.into_iter().map(|Choice { id, label }| FieldOption {
            label: label.unwrap_or_else(|| id.clone()),
            value: id,
            ..FieldOption::default()
        });
        let options = options.collect();
        let kind = if self.allow_multiple.unwrap_or(false) {
            Kind::Choices { options, other: false, min: None, max: None, default: Vec::new() }
        } else {
            Kind::Choice { options, other: false, default: None }
        };
        Ok(Field {
            name: self.id,
            label: self.prompt,
            header: None,
            help: None,
            required: true,
            secret: false,
            kind,
        })
    }
}

/// The `result` of a request.
#[derive(Debug, Serialize)]
pub struct Response {
    outcome: Outcome,
}

#[derive(Debug, Serialize)]
#[serde(tag = "outcome", rename_all = "lowercase")]
enum Outcome {
    Answered { answers: Vec<Selected> },
    Skipped { reason: &'static str },
    Cancelled,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Selected {
    question_id: String,
    selected_option_ids: Vec<String>,
}

/// Says an answer.
pub fn answered(question: &Question, answer: &Answer) -> Response {
    let answers = question.fields.iter().map(|field| Selected {
        question_id: field.name.clone(),
        selected_option_ids: match answer.values.get(&field.name) {
            Some(Value::Text(id)) => vec![id.clone()],
            Some(Value::Many(ids)) => ids.clone(),
            _ => Vec::new(),
        },
    });
    Response { outcome: Outcome::Answered { answers: answers.collect() } }
}

/// Says a rejection. Only a person skips.
pub fn rejected(reason: Reason) -> Response {
    let outcome = match reason {
        Reason::User => Outcome::Skipped { reason: "the user did not want to answer" },
        _ => Outcome::Cancelled,
    };
    Response { outcome }
}
