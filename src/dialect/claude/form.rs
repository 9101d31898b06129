//! The forms of MCP servers, which Claude Code passes on: `elicitation` of the control protocol, and the hook of that
//! name. A page to open is left to Claude Code's own dialog.

use serde_json::{Value as Json, json, value::RawValue};

use crate::{
    dialect::{
        agent_dialect::Rejection,
        elicitation::{FormReply, content, reply, request},
        params::json as raw,
    },
    question::{Answer, Origin, Outcome, Question, Reason},
    wire::method::ELICITATION_CREATE,
};

/// How Claude Code wants the result of a form.
#[derive(Clone, Debug)]
pub struct ClaudeForm(FormReply);

/// Reads a form: the members of the control request, or those of the hook's input, which have the same names.
pub fn read_form(form: &Json, fallback_id: &str) -> Option<(Question, ClaudeForm)> {
    let message = form["message"].as_str().unwrap_or_default();
    let params = json!({
        "message": message,
        "mode": form["mode"].as_str().unwrap_or("form"),
        "requestedSchema": form.get("requested_schema")?,
    });
    let id = form["elicitation_id"].as_str().unwrap_or(fallback_id);
    let (question, format) = request::read(ELICITATION_CREATE, params.to_string().as_bytes(), id).ok()??;
    let title = form["title"].as_str().map(str::to_owned).or_else(|| {
        let server = form["display_name"].as_str().or_else(|| form["mcp_server_name"].as_str())?;
        Some(format!("The MCP server {server} asks"))
    });
    let question = Question { title, origin: Origin::Claude, ..question };
    question.check_limits().is_ok().then_some((question, ClaudeForm(format)))
}

impl ClaudeForm {
    /// Writes an outcome as `{"action":…,"content":…}`. Returns `None` for an end that the person did not choose.
    pub fn write(&self, question: &Question, outcome: &Outcome) -> Option<Box<RawValue>> {
        match outcome {
            Outcome::Answered(answer) => Some(self.write_answer(question, answer)),
            Outcome::Rejected(reason @ (Reason::User | Reason::Policy)) => {
                Some(self.write_rejection((*reason).into()))
            }
            _ => None,
        }
    }

    /// Writes an answer that fits the form.
    pub fn write_answer(&self, question: &Question, answer: &Answer) -> Box<RawValue> {
        let (content, _) = content::write_content(&self.0, question, answer);
        raw(&json!({ "action": "accept", "content": content }))
    }

    /// Writes a rejection: the person declines, every other reason cancels.
    pub fn write_rejection(&self, rejection: Rejection<'_>) -> Box<RawValue> {
        let action = if rejection.reason == Reason::User { "decline" } else { "cancel" };
        raw(&json!({ "action": action }))
    }

    /// Reads the result of another that was asked as well.
    pub fn read(&self, question: &Question, result: &[u8]) -> Option<Outcome> {
        reply::read_reply(&self.0, question, result)
    }
}
