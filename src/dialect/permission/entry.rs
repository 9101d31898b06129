//! Permission requests as a dialect that agents ask in.

use serde_json::value::RawValue;

use super::{PermissionReply, request, response};
use crate::{
    dialect::{
        agent_dialect::{AgentDialect, Rejection},
        params::json,
    },
    question::{Answer, Question},
    wire::method::REQUEST_PERMISSION,
};

impl AgentDialect for PermissionReply {
    const METHODS: &'static [&'static str] = &[REQUEST_PERMISSION];

    fn read(_method: &str, params: &[u8], fallback_id: &str) -> Result<Option<(Question, Self)>, String> {
        let read = request::read(params, fallback_id)?;
        // A question beyond the limits is usually refused. This one is also a complete permission request whose
        // options are the answers, so any client can show it as it is.
        Ok(read.filter(|(question, format)| match format {
            PermissionReply::Option { .. } => question.check_limits().is_ok(),
            PermissionReply::Answers { .. } => true,
        }))
    }

    fn write_answer(&self, question: &Question, answer: &Answer) -> Box<RawValue> {
        json(&response::write_answer(self, question, answer))
    }

    fn write_rejection(&self, rejection: Rejection<'_>) -> Box<RawValue> {
        json(&response::write_rejection(self, rejection))
    }
}
