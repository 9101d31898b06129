//! The trait of all dialects: method names, reading a request, and answering the agent; and `_meta`, with which the
//! bridge adds the reason of a rejection, and notes beside an answer, to a response. The list of all dialects is left
//! to `registry.rs`, and which responses have a `_meta` to each dialect.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{
    question::{Answer, Outcome, Question, Reason},
    wire::scan,
};

/// A dialect in which agents ask questions.
///
/// The implementing type is the reply format: the parts of a request that decide how its response is written, beyond
/// the question itself. For most dialects, it is a unit struct.
pub trait AgentDialect: Sized {
    /// The methods of requests that may be questions in this dialect.
    const METHODS: &'static [&'static str];

    /// The method whose requests some clients show themselves, and which clients those are. `None` if the bridge
    /// translates every request.
    const SHOWN_BY: Option<(&'static str, ShownBy)>;

    /// Returns whether a request with this method may be a question in this dialect.
    fn reads(method: &str) -> bool {
        Self::METHODS.contains(&method)
    }

    /// Returns which clients show the request that this format was read from.
    fn shown_by(&self) -> Option<ShownBy> {
        Self::SHOWN_BY.map(|(_, clients)| clients)
    }

    /// Reads a request as a question. `fallback_id` is the question's id if the agent did not name it.
    ///
    /// Returns `None` if the request is not a question, and is forwarded unchanged. The error says what is
    /// wrong and where, for the agent's developer.
    fn read(method: &str, params: &[u8], fallback_id: &str) -> Result<Option<(Question, Self)>, String>;

    /// Writes an answer that fits the question, as the `result` for the agent.
    fn write_answer(&self, question: &Question, answer: &Answer) -> Box<RawValue>;

    /// Writes a rejection, as the `result` for the agent. The remark is left out if the dialect has no place for it.
    fn write_rejection(&self, rejection: Rejection<'_>) -> Box<RawValue>;

    /// Reads the `result` of a client that was sent the agent's own request.
    ///
    /// The default understands nothing. It is right for a dialect that no client declares support for: the bridge
    /// translates its requests, so no client ever replies to one.
    fn read_reply(&self, _question: &Question, _result: &[u8]) -> Reply {
        Reply::Unknown
    }
}

/// The clients that show an agent's own request. The bridge forwards the request to them unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShownBy {
    /// Every client.
    All,
    /// Those that understand the extension `_sandboxagent/session/request_question`.
    Extension,
    /// Those that show forms.
    Forms,
    /// Those that show Kiro's questions.
    Kiro,
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
pub enum Reply {
    /// It has the shape that the agent expects, and is forwarded unchanged.
    Canonical(Outcome),
    /// It has another shape, and is replaced by this `result`.
    Translated(Outcome, Box<RawValue>),
    /// It has no known meaning. It is forwarded unchanged, because the agent may understand it.
    Unknown,
}

/// The `_meta` of a response.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Meta"))]
pub struct ReplyMeta {
    /// The bridge's own additions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub askbridge: Option<ReplyAdditions>,
}

/// The additions of the bridge to a response.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Additions"))]
pub struct ReplyAdditions {
    /// Why it was rejected: `user`, `cancelled`, `withdrawn`, `call_ended`, `timeout`, `replied_in_chat`, `client_gone`,
    /// `session_closed`, `shutdown` or `policy`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Why it was rejected, in the person's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
    /// The notes beside the answers, keyed by the field's place: `"0"` is the first.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<String, String>,
}

impl ReplyMeta {
    /// Returns whether a client's `result` says why it is a rejection, as only another bridge does.
    pub fn has_reason(result: &[u8]) -> bool {
        let path = ["_meta", "askbridge", "reason"];
        path.iter().try_fold(result, |json, name| scan::member(json, name)).is_some()
    }

    /// Returns the `_meta` of a rejection.
    pub(super) fn of_rejection(rejection: Rejection<'_>) -> Self {
        let additions = ReplyAdditions {
            reason: Some(rejection.reason.name().to_owned()),
            remark: rejection.remark.map(str::to_owned),
            ..ReplyAdditions::default()
        };
        ReplyMeta { askbridge: Some(additions) }
    }

    /// Returns the `_meta` with the notes on the fields in these places, if there are any.
    pub(super) fn of_notes(
        question: &Question,
        answer: &Answer,
        goes_here: impl Fn(usize) -> bool,
    ) -> Option<Self> {
        let fields = question.fields.iter().enumerate().filter(|(index, _)| goes_here(*index));
        let notes: BTreeMap<_, _> = fields
            .filter_map(|(index, field)| Some((index.to_string(), answer.notes.get(&field.name)?.clone())))
            .collect();
        let additions = ReplyAdditions { notes, ..ReplyAdditions::default() };
        (additions != ReplyAdditions::default()).then_some(ReplyMeta { askbridge: Some(additions) })
    }
}
