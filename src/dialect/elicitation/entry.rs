//! Forms as a dialect that agents ask in.

use serde_json::value::RawValue;

use super::{FormReply, reply, request, response};
use crate::{
    dialect::{
        agent_dialect::{AgentDialect, Rejection, Reply},
        params::json,
    },
    question::{Answer, Question},
    wire::method::{ELICITATION_CREATE, LEGACY_ELICITATIONS, LEGACY_NESTED_ELICITATIONS},
};

impl AgentDialect for FormReply {
    const METHODS: &'static [&'static str] = &[
        ELICITATION_CREATE,
        LEGACY_ELICITATIONS[0],
        LEGACY_ELICITATIONS[1],
        LEGACY_NESTED_ELICITATIONS[0],
        LEGACY_NESTED_ELICITATIONS[1],
    ];

    fn read(method: &str, params: &[u8], fallback_id: &str) -> Result<Option<(Question, Self)>, String> {
        request::read(method, params, fallback_id)
    }

    fn write_answer(&self, question: &Question, answer: &Answer) -> Box<RawValue> {
        json(&response::write_answer(self, question, answer))
    }

    fn write_rejection(&self, rejection: Rejection<'_>) -> Box<RawValue> {
        json(&response::write_rejection(self, rejection))
    }

    fn read_reply(&self, question: &Question, result: &[u8]) -> Reply {
        reply::read_reply(self, question, result).map_or(Reply::Unknown, Reply::Canonical)
    }
}
