//! The open questions as JSON: the records, and beside each what a list shows of it.
//! When it is printed is left to `command`.

use std::{path::PathBuf, sync::Arc};

use serde::Serialize;

use super::{bridges::Bridges, elsewhere::UnreachableBridges, text};
use crate::{
    control::traffic::PROTOCOL,
    desk::{LostQuestion, Record},
    machine::Gaps,
};

/// What `askbridge list --json` prints.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", schemars(title = "QuestionList"))]
pub struct QuestionList {
    /// The version of the control protocol.
    pub protocol: u32,
    /// Grows with each change while `--watch` goes on.
    pub revision: u64,
    /// The open questions, oldest first.
    pub questions: Vec<ListedQuestion>,
    /// Whether all open questions of the bridges in the directory of the sockets are listed. Where they are not, the
    /// members below say why.
    pub complete: bool,
    /// The sockets of bridges that did not reply.
    pub unreachable: Vec<PathBuf>,
    /// The sockets of bridges that were too busy to reply: they had too many connections or calls.
    pub busy: Vec<PathBuf>,
    /// The sockets of bridges that speak a protocol of a version before 1.
    pub older: Vec<PathBuf>,
    /// How many open questions are not listed because they need a newer askbridge.
    pub unreadable: usize,
    /// How many open questions are not listed because there is no room for them.
    pub left_out: usize,
    /// Questions that were open when their bridges ended, within the last day, oldest first. They cannot be answered.
    pub lost: Vec<LostQuestion>,
    /// Bridges that have open questions, and that this command could not ask: they are not where it looked.
    pub elsewhere: Vec<UnreachableBridges>,
}

/// An open question: its record, and what a list shows of it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", schemars(title = "ListedQuestion"))]
pub struct ListedQuestion {
    /// The record.
    #[serde(flatten)]
    #[cfg_attr(feature = "schema", schemars(with = "Record"))]
    pub record: Arc<Record>,
    /// The short name of the agent that asks, or of its command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The folder that its session works in, as an absolute path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<Arc<str>>,
    /// What is asked, on one line.
    pub title: String,
    /// All that is asked, as plain text.
    pub text: String,
}

impl QuestionList {
    /// Lists these questions.
    pub fn new(revision: u64, open: Vec<Arc<Record>>, bridges: &Bridges, gaps: &Gaps) -> Self {
        let listed = |record: Arc<Record>| ListedQuestion {
            agent: bridges.agent(&record),
            project: record.question.project.clone(),
            title: one_line(&record.question.headline()),
            text: text::asked(&record.question),
            record,
        };
        let questions = open.into_iter().map(listed).collect();
        QuestionList {
            protocol: PROTOCOL,
            revision,
            questions,
            complete: gaps.is_empty(),
            unreachable: gaps.unreachable.clone(),
            busy: gaps.busy.clone(),
            older: gaps.older.clone(),
            unreadable: gaps.unreadable,
            left_out: gaps.left_out,
            lost: Vec::new(),
            elsewhere: Vec::new(),
        }
    }
}

/// Joins the words of a text, whatever stands between them.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
