//! What is known of the same question from before: the decision of a question that a dead bridge or a dead agent left.
//! Which questions count as the same, and where that is kept, is left to the journal.

use serde::{Deserialize, Serialize};

use super::{QuestionId, Timestamp};
use crate::question::{Outcome, Provenance};

/// The decision about an earlier question that is the same as one that is open now.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", schemars(title = "Earlier"))]
pub struct EarlierDecision {
    /// The ID of the earlier question.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub id: QuestionId,
    /// What was decided.
    pub outcome: Outcome,
    /// The responder that decided it.
    pub by: Provenance,
    /// When it was decided, by RFC 3339.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub at: Timestamp,
    /// Whether the asker got it, as far as that was noted.
    pub was_delivered: bool,
    /// Whether the asker may have got it all the same: its delivery had begun when the bridge or the agent ended. Where
    /// neither is so, nothing of it was given to the asker.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_have_arrived: bool,
}
