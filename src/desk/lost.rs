//! A question that died with its bridge, and what is known of its decision. Which questions these are, and where that is
//! kept, is left to the journal.

use std::sync::Arc;

use serde::Serialize;

use super::{QuestionId, Record, Settlement};
use crate::question::{Outcome, Purpose};

/// A question that was open when its bridge ended.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", schemars(title = "LostQuestion"))]
pub struct LostQuestion {
    /// The record, as it was noted last. Its state is `lost`.
    #[serde(flatten)]
    #[cfg_attr(feature = "schema", schemars(with = "Record"))]
    pub record: Arc<Record>,
    /// What was decided, where it is not known that the asker got it. When the same session asks the same again, it is
    /// given by itself or offered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted: Option<Settlement>,
    /// Whether the asker may have got what was decided: its delivery had begun.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub may_have_arrived: bool,
    /// The question that is the same and came later.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub replaced_by: Option<QuestionId>,
}

impl LostQuestion {
    /// Returns whether it has an answer, of which it is not known that the asker got it.
    pub fn has_answer(&self) -> bool {
        self.accepted.as_ref().is_some_and(|accepted| matches!(accepted.outcome, Outcome::Answered(_)))
    }

    /// Returns whether its answer is given by itself when exactly the same is asked again.
    pub fn is_given_again(&self) -> bool {
        let asked = &self.record.question;
        self.has_answer()
            && !self.may_have_arrived
            && !asked.dangerous
            && asked.purpose != Purpose::Permission
    }

    /// Returns about how many bytes it takes as JSON.
    pub fn size(&self) -> usize {
        self.record.size() + self.accepted.as_ref().map_or(0, Settlement::most_json)
    }
}
