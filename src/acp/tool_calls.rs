//! The sessions of tool calls, for an agent whose questions name the tool call and not the session.
//! No other agent pays for it: nothing is looked at before such an agent has shown itself.

use std::collections::{BTreeMap, VecDeque};

use memchr::memmem;

use crate::{
    limits,
    wire::{envelope::Message, scan},
};

/// The sessions of the last tool calls.
#[derive(Debug, Default)]
pub(super) struct ToolCalls {
    followed: bool,
    sessions: BTreeMap<String, String>,
    /// The tool calls, oldest first.
    order: VecDeque<String>,
}

impl ToolCalls {
    /// From now on, tool calls are looked at.
    pub(super) fn follow(&mut self) {
        self.followed = true;
    }

    /// Says whether tool calls are looked at.
    pub(super) fn are_followed(&self) -> bool {
        self.followed
    }

    /// Says whether this update may tell the session of a tool call.
    pub(super) fn wants(&self, update: &[u8]) -> bool {
        self.followed && memmem::find(update, b"\"toolCallId\"").is_some()
    }

    /// Remembers the session of the tool call in an update, if it tells one.
    pub(super) fn update(&mut self, message: &Message<'_>) {
        let id = || scan::text(scan::member(message.param("update")?, "toolCallId")?);
        let (Some(session), Some(id)) = (message.session(), id()) else { return };
        if session.len() > limits::ID || id.len() > limits::ID {
            return;
        }
        if self.sessions.insert(id.clone().into_owned(), session.into_owned()).is_none() {
            self.order.push_back(id.into_owned());
        }
        if self.order.len() > limits::TOOL_CALLS
            && let Some(oldest) = self.order.pop_front()
        {
            self.sessions.remove(&oldest);
        }
    }

    /// Returns the session of a tool call.
    pub(super) fn session(&self, id: &str) -> Option<&str> {
        self.sessions.get(id).map(String::as_str)
    }
}
