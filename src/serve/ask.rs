//! Asking a question over REST: `POST /v1/questions` waits until the question is settled, and returns how. Where the
//! question waits, and that it is withdrawn when the request is dropped, is left to the inbox.

use std::time::Duration;

use axum::{body::Bytes, extract::State, http::HeaderMap, response::Response};
use serde::{Deserialize, Serialize};

use super::{app::App, body, problem::Problem, window};
use crate::{
    control::inbox::Inbox,
    question::{Field, Origin, Question},
};

const QUESTION: &str = r#"{"message":"TEXT","fields":[{"name":"NAME","label":"TEXT","kind":"text"}]}"#;

/// The ID of a question whose asker gave it none, as `askbridge ask` names its own.
const UNNAMED: &str = "ask";

/// A question to ask: the members of a question that its asker chooses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(feature = "schema", schemars(title = "NewQuestion"))]
pub struct NewQuestion {
    /// The session that the question belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// The asker's own ID of the question; `ask` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question_id: Option<String>,
    /// The name of the program that asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The directory that the program works in, as an absolute path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// The subject of the question, in a few words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The question that the form as a whole asks. Empty if the labels of the fields say it all.
    #[serde(default)]
    pub message: String,
    /// The fields to fill in; at least one.
    pub fields: Vec<Field>,
    /// The label of the button that sends the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub submit: Option<String>,
    /// Whether a wrong answer can do harm.
    #[serde(default)]
    pub dangerous: bool,
    /// How long to wait for an answer, in milliseconds. By default, there is no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
}

impl From<NewQuestion> for Question {
    fn from(new: NewQuestion) -> Self {
        let id = new.question_id.as_deref().unwrap_or(UNNAMED);
        Question {
            session: new.session_id.filter(|session| !session.is_empty()),
            agent: new.agent.map(Into::into),
            project: new.project.map(Into::into),
            title: new.title,
            message: new.message,
            submit: new.submit,
            dangerous: new.dangerous,
            timeout: new.timeout_ms.map(Duration::from_millis),
            ..Question::new(Origin::Program, id, new.fields)
        }
    }
}

/// Asks a question, and returns how it was settled. hyper drops this future when the client disconnects, which withdraws
/// the question.
pub(super) async fn ask<I: Inbox>(
    State(app): State<App<I>>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    let question: NewQuestion = body::read(&headers, body, QUESTION)?;
    Ok(window::json(app.inbox.ask(question.into()).await?))
}
