//! What a list shows of an open question: a fraction of its record, so that thousands are listed at once.
//! Records as a whole are left to `protocol.rs`.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::protocol::ReadableList;
use super::traffic::PROTOCOL;
use crate::{
    desk::{QuestionId, Record, State, Timestamp},
    question::{Origin, Purpose, Question, Risk},
};

/// The open questions at one revision, in outline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", schemars(title = "OutlineListing"))]
#[non_exhaustive]
pub struct OutlineListing {
    /// The version of the control protocol.
    #[serde(default)]
    pub protocol: u32,
    /// The revision of the state. It grows with each change.
    pub revision: u64,
    /// The open questions, oldest first.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<Outline>"))]
    pub questions: ReadableList<Outline>,
}

/// What a list shows of an open question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Outline {
    /// Its ID, unique on the machine.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub id: QuestionId,
    /// The state of the question.
    #[serde(default)]
    pub state: State,
    /// The ID that the agent gave to it.
    pub question_id: String,
    /// The agent, as it names itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Arc<str>>,
    /// The folder that its session works in, as an absolute path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<Arc<str>>,
    /// What is asked, in one text.
    pub headline: String,
    /// What the question is for.
    #[serde(default)]
    pub purpose: Purpose,
    /// How the agent asked.
    pub origin: Origin,
    /// Whether a wrong answer can do harm.
    #[serde(default)]
    pub dangerous: bool,
    /// What a wrong answer may lead to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<Risk>,
    /// When the question was asked, by RFC 3339.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub opened_at: Timestamp,
    /// When the question expires, by RFC 3339. Absent if it never does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub deadline: Option<Timestamp>,
    /// Whether other responders must answer: the client cannot show the question, or left it to them.
    #[serde(default)]
    pub elsewhere: bool,
}

impl OutlineListing {
    /// Lists these questions.
    pub fn new(revision: u64, questions: &[Arc<Record>]) -> Self {
        let questions: Vec<_> = questions.iter().map(|record| Arc::new(Outline::from(&**record))).collect();
        OutlineListing { protocol: PROTOCOL, revision, questions: questions.into() }
    }

    /// Returns the questions as records in which everything that a list does not show is left out: they have no fields
    /// to answer.
    pub(super) fn into_records(self) -> ReadableList<Record> {
        let ReadableList { items, sizes, unreadable } = self.questions;
        let items = items.into_iter().map(|outline| Arc::new(Record::from(Arc::unwrap_or_clone(outline))));
        ReadableList { items: items.collect(), sizes, unreadable }
    }
}

impl From<&Record> for Outline {
    fn from(record: &Record) -> Self {
        let question = &*record.question;
        Outline {
            id: record.id.clone(),
            state: record.state,
            question_id: question.id.clone(),
            agent: question.agent.clone(),
            project: question.project.clone(),
            headline: question.headline().into_owned(),
            purpose: question.purpose,
            origin: question.origin,
            dangerous: question.dangerous,
            risk: question.risk,
            opened_at: record.opened_at,
            deadline: record.deadline,
            elsewhere: record.elsewhere,
        }
    }
}

impl From<Outline> for Record {
    fn from(outline: Outline) -> Self {
        let question = Question {
            agent: outline.agent,
            project: outline.project,
            message: outline.headline,
            purpose: outline.purpose,
            dangerous: outline.dangerous,
            risk: outline.risk,
            ..Question::new(outline.origin, &outline.question_id, Vec::new())
        };
        let record = Record::new(outline.id, question.into(), outline.opened_at);
        Record { state: outline.state, deadline: outline.deadline, elsewhere: outline.elsewhere, ..record }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::control::played::question;

    #[test]
    fn an_outline_has_what_a_list_shows() {
        let id: QuestionId = "b-1".parse().expect("an ID");
        let mut asked = question("Why?");
        asked.message = "Please answer the following questions.".to_owned();
        (asked.agent, asked.project, asked.dangerous) = (Some("Claude".into()), Some("/p".into()), true);
        let mut record = Record::new(id, asked.into(), Timestamp::default());
        (record.deadline, record.elsewhere) = (Some(Timestamp::default()), true);
        record.state = State::Delivering;
        let listing = serde_json::to_string(&OutlineListing::new(1, &[record.clone().into()])).expect("JSON");
        let listing: OutlineListing = serde_json::from_str(&listing).expect("a listing");
        let read = listing.into_records().items.remove(0);
        assert_eq!(read.question.headline(), record.question.headline());
        assert_eq!(Outline::from(&*read), Outline::from(&record));
    }

    #[test]
    fn a_question_that_has_no_outline_is_counted() {
        let listing =
            json!({ "revision": 1, "questions": [{ "id": "b-1", "headline": 7 }, { "id": "b-2" }] });
        let listing: OutlineListing = serde_json::from_value(listing).expect("a listing");
        let records = listing.into_records();
        assert_eq!((records.items.len(), records.unreadable.len()), (0, 2));
    }
}
