//! The control protocol, version 1: what stands on the wire between a bridge and the programs that answer.
//!
//! Bridges run for days while commands are replaced, so both sides meet other versions (I11). What is read here keeps
//! names that it does not know, ignores members that it does not know, and counts a question that it cannot read
//! instead of hiding others because of it.

use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use super::traffic::{PROTOCOL, is_zero};
use crate::desk::{LostQuestion, QuestionId, Record, State};

/// The names of the methods.
pub mod method {
    /// Lists the open questions: `{session?}` → [`super::Listing`].
    pub const LIST: &str = "question_list";
    /// Lists the open questions in outline: → [`super::super::outline::OutlineListing`].
    pub const OUTLINE: &str = "question_outline";
    /// Lists the questions that were settled last, latest first: `{limit?}` → [`super::Listing`].
    pub const SETTLED: &str = "question_settled";
    /// Lists the questions that were lost with their bridges, latest first: → [`super::LostListing`].
    pub const LOST: &str = "question_lost";
    /// Returns one question: `{id}` → [`super::Record`].
    pub const GET: &str = "question_get";
    /// Answers a question: `{id, answer, by?}` → [`super::Record`].
    pub const ANSWER: &str = "question_answer";
    /// Rejects a question: `{id, reason?, by?}` → [`super::Record`].
    pub const REJECT: &str = "question_reject";
    /// Gives a question more time: `{id, milliseconds}` → [`super::Record`].
    pub const EXTEND: &str = "question_extend";
    /// Asks a question: `{question}` → [`crate::desk::Settlement`].
    pub const ASK: &str = "question_ask";
    /// Follows what changes: notifications [`CHANGED`] with a [`super::Delta`] each.
    pub const SUBSCRIBE: &str = "question_subscribe";
    /// The notification of a subscription.
    pub const CHANGED: &str = "question_changed";
    /// Ends a subscription.
    pub const UNSUBSCRIBE: &str = "question_unsubscribe";
    /// Says that a person is looking at the questions: → null. It counts for 30 seconds.
    pub const WATCH: &str = "question_watch";
    /// Describes the bridges, and greets: → a list of [`crate::control::traffic::BridgeStatus`].
    pub const STATUS: &str = "bridge_status";
}

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

    /// Says how many questions are not listed because they need a newer askbridge.
    #[must_use]
    pub fn with_unreadable(mut self, unreadable: usize) -> Self {
        self.unreadable = unreadable;
        self
    }
}

/// The questions that were lost with their bridges.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    /// The changed questions as they are now; `state` says whether they are open.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<Record>"))]
    pub questions: ReadableList<Record>,
}

/// A list of which each item is read by itself: one that cannot be read is kept aside, and hides no other.
#[derive(Clone, Debug, PartialEq)]
pub struct ReadableList<T> {
    /// The items that could be read.
    pub items: Vec<Arc<T>>,
    /// The lengths of the items' JSON, where they were read from some.
    pub sizes: Vec<usize>,
    /// What could be read of the others.
    pub unreadable: Vec<UnreadableItem>,
}

/// What can be read of an item that cannot be read as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnreadableItem {
    /// Its ID, where it has one.
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

        // Each by itself: one of them may be what cannot be read.
        let id = serde_json::from_str::<Id>(raw.get()).ok().map(|Id { id }| id);
        let state = serde_json::from_str::<Stage>(raw.get()).ok().map(|Stage { state }| state);
        UnreadableItem { id, is_over: matches!(state, Some(State::Settled | State::Lost)) }
    }
}

/// The reply to a call, of which it is known that the call succeeded, whether or not the rest can be read.
#[derive(Clone, Debug, PartialEq)]
pub struct CallReply<T> {
    /// What the reply says; `None` where it needs a newer askbridge.
    pub value: Option<T>,
}

impl<T: DeserializeOwned> CallReply<T> {
    /// Reads the `result` of a response.
    pub fn read(result: &RawValue) -> Self {
        CallReply { value: serde_json::from_str(result.get()).ok() }
    }
}
