//! The control protocol, version 1: the messages between a bridge and the programs that answer, and the conversion of
//! an inbox's state into messages. Sending them is left to `methods.rs`.
//!
//! Bridges run for days while commands are updated, so both sides meet other versions (I11). A reader keeps names that
//! it does not know, and ignores members that it does not know. It counts a question that it cannot read, so that the
//! others are still listed.
//!
//! A list has only an outline of each open question, a fraction of its record, so that thousands can be listed at once.

use std::sync::Arc;

use askbridge_core::{
    desk::{LostQuestion, QuestionId, Record, State, Timestamp},
    question::{Origin, Purpose, Question, Risk},
};
use serde::{Deserialize, Deserializer, Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use crate::{
    inbox::{Batch, PROTOCOL, is_zero},
    limits,
};

/// The open questions at one revision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", schemars(title = "QuestionListing"))]
#[non_exhaustive]
pub struct Listing {
    /// The version of the control protocol.
    #[serde(default)]
    pub protocol: u32,
    /// The revision of the state. It grows with each change.
    pub revision: u64,
    /// The open questions, oldest first.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<Record>"))]
    pub questions: ReadableList<Record>,
    /// The number of open questions that are not listed because the sender cannot read them: they need a newer
    /// askbridge.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unreadable: usize,
}

impl Listing {
    /// Lists these questions.
    pub fn new(revision: u64, questions: Vec<Arc<Record>>) -> Self {
        Listing { protocol: PROTOCOL, revision, questions: questions.into(), unreadable: 0 }
    }
}

/// The questions that were lost with their bridges.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", schemars(title = "LostListing"))]
#[non_exhaustive]
pub struct LostListing {
    /// The version of the control protocol.
    pub protocol: u32,
    /// The questions, latest first. They cannot be answered.
    pub questions: Vec<LostQuestion>,
}

/// A change of the state. A subscription begins with a snapshot and continues with changes; a subscriber that falls
/// behind gets another snapshot. A long change comes in several messages; all but the last have `more`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "schema", schemars(title = "QuestionDelta"))]
#[non_exhaustive]
pub struct Delta {
    /// The version of the control protocol.
    #[serde(default)]
    pub protocol: u32,
    /// The revision of the state after this message.
    pub revision: u64,
    /// Whether this is a snapshot, or a part of one: no other questions are open.
    #[serde(default)]
    pub snapshot: bool,
    /// Whether the next message continues this one.
    #[serde(default)]
    pub more: bool,
    /// The current state of the changed questions; `state` says whether they are open.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<Record>"))]
    pub questions: ReadableList<Record>,
}

/// A list whose items are parsed one by one, so that an item that cannot be read does not hide the others.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadableList<T> {
    /// The items that could be read.
    pub items: Vec<Arc<T>>,
    /// The lengths of the items' JSON, if they were read from JSON.
    pub sizes: Vec<usize>,
    /// The readable parts of the other items.
    pub unreadable: Vec<UnreadableItem>,
}

/// The readable parts of an item that cannot be read as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnreadableItem {
    /// Its ID, if that can be read.
    pub id: Option<QuestionId>,
    /// Whether its state says that it is over.
    pub is_over: bool,
}

impl<T> Default for ReadableList<T> {
    fn default() -> Self {
        ReadableList { items: Vec::new(), sizes: Vec::new(), unreadable: Vec::new() }
    }
}

impl<T> From<Vec<Arc<T>>> for ReadableList<T> {
    fn from(items: Vec<Arc<T>>) -> Self {
        ReadableList { items, ..ReadableList::default() }
    }
}

impl<T: Serialize> Serialize for ReadableList<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.items.serialize(serializer)
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for ReadableList<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut list = ReadableList::default();
        for raw in Vec::<Box<RawValue>>::deserialize(deserializer)? {
            match serde_json::from_str::<T>(raw.get()) {
                Ok(item) => {
                    list.items.push(Arc::new(item));
                    list.sizes.push(raw.get().len());
                }
                Err(_) => list.unreadable.push(UnreadableItem::read(&raw)),
            }
        }
        Ok(list)
    }
}

impl UnreadableItem {
    fn read(raw: &RawValue) -> Self {
        #[derive(Deserialize)]
        struct Id {
            id: QuestionId,
        }

        #[derive(Deserialize)]
        struct Stage {
            state: State,
        }

        // Parsed separately, since one of them may be the part that cannot be read.
        let id = serde_json::from_str::<Id>(raw.get()).ok().map(|Id { id }| id);
        let state = serde_json::from_str::<Stage>(raw.get()).ok().map(|Stage { state }| state);
        UnreadableItem { id, is_over: matches!(state, Some(State::Settled | State::Lost)) }
    }
}

