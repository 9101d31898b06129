//! Reads a response, and says what the agent says then. How a question is asked is left to `question.rs`, and reading
//! the response of each dialect to `forms.rs` and `extensions.rs`.

use serde_json::{Value, json, value::RawValue};

use super::{
    question::MockQuestion,
    response::{NonAnswer, QuestionResponse},
};
use crate::{
    MockDialect,
    message::{CANCELLED, RpcError},
};

impl MockQuestion {
    /// Reads the response as strictly as the dialect's real agent does.
    pub(crate) fn read_response(&self, outcome: Result<&RawValue, &RpcError>) -> QuestionResponse {
        let result = match outcome {
            Ok(result) => result.get(),
            Err(error) => return QuestionResponse::Failed(error.clone()),
        };
        let response = (self.dialect.spec().read)(self, result);
        response.unwrap_or_else(|| QuestionResponse::Garbled(result.to_owned()))
    }

    /// Returns the sentence in which the agent reports the response and its consequence.
    pub(crate) fn report(&self, response: &QuestionResponse) -> String {
        let consequence = self.consequence(response).map(|what| format!(" ({what})")).unwrap_or_default();
        let report = format!("{}{consequence}", response.sentence());
        match self.place {
            Some(_) => format!("[{}] {report}", self.id()),
            None => report,
        }
    }

    /// Returns the text that the agent's model gets instead of an answer, if that text is known.
    fn consequence(&self, response: &QuestionResponse) -> Option<&'static str> {
        match (self.dialect, response) {
            (MockDialect::Claude, QuestionResponse::Failed(_)) => {
                Some("could not present the question to the user")
            }
            (MockDialect::Claude, QuestionResponse::Unanswered(NonAnswer::Cancelled, _)) => {
                Some("tool use aborted")
            }
            (MockDialect::Claude, _) if response.is_empty() => Some("the user did not answer the questions"),
            (MockDialect::Codex | MockDialect::CodexAsync, QuestionResponse::Failed(_)) => Some("no answers"),
            (MockDialect::Codex | MockDialect::CodexAsync, _) if response.is_empty() => Some("no answers"),
            (MockDialect::Kimi, QuestionResponse::Failed(_)) if self.falls_back(response) => {
                Some("asking for permission instead")
            }
            (MockDialect::Kimi | MockDialect::KimiPermission, _) if response.is_empty() => Some("dismissed"),
            (MockDialect::Qwen, QuestionResponse::Answered(_)) if response.is_empty() => {
                Some("No valid answers were provided")
            }
            _ => None,
        }
    }

    /// Returns the question that the agent asks instead if this one failed: only Kimi has such a fallback.
    pub(crate) fn fallback(&self, response: &QuestionResponse) -> Option<Self> {
        self.falls_back(response).then(|| Self { dialect: MockDialect::KimiPermission, ..self.clone() })
    }

    /// Kimi falls back on any error except a cancellation.
    fn falls_back(&self, response: &QuestionResponse) -> bool {
        let failed = matches!(response, QuestionResponse::Failed(error) if error.code != CANCELLED);
        self.dialect == MockDialect::Kimi && failed
    }

    /// Returns the `tool_call` update that precedes the question, if the dialect has one.
    pub(crate) fn announcement(&self) -> Option<Value> {
        self.has_tool_call().then(|| {
            json!({
                "sessionUpdate": "tool_call", "toolCallId": self.tool_call(), "status": "pending",
                "kind": "other", "title": "AskUserQuestion",
            })
        })
    }

    /// Returns the `tool_call_update` that follows the response, if the dialect has one.
    pub(crate) fn conclusion(&self, response: &QuestionResponse) -> Option<Value> {
        let failed = matches!(
            response,
            QuestionResponse::Failed(_)
                | QuestionResponse::Garbled(_)
                | QuestionResponse::Unanswered(NonAnswer::Cancelled, _)
        );
        let status = if failed { "failed" } else { "completed" };
        self.has_tool_call().then(|| {
            json!({ "sessionUpdate": "tool_call_update", "toolCallId": self.tool_call(), "status": status })
        })
    }

    /// Cursor's question has no session ID: a client finds the session by the tool call of an earlier update.
    fn has_tool_call(&self) -> bool {
        matches!(self.dialect, MockDialect::Claude | MockDialect::Cursor)
    }
}
