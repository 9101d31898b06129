//! Questions of the past as a ledger keeps them, and the filter that selects among them.

use std::sync::Arc;

use askbridge_core::desk::{LostQuestion, MachineName, QuestionId, Record, Settlement, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Which questions of the past are listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HistoryFilter {
    /// Only questions whose texts contain each of these words: the question, its agent and project, the decision, the
    /// responder.
    pub search: Option<String>,
    /// Only questions of this session.
    pub session: Option<String>,
    /// Only questions of this project's folder, or of a folder below it.
    pub project: Option<String>,
    /// Only questions settled by this kind of responder, or by the responder or rule of this name.
    pub by: Option<String>,
    /// Only questions settled at this time or later. A question without a settlement counts by its opening.
    pub since: Option<Timestamp>,
    /// Only questions settled at this time or earlier. A question without a settlement counts by its opening.
    pub until: Option<Timestamp>,
    /// Only questions that were not settled.
    pub unsettled: bool,
    /// How many of the latest are listed at most. `None` lists all.
    pub limit: Option<usize>,
}

/// A question of the past.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PastQuestion {
    /// The number of its settlement. Absent where it was not settled: it is open, or lost.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<i64>,
    /// The question, as it was last recorded.
    pub record: Record,
    /// The decision, if it is unknown whether the asker received it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted: Option<Settlement>,
    /// Whether the asker may have received the decision: its delivery had begun.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_have_arrived: bool,
    /// The later question to which the decision was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub claimed_by: Option<QuestionId>,
}

impl PastQuestion {
    /// Returns when it was settled, or when it opened if it was not: the latest is listed first.
    pub fn ended_at(&self) -> Timestamp {
        self.record.settlement.as_ref().map_or(self.record.opened_at, |settlement| settlement.at)
    }
}

impl From<LostQuestion> for PastQuestion {
    fn from(lost: LostQuestion) -> Self {
        let LostQuestion { record, accepted, may_have_arrived, replaced_by: claimed_by } = lost;
        PastQuestion {
            seq: None,
            record: Arc::unwrap_or_clone(record),
            accepted,
            may_have_arrived,
            claimed_by,
        }
    }
}

/// Questions of the past, and the machines whose questions are missing among them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PastQuestions {
    /// The questions, the latest first.
    pub questions: Vec<PastQuestion>,
    /// The machines whose history is missing, in the order of their names.
    pub missing: Vec<MissingHistory>,
}

/// A machine whose history is missing in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "MissingHistory"))]
pub struct MissingHistory {
    /// The name of the machine.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub machine: MachineName,
    /// Why its history is missing.
    pub problem: String,
}

/// The words of a search, in lower case.
#[derive(Debug)]
pub struct SearchWords(Vec<String>);

impl SearchWords {
    /// Splits a search at its white space.
    pub fn new(search: &str) -> Self {
        SearchWords(search.to_lowercase().split_whitespace().map(str::to_owned).collect())
    }

    /// Returns whether the texts of the question and of its outcome contain each word.
    pub fn are_in(&self, past: &PastQuestion) -> bool {
        if self.0.is_empty() {
            return true;
        }
        let ended = past.record.settlement.as_deref().or(past.accepted.as_ref());
        let mut texts = past.record.id.to_string();
        for part in [serde_json::to_value(&past.record.question), serde_json::to_value(ended)] {
            // Only the values are searched: the names of members, such as `title`, are the same in every question.
            collect(&part.unwrap_or_default(), &mut texts);
        }
        let texts = texts.to_lowercase();
        self.0.iter().all(|word| texts.contains(word))
    }
}

/// Adds the texts of a value, each on a line of its own.
fn collect(value: &Value, texts: &mut String) {
    match value {
        Value::String(text) => {
            texts.push('\n');
            texts.push_str(text);
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        Value::Object(members) => members.values().for_each(|member| collect(member, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
