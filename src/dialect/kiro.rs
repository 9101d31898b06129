//! Kiro's dialect, `_kiro/userInput`: one question, its options by their title, or any text.
//!
//! Source: notes on the types of Kiro's own client.

use serde::{Deserialize, Serialize};

use super::{asked::read_params, joined};
use crate::question::{Answer, Dialect, Field, FieldOption, Kind, Outcome, Question, Reason, Value};

/// The request's method.
pub const METHOD: &str = "_kiro/userInput";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Params {
    session_id: Option<String>,
    tool_call_id: Option<String>,
    question: String,
    options: Option<Vec<Choice>>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "an option is a text or an object with a title")]
enum Choice {
    Title(String),
    Object {
        title: String,
        description: Option<String>,
        #[serde(default)]
        recommended: Option<bool>,
    },
}

/// Reads the `params` of a request.
pub fn read(params: &[u8], made_up: &str) -> Result<Question, String> {
    let Params { session_id, tool_call_id, question, options } = read_params(params)?;
    let mut default = None;
    let options = options.unwrap_or_default().into_iter().map(|choice| {
        let (title, description, recommended) = match choice {
            Choice::Title(title) => (title, None, false),
            Choice::Object { title, description, recommended } => {
                (title, description, recommended == Some(true))
            }
        };
        if recommended {
            default.get_or_insert_with(|| title.clone());
        }
        FieldOption { value: title.clone(), label: title, description, preview: None }
    });
    let options: Vec<_> = options.collect();
    let kind =
        if options.is_empty() { Kind::free_text() } else { Kind::Choice { options, other: true, default } };
    let field = Field {
        name: "q0".to_owned(),
        label: question,
        header: None,
        help: None,
        required: true,
        secret: false,
        kind,
    };
    Ok(Question {
        session: session_id,
        request: None,
        id: made_up.to_owned(),
        title: None,
        message: String::new(),
        fields: vec![field],
        submit: None,
        tool_call: tool_call_id,
        dialect: Dialect::Kiro,
        dangerous: false,
        blocking: true,
        timeout: None,
    })
}

/// The `result` of a request.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "lowercase")]
pub enum Response {
    /// Somebody answered.
    Answered {
        /// The title of the option, or what was typed.
        answer: String,
    },
    /// Nobody will answer.
    Dismissed,
}

/// Says an answer.
pub fn answered(question: &Question, answer: &Answer) -> Response {
    let Some(field) = question.fields.first() else { return Response::Dismissed };
    match answer.values.get(&field.name) {
        Some(Value::Text(text)) => {
            Response::Answered { answer: joined::with_note(text.clone(), answer.notes.get(&field.name)) }
        }
        _ => Response::Dismissed,
    }
}

/// Says a rejection: there is only one.
pub fn rejected() -> Response {
    Response::Dismissed
}

/// Reads what a client said that knows this dialect.
pub fn reply(question: &Question, result: &[u8]) -> Option<Outcome> {
    match serde_json::from_slice(result).ok()? {
        Response::Answered { answer } => {
            let name = question.fields.first()?.name.clone();
            let values = [(name, Value::Text(answer))].into();
            Some(Outcome::Answered(Answer { values, ..Answer::default() }))
        }
        Response::Dismissed => Some(Outcome::Rejected(Reason::User)),
    }
}
