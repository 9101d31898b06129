//! What the bridge adds to a response under `_meta`, where the dialect itself has no place for it.
//! Where that is and what it says is up to the dialect; none has it but for a reason or a remark.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::question::{Answer, Question, Reason};

/// The `_meta` of a response.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Meta {
    /// The bridge's own additions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub askbridge: Option<Additions>,
}

/// What the bridge adds to a response.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Additions {
    /// Why it was rejected: `user`, `cancelled`, `withdrawn`, `timeout`, `replied_in_chat`, `client_gone`,
    /// `session_closed`, `shutdown` or `policy`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What was remarked beside the answers, keyed by the field's place: `"0"` is the first.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<String, String>,
}

impl Meta {
    /// Says why it was rejected.
    pub(super) fn of_rejection(reason: Reason) -> Self {
        let additions = Additions { reason: Some(reason.name().to_owned()), ..Additions::default() };
        Meta { askbridge: Some(additions) }
    }

    /// Says the remarks on these fields, if there are any.
    pub(super) fn of_notes(
        question: &Question,
        answer: &Answer,
        unsaid: impl Fn(usize) -> bool,
    ) -> Option<Self> {
        let fields = question.fields.iter().enumerate().filter(|(index, _)| unsaid(*index));
        let notes: BTreeMap<_, _> = fields
            .filter_map(|(index, field)| Some((index.to_string(), answer.notes.get(&field.name)?.clone())))
            .collect();
        let additions = Additions { reason: None, notes };
        (additions != Additions::default()).then_some(Meta { askbridge: Some(additions) })
    }
}
