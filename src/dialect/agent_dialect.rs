//! What every dialect provides: its method names, how a request is read, and how the agent is answered.
//! The list of all dialects is left to `registry.rs`.

use serde_json::value::RawValue;

use crate::question::{Answer, Outcome, Question, Reason};

/// A dialect in which agents ask questions.
///
/// The implementing type is the format of the reply: what a request says about how its agent wants to be answered,
/// beyond the question itself. For most dialects it is a unit struct.
pub trait AgentDialect: Sized {
    /// The methods of requests that may be questions in this dialect.
    const METHODS: &'static [&'static str];

    /// Reads a request as a question. `fallback_id` is the question's id if the agent did not name it.
    ///
    /// Returns `None` if the request is not a question, and goes on to the client unchanged. The error says what is
    /// wrong and where, for the agent's developer.
    fn read(method: &str, params: &[u8], fallback_id: &str) -> Result<Option<(Question, Self)>, String>;

    /// Writes an answer that fits the question, as the `result` for the agent.
    fn write_answer(&self, question: &Question, answer: &Answer) -> Box<RawValue>;

    /// Writes a rejection, as the `result` for the agent. The remark is left out where the dialect has no place for it.
    fn write_rejection(&self, rejection: Rejection<'_>) -> Box<RawValue>;

    /// Reads the `result` of a client that was sent the agent's own request.
    ///
    /// The default understands nothing. It is right for a dialect that no client declares support for: the bridge
    /// translates its requests, so no client ever replies to one.
    fn read_reply(&self, _question: &Question, _result: &[u8]) -> Reply {
        Reply::Unknown
    }
}

/// Why a question is rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rejection<'a> {
    /// The reason.
    pub reason: Reason,
    /// The person's own words.
    pub remark: Option<&'a str>,
}

impl From<Reason> for Rejection<'_> {
    fn from(reason: Reason) -> Self {
        Rejection { reason, remark: None }
    }
}

/// The meaning of a client's `result`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Reply {
    /// It has the shape that the agent expects, and is forwarded unchanged.
    Canonical(Outcome),
    /// It has another shape, and is replaced by this `result`.
    Translated(Outcome, Box<RawValue>),
    /// It has no known meaning. It is forwarded unchanged, because the agent may understand it.
    Unknown,
}
