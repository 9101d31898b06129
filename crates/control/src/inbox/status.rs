//! The status of a bridge: its identity, its peers, how many bytes passed through it, and whether a person is looking. The thread that forwards
//! writes the byte counts and never waits (I7); the inbox's thread reads them.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use askbridge_core::desk::{BridgeName, Timestamp};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::limits;

/// How much each peer has sent.
#[derive(Debug, Default)]
pub struct Traffic {
    /// From the client.
    pub client: Count,
    /// From the agent.
    pub agent: Count,
}

/// How many lines and bytes one peer has sent.
#[derive(Debug, Default)]
pub struct Count {
    lines: AtomicU64,
    bytes: AtomicU64,
}

impl Count {
    /// Sets the counts.
    pub fn set(&self, lines: u64, bytes: u64) {
        // The ordering is relaxed, since the counts are only shown, and need not agree with each other.
        self.lines.store(lines, Ordering::Relaxed);
        self.bytes.store(bytes, Ordering::Relaxed);
    }

    /// Returns the counts of lines and bytes.
    pub fn get(&self) -> (u64, u64) {
        (self.lines.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed))
    }
}

/// The version of the control protocol. It is raised when a program of the previous version would misread a message.
pub const PROTOCOL: u32 = 1;

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
    /// How its client and its agent introduced themselves in `initialize`.
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

impl BridgeStatus {
    /// Returns the name of an agent that asks in another way than ACP. No command of a bridge started it.
    pub fn other_agent(&self) -> Option<&str> {
        let agent = self.peers.agent.as_ref().filter(|agent| agent.protocol == 0)?;
        agent.name.as_deref().filter(|name| !name.trim().is_empty())
    }

    /// Returns the name that the agent gives itself.
    pub fn named_agent(&self) -> Option<&str> {
        let name = self.peers.agent.as_ref()?.name.as_deref();
        name.filter(|name| !name.trim().is_empty())
    }

    /// Returns the current time by the bridge's own clock. That clock differs from ours once a clock was set or the
    /// machine slept. `None` if the bridge does not report it.
    pub fn now(&self) -> Option<Timestamp> {
        Some(self.started_at.after(Duration::from_millis(self.uptime_ms?)))
    }

    /// Returns the status after this much time has passed.
    #[must_use]
    pub fn later(mut self, passed: Duration) -> Self {
        let passed = u64::try_from(passed.as_millis()).unwrap_or(u64::MAX);
        self.uptime_ms = self.uptime_ms.map(|uptime| uptime.saturating_add(passed));
        self
    }
}

/// The two peers of a bridge, as far as they introduced themselves.
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
    /// Returns those of an agent that does not ask over ACP, which protocol 0 marks.
    pub(super) fn of_desk(agent: &str) -> Self {
        let agent = PeerStatus { name: Some(agent.to_owned()), ..PeerStatus::default() };
        Peers { client: None, agent: Some(agent) }
    }

    /// Returns whether neither introduced itself.
    pub fn is_empty(&self) -> bool {
        self.client.is_none() && self.agent.is_none()
    }
}

/// How a client or an agent introduced itself in `initialize`.
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
    /// Its declared capabilities that concern questions: `questions`, `forms`, `notices`, `kiro`, or names that newer
    /// versions know.
    #[serde(default)]
    pub promises: Vec<String>,
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
            // `later` below adds the uptime.
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
pub(crate) fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// When a program last reported that a person is there. Cheap to clone; all clones share one value.
#[derive(Clone, Debug, Default)]
pub(super) struct Presence(Arc<Mutex<Option<Instant>>>);

impl Presence {
    /// Records that a person is there now.
    pub(super) fn is_here_now(&self) {
        // This is tokio's clock, which tests can advance.
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Returns whether a program reported a person within [`limits::PRESENCE`].
    pub(super) fn is_here(&self) -> bool {
        let last = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.is_some_and(|last| last.elapsed() < limits::PRESENCE)
    }
}
