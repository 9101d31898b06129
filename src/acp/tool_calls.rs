//! What updates say of tool calls, for an agent whose requests name the tool call and little else: its session, and what
//! a permission is for. No other agent pays for it: nothing is looked at before such an agent has shown itself.

use std::collections::{BTreeMap, VecDeque};

use memchr::memmem;

use crate::{
    limits,
    wire::{envelope::Message, scan},
};

/// The last tool calls.
#[derive(Debug, Default)]
pub(super) struct ToolCalls {
    followed: bool,
    keeps_updates: bool,
    sessions: BTreeMap<String, String>,
    /// The tool calls in `sessions`, oldest first.
    order: VecDeque<String>,
    /// The updates of the last few tool calls, those with the latest update last.
    updates: VecDeque<Updates>,
}

/// The updates of a tool call that are remembered: the first, which most often says what it is, and the last.
#[derive(Debug)]
struct Updates {
    id: String,
    first: Box<[u8]>,
    last: Option<Box<[u8]>>,
}

impl ToolCalls {
    /// From now on, tool calls are looked at.
    pub(super) fn follow(&mut self) {
        self.followed = true;
    }

    /// From now on, it is remembered what updates say of a tool call: the agent's permissions do not say it again.
    pub(super) fn keep_updates(&mut self) {
        (self.followed, self.keeps_updates) = (true, true);
    }

    /// Says whether tool calls are looked at.
    pub(super) fn are_followed(&self) -> bool {
        self.followed
    }

    /// Says whether this update may be about a tool call.
    pub(super) fn wants(&self, update: &[u8]) -> bool {
        self.followed && memmem::find(update, b"\"toolCallId\"").is_some()
    }

    /// Remembers the session of the tool call in an update, and what is said of it.
    pub(super) fn update(&mut self, message: &Message<'_>) {
        let Some(update) = message.param("update") else { return };
        let id = scan::member(update, "toolCallId").and_then(scan::text);
        let (Some(session), Some(id)) = (message.session(), id) else { return };
        if session.len() > limits::ID || id.len() > limits::ID {
            return;
        }
        if self.keeps_updates && update.len() <= limits::TOOL_CALL_UPDATE {
            self.keep(&id, update.into());
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

    fn keep(&mut self, id: &str, update: Box<[u8]>) {
        let known = self.updates.iter().position(|updates| updates.id == id);
        let updates = match known.and_then(|place| self.updates.remove(place)) {
            Some(updates) => Updates { last: Some(update), ..updates },
            None => Updates { id: id.to_owned(), first: update, last: None },
        };
        if self.updates.len() == limits::TOOL_CALLS_WITH_UPDATES {
            self.updates.pop_front();
        }
        self.updates.push_back(updates);
    }

    /// Returns the session of a tool call.
    pub(super) fn session(&self, id: &str) -> Option<&str> {
        self.sessions.get(id).map(String::as_str)
    }

    /// Returns what updates said of a tool call, the latest first.
    pub(super) fn updates(&self, id: &str) -> impl Iterator<Item = &[u8]> {
        let updates = self.updates.iter().find(|updates| updates.id == id);
        updates
            .into_iter()
            .flat_map(|updates| updates.last.iter().chain([&updates.first]))
            .map(|update| &**update)
    }
}
