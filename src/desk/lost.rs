//! A question that died with its bridge, and what is known of its decision. Which questions these are, and where that is
//! kept, is left to the journal.

use std::sync::Arc;

use serde::Serialize;

use super::{QuestionId, Record, Settlement};

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
    /// What was decided and never delivered. It is given by itself when the same session asks the same again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted: Option<Settlement>,
    /// The question that is the same and came later.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub replaced_by: Option<QuestionId>,
}

impl LostQuestion {
    /// Returns about how many bytes it takes as JSON.
    pub fn size(&self) -> usize {
        self.record.size() + self.accepted.as_ref().map_or(0, Settlement::most_json)
    }
}
