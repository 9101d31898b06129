//! The native extension as a dialect that agents ask in.

use serde_json::value::RawValue;

use super::{reply, request, response};
use crate::{
    dialect::{
        agent_dialect::{AgentDialect, Rejection, Reply},
        params::json,
    },
    question::{Answer, Question},
    wire::method::REQUEST_QUESTION,
};

/// The reply format of the native dialect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExtensionReply;

impl AgentDialect for ExtensionReply {
    const METHODS: &'static [&'static str] = &[REQUEST_QUESTION];

    fn read(_method: &str, params: &[u8], fallback_id: &str) -> Result<Option<(Question, Self)>, String> {
        Ok(Some((request::read(params, fallback_id)?, ExtensionReply)))
    }

    fn write_answer(&self, question: &Question, answer: &Answer) -> Box<RawValue> {
        json(&response::write_answer(question, answer))
    }

    fn write_rejection(&self, rejection: Rejection<'_>) -> Box<RawValue> {
        json(&response::write_rejection(rejection))
    }

    fn read_reply(&self, question: &Question, result: &[u8]) -> Reply {
        reply::read(result, question)
    }
}
