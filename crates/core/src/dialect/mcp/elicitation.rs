//! One elicitation: a form, or a page to open; and its result.

use serde::Deserialize;
use serde_json::{json, value::RawValue};

use crate::{
    dialect::{
        agent_dialect::{Rejection, ReplyMeta},
        elicitation::{FormReply, reply, request},
        values::{check_object, explain, json as raw},
    },
    limits,
    question::{Answer, Field, Kind, Link, Origin, Outcome, Question, Reason, Value},
    wire::{method::ELICITATION_CREATE, scan},
};

/// The way in which a server wants its person to be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// By a form.
    Form,
    /// By a page to open.
    Url,
}

impl Mode {
    /// Returns the mode in these `params`. `None` if it is another one.
    pub fn of(params: &[u8]) -> Option<Self> {
        match scan::member(params, "mode").and_then(scan::text).as_deref() {
            None | Some("form") => Some(Mode::Form),
            Some("url") => Some(Mode::Url),
            Some(_) => None,
        }
    }
}

/// The format of the result of an elicitation.
#[derive(Clone, Debug, PartialEq)]
pub enum ElicitationReply {
    /// The values of a form.
    Form(FormReply),
    /// Whether the person agreed to open the page.
    Page,
}

/// The `params` of a page to open. Since 2026-07-28, there is no ID.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PageParams {
    #[serde(default)]
    message: String,
    url: String,
}

/// The ID of a question whose asker gives it none, until the bridge makes one up.
pub(super) const UNNAMED: &str = "";

/// The only field of a page to open.
const OPENED: &str = "opened";

/// Reads the `params` of an elicitation. `None` if its mode is unknown.
///
/// # Errors
/// What is wrong, and where.
pub(super) fn read(params: &[u8]) -> Result<Option<(Question, ElicitationReply)>, String> {
    match Mode::of(params) {
        Some(Mode::Form) => {
            Ok(form(params)?.map(|(question, form)| (question, ElicitationReply::Form(form))))
        }
        Some(Mode::Url) => page(params).map(|question| Some((question, ElicitationReply::Page))),
        None => Ok(None),
    }
}

fn form(params: &[u8]) -> Result<Option<(Question, FormReply)>, String> {
    let Some((question, form)) = request::read(ELICITATION_CREATE, params, UNNAMED)? else { return Ok(None) };
    let question =
        Question { origin: Origin::McpServer, session: None, request: None, tool_call: None, ..question };
    question.check_limits()?;
    Ok(Some((question, form)))
}

fn page(params: &[u8]) -> Result<Question, String> {
    check_object(params)?;
    if params.len() > limits::QUESTION {
        return Err(format!(
            "a request has at most {} bytes, this one has {}",
            limits::QUESTION,
            params.len()
        ));
    }
    let PageParams { message, url } =
        serde_json::from_slice(params).map_err(|_| explain::<PageParams>("params", params))?;
    let link = Link::read(&url).map_err(|why| format!("params.url: {why}"))?;
    let kind = Kind::Confirm { yes: "I have opened it".to_owned(), no: "Decline".to_owned() };
    let label = format!("Open the page of {} in your browser, and say that you did.", link.host);
    let field = Field::new(OPENED.to_owned(), label, true, kind);
    let question = Question {
        message,
        links: vec![link],
        notes: false,
        ..Question::new(Origin::McpServer, UNNAMED, vec![field])
    };
    question.check_limits()?;
    Ok(question)
}

impl ElicitationReply {
    /// Returns how many bytes of the request it holds.
    pub fn bytes(&self) -> usize {
        match self {
            ElicitationReply::Form(form) => form.bytes(),
            ElicitationReply::Page => 0,
        }
    }

    /// Writes an answer that fits the question, as a result.
    pub fn write_answer(&self, question: &Question, answer: &Answer) -> Box<RawValue> {
        match self {
            ElicitationReply::Form(form) => raw(&reply::write_answer(form, question, answer)),
            ElicitationReply::Page if is_opened(answer) => raw(&json!({ "action": "accept" })),
            ElicitationReply::Page => self.write_rejection(Reason::User.into()),
        }
    }

    /// Writes a rejection, as a result. Only the person declines.
    pub fn write_rejection(&self, rejection: Rejection<'_>) -> Box<RawValue> {
        match self {
            ElicitationReply::Form(form) => raw(&reply::write_rejection(form, rejection)),
            ElicitationReply::Page => {
                let action = if rejection.reason == Reason::User { "decline" } else { "cancel" };
                raw(&json!({ "action": action, "_meta": ReplyMeta::of_rejection(rejection) }))
            }
        }
    }

    /// Reads the result of a host. `None` if it has no known meaning.
    pub fn read(&self, question: &Question, result: &[u8]) -> Option<Outcome> {
        match self {
            ElicitationReply::Form(form) => reply::read_reply(form, question, result),
            ElicitationReply::Page => match &*scan::text(scan::member(result, "action")?)? {
                "accept" => {
                    let values = [(OPENED.to_owned(), Value::Flag(true))].into();
                    Some(Outcome::Answered(Answer { values, ..Answer::default() }))
                }
                "decline" => Some(Outcome::Rejected(Reason::User)),
                "cancel" => Some(Outcome::Rejected(Reason::Cancelled)),
                _ => None,
            },
        }
    }

    /// Returns whether whoever accepts says no more than yes.
    pub fn is_consent(&self) -> bool {
        match self {
            ElicitationReply::Form(form) => form.consent,
            ElicitationReply::Page => true,
        }
    }
}

/// Returns whether the person says that the page was opened.
pub(super) fn is_opened(answer: &Answer) -> bool {
    answer.values.get(OPENED) == Some(&Value::Flag(true))
}
