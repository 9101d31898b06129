//! The control protocol, version 1: what stands on the wire between a bridge and the programs that answer.
//!
//! Bridges run for days while commands are replaced, so both sides meet other versions (I11). What is read here keeps
//! names that it does not know, ignores members that it does not know, and counts a question that it cannot read
//! instead of hiding others because of it.

use std::{sync::Arc, time::Duration};

use serde::{Deserialize, Deserializer, Serialize, de::DeserializeOwned};
use serde_json::value::RawValue;

use crate::desk::{BridgeName, LostQuestion, QuestionId, Record, State, Timestamp};

/// The version of the protocol. It grows when a program of the version before would misread what is said.
pub const PROTOCOL: u32 = 1;

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
    /// Describes the bridges, and greets: → a list of [`super::BridgeStatus`].
    pub const STATUS: &str = "bridge_status";
}

/// A bridge and its agent. This is also the greeting, which says which protocol the bridge speaks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct BridgeStatus {
    /// The version of the control protocol that the bridge speaks; 0 if it does not say.
    #[serde(default)]
    pub protocol: u32,
    /// The name of the bridge, with which the IDs of its questions begin.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub bridge: BridgeName,
    /// Its process ID.
    pub pid: u32,
    /// The version of askbridge that it runs.
    pub version: String,
    /// The agent's command, or the program that asks.
    pub agent: String,
    /// The directory that the bridge was started in.
    pub folder: String,
    /// When it started, by RFC 3339.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub started_at: Timestamp,
    /// The number of milliseconds that it has run, by a clock that is never set. Its questions are timed by this clock:
    /// `startedAt` plus this is the time by which to read their `openedAt` and `deadline`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uptime_ms: Option<u64>,
    /// The number of its open questions.
    pub open: usize,
    /// The number of its questions that the sender cannot read because they need a newer askbridge.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unreadable: usize,
    /// What its client and its agent said of themselves in `initialize`.
    #[serde(default, skip_serializing_if = "Peers::is_empty")]
    pub peers: Peers,
    /// The IP address and port at which it serves HTTP, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Whether a person is looking at its questions: a program with a screen that has the focus said so in the last 30
    /// seconds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub watched: bool,
}

/// The two that a bridge stands between, as far as they introduced themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Peers {
    /// The client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<PeerStatus>,
    /// The agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<PeerStatus>,
}

impl Peers {
    /// Returns whether neither introduced itself.
    pub fn is_empty(&self) -> bool {
        self.client.is_none() && self.agent.is_none()
    }
}

/// What a client or an agent said of itself in `initialize`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct PeerStatus {
    /// Its own name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The version of ACP that it speaks; 0 for an agent that asks in another way.
    #[serde(default)]
    pub protocol: u32,
    /// What it promises that has to do with questions: `questions`, `forms`, `notices`, `kiro`, or what newer versions
    /// know.
    #[serde(default)]
    pub promises: Vec<String>,
}

impl BridgeStatus {
    /// Returns the name of an agent that asks in another way than ACP. No command of a bridge started it.
    pub fn other_agent(&self) -> Option<&str> {
        let agent = self.peers.agent.as_ref().filter(|agent| agent.protocol == 0)?;
        agent.name.as_deref().filter(|name| !name.trim().is_empty())
    }

    /// Returns what the time is by the bridge's own clock, which differs from ours once a clock was set or the machine
    /// slept. `None` where it does not say.
    pub fn now(&self) -> Option<Timestamp> {
        Some(self.started_at.after(Duration::from_millis(self.uptime_ms?)))
    }

    /// Returns the status as it is this much later.
    #[must_use]
    pub fn later(mut self, passed: Duration) -> Self {
        let passed = u64::try_from(passed.as_millis()).unwrap_or(u64::MAX);
        self.uptime_ms = self.uptime_ms.map(|uptime| uptime.saturating_add(passed));
        self
    }
}

/// Describes a bridge.
#[derive(Clone, Debug)]
pub struct Identity {
    /// Its name.
    pub bridge: BridgeName,
    /// The agent's command, or the program that asks.
    pub agent: String,
    /// The directory that the bridge was started in.
    pub folder: String,
    /// When it started.
    pub started_at: Timestamp,
}

impl Identity {
    /// Returns the status of the bridge, which runs in this process and has run for this long.
    pub fn status(&self, uptime: Duration, open: usize) -> BridgeStatus {
        let Identity { bridge, agent, folder, started_at } = self.clone();
        let (pid, version) = (std::process::id(), env!("CARGO_PKG_VERSION").to_owned());
        BridgeStatus {
            protocol: PROTOCOL,
            bridge,
            pid,
            version,
            agent,
            folder,
            started_at,
            uptime_ms: Some(0),
            open,
            unreadable: 0,
            peers: Peers::default(),
            address: None,
            watched: false,
        }
        .later(uptime)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_zero(count: &usize) -> bool {
    *count == 0
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
    pub questions: Readable<Record>,
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
    pub questions: Readable<Record>,
}

/// A list of which each item is read by itself: one that cannot be read is kept aside, and hides no other.
#[derive(Clone, Debug, PartialEq)]
pub struct Readable<T> {
    /// The items that could be read.
    pub items: Vec<Arc<T>>,
    /// The lengths of the items' JSON, where they were read from some.
    pub sizes: Vec<usize>,
    /// What could be read of the others.
    pub unreadable: Vec<Unreadable>,
}

/// What can be read of an item that cannot be read as a whole.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unreadable {
    /// Its ID, where it has one.
    pub id: Option<QuestionId>,
    /// Whether its state says that it is over.
    pub is_over: bool,
}

impl<T> Default for Readable<T> {
    fn default() -> Self {
        Readable { items: Vec::new(), sizes: Vec::new(), unreadable: Vec::new() }
    }
}

impl<T> From<Vec<Arc<T>>> for Readable<T> {
    fn from(items: Vec<Arc<T>>) -> Self {
        Readable { items, ..Readable::default() }
    }
}

impl<T: Serialize> Serialize for Readable<T> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.items.serialize(serializer)
    }
}

impl<'de, T: DeserializeOwned> Deserialize<'de> for Readable<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut list = Readable::default();
        for raw in Vec::<Box<RawValue>>::deserialize(deserializer)? {
            match serde_json::from_str::<T>(raw.get()) {
                Ok(item) => {
                    list.items.push(Arc::new(item));
                    list.sizes.push(raw.get().len());
                }
                Err(_) => list.unreadable.push(Unreadable::read(&raw)),
            }
        }
        Ok(list)
    }
}

impl Unreadable {
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
        Unreadable { id, is_over: matches!(state, Some(State::Settled | State::Lost)) }
    }
}

/// The reply to a call, of which it is known that the call succeeded, whether or not the rest can be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply<T> {
    /// What the reply says; `None` where it needs a newer askbridge.
    pub value: Option<T>,
}

impl<T: DeserializeOwned> Reply<T> {
    /// Reads the `result` of a response.
    pub fn read(result: &RawValue) -> Self {
        Reply { value: serde_json::from_str(result.get()).ok() }
    }
}
