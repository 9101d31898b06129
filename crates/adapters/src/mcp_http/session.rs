//! What is known of the session with the server. How it changes is left to `renewal.rs`.

use axum::http::{HeaderMap, HeaderName, HeaderValue};

use super::exchange::Outgoing;

/// Where a session stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Phase {
    /// None has begun. Messages of a revision without sessions need none.
    #[default]
    Fresh,
    /// `initialize` has no response yet: nothing else is sent.
    Opening,
    /// The notification that the session may be used is on its way: nothing else is sent.
    Confirming,
    /// It can be used.
    Open,
    /// The server has ended it, and no new one could be begun.
    Lost,
}

/// The session with the server.
#[derive(Debug, Default)]
pub(super) struct Session {
    pub(super) phase: Phase,
    /// The number of the session, counted from 0. A call that belongs to an earlier one is late.
    pub(super) number: u32,
    pub(super) id: Option<HeaderValue>,
    /// The revision that was agreed on.
    pub(super) revision: Option<HeaderValue>,
    /// The host's own messages by which each session begins.
    pub(super) initialize: Option<Outgoing>,
    pub(super) initialized: Option<Outgoing>,
    /// How many sessions have begun since a request had a response.
    pub(super) renewals: u32,
    /// How many attempts to begin one failed in a row.
    pub(super) failures: u32,
}

impl Session {
    /// Returns whether messages can be sent now.
    pub(super) fn is_free(&self) -> bool {
        !matches!(self.phase, Phase::Opening | Phase::Confirming)
    }

    /// Returns whether the host has initialized a session.
    pub(super) fn has_begun(&self) -> bool {
        self.phase != Phase::Fresh
    }

    /// Adds the headers of the session. Returns whether it has an ID.
    pub(super) fn add(&self, headers: &mut HeaderMap) -> bool {
        if let Some(revision) = &self.revision {
            headers.insert(HeaderName::from_static("mcp-protocol-version"), revision.clone());
        }
        if let Some(id) = &self.id {
            headers.insert(HeaderName::from_static("mcp-session-id"), id.clone());
        }
        self.id.is_some()
    }
}
