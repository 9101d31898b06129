//! What the bridge adds to a response under `_meta`: the reason of a rejection, and notes beside an answer.
//! Whether a response has a `_meta`, and which notes go there, is left to the dialect.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::agent_dialect::Rejection;
use crate::question::{Answer, Question};

/// The `_meta` of a response.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Meta"))]
pub struct ReplyMeta {
    /// The bridge's own additions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub askbridge: Option<ReplyAdditions>,
}

/// What the bridge adds to a response.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "Additions"))]
pub struct ReplyAdditions {
    /// Why it was rejected: `user`, `cancelled`, `withdrawn`, `timeout`, `replied_in_chat`, `client_gone`,
    /// `session_closed`, `shutdown` or `policy`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Why it was rejected, in the person's own words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remark: Option<String>,
    /// What was remarked beside the answers, keyed by the field's place: `"0"` is the first.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<String, String>,
}

impl ReplyMeta {
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
