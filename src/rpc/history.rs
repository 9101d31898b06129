//! The parameters and the result of `question_history`, which `GET /v1/history` shares.

use askbridge_core::desk::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{
    inbox::past::{HistoryFilter, PastQuestion},
    limits,
};

/// Which questions of the past are listed. Without a member, all are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", schemars(title = "HistoryParams"))]
pub struct HistoryParams {
    /// Words, each of which is in the texts of the question or of its end, or in the name of its agent, project or
    /// responder.
    pub search: Option<String>,
    /// The session.
    pub session: Option<String>,
    /// The project's folder, or one that it is in.
    pub project: Option<String>,
    /// The kind of responder that settled it, such as `page`, or the name of the responder or rule.
    pub by: Option<String>,
    /// The time that it was settled, or asked if it is lost, at the earliest, by RFC 3339.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub since: Option<Timestamp>,
    /// The time at the latest, to list what is older than a list.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub until: Option<Timestamp>,
    /// The most that are listed: 50 by default, and 128 at most.
    pub limit: Option<usize>,
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
}
