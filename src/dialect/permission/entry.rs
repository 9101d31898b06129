//! Permission requests as a dialect that agents ask in.

use serde_json::value::RawValue;

use super::{PermissionReply, request, response};
use crate::{
    dialect::{
        agent_dialect::{AgentDialect, Rejection, Reply},
        params::json,
    },
    question::{Answer, Question},
    wire::method::REQUEST_PERMISSION,
};

impl AgentDialect for PermissionReply {
    const METHODS: &'static [&'static str] = &[REQUEST_PERMISSION];

    fn read(_method: &str, params: &[u8], fallback_id: &str) -> Result<Option<(Question, Self)>, String> {
        let read = request::read(params, fallback_id)?;
        // A question beyond the limits is usually refused. These are also complete permission requests whose options
        // are the answers, so any client can show them as they are.
        Ok(read.filter(|(question, format)| match format {
            PermissionReply::Option { .. } | PermissionReply::Grant { .. } => question.check_limits().is_ok(),
            PermissionReply::Answers { .. } => true,
        }))
    }

    fn read_reply(&self, question: &Question, result: &[u8]) -> Reply {
        response::read_reply(self, question, result)
    }

    fn write_answer(&self, question: &Question, answer: &Answer) -> Box<RawValue> {
        json(&response::write_answer(self, question, answer))
    }

    fn write_rejection(&self, rejection: Rejection<'_>) -> Box<RawValue> {
        json(&response::write_rejection(self, rejection))
    }
}