/// The reply to a call that succeeded, whether or not its content can be read.
#[derive(Clone, Debug, PartialEq)]
pub struct CallReply<T> {
    /// The content of the reply; `None` if it needs a newer askbridge.
    pub value: Option<T>,
}

impl<T: DeserializeOwned> CallReply<T> {
    /// Reads the `result` of a response.
    pub fn read(result: &RawValue) -> Self {
        // Not an error, since the call was carried out even if another version wrote the result (I11).
        CallReply { value: serde_json::from_str(result.get()).ok() }
    }
}

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

/// The outline of an open question in a list.
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
    /// The question, in one text.
    pub headline: String,
    /// The purpose of the question.
    #[serde(default)]
    pub purpose: Purpose,
    /// How the agent asked.
    pub origin: Origin,
    /// Whether a wrong answer can do harm.
    #[serde(default)]
    pub dangerous: bool,
    /// The harm that a wrong answer may do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risk: Option<Risk>,
    /// When the question was asked, by RFC 3339.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub opened_at: Timestamp,
    /// When the question expires, by RFC 3339. Absent if it never does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub deadline: Option<Timestamp>,
    /// Until when a person has set it aside. Absent if it is not set aside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub later: Option<Timestamp>,
    /// Whether other responders must answer: the client cannot show the question, or left it to them.
    #[serde(default)]
    pub elsewhere: bool,
    /// How often the question has changed since it opened.
    #[serde(default, skip_serializing_if = "is_first")]
    pub edition: u32,
    /// Whether the turn in which it was asked is over: the agent may not read the answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub turn_over: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_first(edition: &u32) -> bool {
    *edition == 0
}

impl OutlineListing {
    /// Lists these questions.
    pub fn new(revision: u64, questions: &[Arc<Record>]) -> Self {
        let questions: Vec<_> = questions.iter().map(|record| Arc::new(Outline::from(&**record))).collect();
        OutlineListing { protocol: PROTOCOL, revision, questions: questions.into() }
    }

    /// Returns the questions as records without everything that a list does not show, so that they have no fields to
    /// answer.
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
            headline: question.summary().into_owned(),
            purpose: question.purpose,
            origin: question.origin,
            dangerous: question.dangerous,
            risk: question.risk,
            opened_at: record.opened_at,
            deadline: record.deadline,
            later: record.later,
            elsewhere: record.elsewhere,
            edition: record.edition,
            turn_over: record.turn_over,
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
        Record {
            state: outline.state,
            deadline: outline.deadline,
            later: outline.later,
            elsewhere: outline.elsewhere,
            edition: outline.edition,
            turn_over: outline.turn_over,
            ..record
        }
    }
}

/// Splits a batch into messages that are short enough to wait for slow readers.
pub(super) fn deltas(batch: &Batch) -> impl Iterator<Item = Delta> {
    let (is_snapshot, revision, questions) = content(batch);
    let mut parts = vec![Vec::new()];
    let mut bytes = 0;
    for record in questions {
        let size = record.size();
        // A record that is longer than the limit is a message by itself.
        if bytes > 0 && bytes + size > limits::DELTA {
            parts.push(Vec::new());
            bytes = 0;
        }
        bytes += size;
        parts.last_mut().into_iter().for_each(|part| part.push(Arc::clone(&record)));
    }
    let last = parts.len() - 1;
    parts.into_iter().enumerate().map(move |(index, part)| Delta {
        protocol: PROTOCOL,
        revision,
        snapshot: is_snapshot,
        more: index < last,
        questions: part.into(),
    })
}

/// Returns a batch as one message, however long it is: within a process, nothing bounds a message.
pub(crate) fn delta(batch: &Batch) -> Delta {
    let (snapshot, revision, questions) = content(batch);
    Delta { protocol: PROTOCOL, revision, snapshot, more: false, questions: questions.into() }
}

/// Returns whether a batch is a snapshot, its revision, and its questions.
fn content(batch: &Batch) -> (bool, u64, Vec<Arc<Record>>) {
    let questions = match batch {
        Batch::Snapshot { open, .. } => open.clone(),
        Batch::Events { events, .. } => events.iter().map(|(_, event)| Arc::clone(event.record())).collect(),
    };
    (matches!(batch, Batch::Snapshot { .. }), batch.revision(), questions)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::rpc::played::question;

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
