//! The parameters and the result of `question_history`, which `GET /v1/history` shares.

use askbridge_core::desk::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    inbox::{HistoryFilter, MissingHistory, PROTOCOL, PastQuestion, PastQuestions},
    limits,
};

/// Selects past questions. Each member narrows the list; without members, all are listed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(title = "HistoryParams"))]
pub struct HistoryParams {
    /// Words that must all occur in the question, its outcome, or the name of its agent, project or
    /// responder.
    pub search: Option<String>,
    /// The session.
    pub session: Option<String>,
    /// The project's folder, or a folder above it.
    pub project: Option<String>,
    /// The kind of responder that settled it, such as `page`, or the name of the responder or rule.
    pub by: Option<String>,
    /// The earliest time at which it was settled (for a lost question: asked), by RFC 3339.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub since: Option<Timestamp>,
    /// The latest such time, to continue a list with older questions.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub until: Option<Timestamp>,
    /// The maximum number of questions: 50 by default, and at most 128.
    pub limit: Option<usize>,
}

impl HistoryParams {
    /// The names of the members.
    pub const NAMES: [&str; 7] = ["search", "session", "project", "by", "since", "until", "limit"];
}

impl From<HistoryParams> for HistoryFilter {
    fn from(params: HistoryParams) -> Self {
        let HistoryParams { search, session, project, by, since, until, limit } = params;
        let limit = limit.unwrap_or(limits::HISTORY).min(limits::REMEMBERED);
        HistoryFilter { search, session, project, by, since, until, unsettled: false, limit: Some(limit) }
    }
}

impl From<HistoryFilter> for HistoryParams {
    fn from(filter: HistoryFilter) -> Self {
        let HistoryFilter { search, session, project, by, since, until, unsettled: _, limit } = filter;
        HistoryParams { search, session, project, by, since, until, limit }
    }
}

/// Questions of the past.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", schemars(title = "HistoryListing"))]
pub struct HistoryListing {
    /// The version of the control protocol.
    pub protocol: u32,
    /// The questions, latest first. They cannot be answered.
    pub questions: Vec<PastQuestion>,
    /// The machines whose questions are missing in the list, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<MissingHistory>,
}

impl From<PastQuestions> for HistoryListing {
    fn from(past: PastQuestions) -> Self {
        let PastQuestions { questions, missing } = past;
        HistoryListing { protocol: PROTOCOL, questions, missing }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_are_those_of_the_members() {
        let members = serde_json::to_value(HistoryParams::default()).unwrap();
        let members: std::collections::BTreeSet<_> = members.as_object().unwrap().keys().cloned().collect();
        assert_eq!(members, HistoryParams::NAMES.map(str::to_owned).into());
    }
}
