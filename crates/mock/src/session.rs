//! The mock agent's state of its sessions: directory, history and running turn.
//! Writing is left to `agent.rs` and `turn.rs`.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::value::RawValue;

use crate::message::{Id, NOT_FOUND, RpcError};

/// The bytes of history that a session keeps for `session/load`; further messages are not kept.
const LONGEST_HISTORY: usize = 4 << 20;
/// The most characters of a session's title.
const LONGEST_TITLE: usize = 60;

/// A session, open or closed. A closed session is listed and can be loaded.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) id: String,
    pub(super) cwd: String,
    pub(super) title: Option<String>,
    pub(super) open: bool,
    pub(super) turn: Option<Turn>,
    history: Vec<Update>,
    room: usize,
}

/// A prompt without a response yet.
#[derive(Debug)]
pub(super) struct Turn {
    /// The ID of the prompt.
    pub(super) prompt: Id,
    /// The IDs of the questions that must be answered before it ends.
    pub(super) waits_for: BTreeSet<u64>,
    /// Whether only a cancellation ends it.
    pub(super) forever: bool,
    pub(super) cancelled: bool,
}

/// The parameters of `session/update`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionUpdate<'a> {
    pub(super) session_id: &'a str,
    pub(super) update: &'a Update,
}

/// A chunk of a message, as the `update` of `session/update`.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Update {
    #[serde(rename = "sessionUpdate")]
    pub(super) kind: &'static str,
    #[serde(rename = "messageId")]
    pub(super) message: String,
    pub(super) content: Box<RawValue>,
}

impl Session {
    pub(super) fn new(id: String, cwd: String) -> Self {
        Self { id, cwd, title: None, open: true, turn: None, history: Vec::new(), room: LONGEST_HISTORY }
    }

    /// Adds a chunk to the history for `session/load`, if there is room.
    pub(super) fn remember(&mut self, update: Update) {
        if let Some(room) = self.room.checked_sub(update.content.get().len()) {
            self.room = room;
            self.history.push(update);
        }
    }

    /// Returns the history, in order.
    pub(super) fn history(&self) -> &[Update] {
        &self.history
    }

    /// Sets the title to the first line of the first prompt with text.
    pub(super) fn entitle(&mut self, prompt: &str) {
        let title: String = prompt.lines().next().unwrap_or_default().chars().take(LONGEST_TITLE).collect();
        if self.title.is_none() && !title.is_empty() {
            self.title = Some(title);
        }
    }
}

/// All sessions of the process, in the order of their creation.
#[derive(Debug, Default)]
pub(super) struct Sessions(Vec<Session>);

impl Sessions {
    /// Creates a session with the ID `session-1`, `session-2` and so on.
    pub(super) fn create(&mut self, cwd: String) -> &Session {
        let at = self.0.len();
        self.0.push(Session::new(format!("session-{}", at + 1), cwd));
        &self.0[at]
    }

    /// Returns all sessions, in order.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Session> {
        self.0.iter()
    }

    /// Returns the session, open or closed.
    pub(super) fn get(&mut self, id: &str) -> Result<&mut Session, RpcError> {
        let found = self.0.iter_mut().find(|session| session.id == id);
        found.ok_or_else(|| RpcError::new(NOT_FOUND, format!("no such session: {id}")))
    }

    /// Returns the session, if it is open.
    pub(super) fn get_open(&mut self, id: &str) -> Result<&mut Session, RpcError> {
        let session = self.get(id)?;
        if session.open {
            Ok(session)
        } else {
            Err(RpcError::new(NOT_FOUND, format!("the session is closed: {id}")))
        }
    }

    /// Returns the turn that runs in this session.
    pub(super) fn turn_of(&mut self, session: &str) -> Option<&mut Turn> {
        self.get(session).ok()?.turn.as_mut()
    }

    /// Removes and returns the turn of this prompt.
    pub(super) fn take_turn_of_prompt(&mut self, prompt: &Id) -> Option<Turn> {
        let mut turns = self.0.iter_mut().map(|session| &mut session.turn);
        turns.find_map(|turn| turn.take_if(|turn| turn.prompt == *prompt))
    }
}
