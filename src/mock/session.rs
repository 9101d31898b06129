//! What the mock agent remembers of a session: where it is, what was said, and the turn that runs.
//! It writes nothing; `agent.rs` and `turn.rs` do.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::value::RawValue;

use super::message::{Id, NOT_FOUND, RpcError};

/// How many bytes a session remembers for `session/load`.
const LONGEST_HISTORY: usize = 4 << 20;
const LONGEST_TITLE: usize = 60;

/// A session, open or closed. A closed one is listed and can be loaded.
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

/// A prompt that was not answered yet.
#[derive(Debug)]
pub(super) struct Turn {
    /// The id of the prompt.
    pub(super) prompt: Id,
    /// The ids of the questions that must be answered before it ends.
    pub(super) waits_for: BTreeSet<u64>,
    /// Whether it ends only when it is cancelled.
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

/// A piece of a message, as `session/update` says it.
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

    /// Keeps a piece of a message for `session/load`, as long as there is room.
    pub(super) fn remember(&mut self, update: Update) {
        if let Some(room) = self.room.checked_sub(update.content.get().len()) {
            self.room = room;
            self.history.push(update);
        }
    }

    pub(super) fn history(&self) -> &[Update] {
        &self.history
    }

    /// Takes the first prompt that says something as the title.
    pub(super) fn entitle(&mut self, prompt: &str) {
        let title: String = prompt.lines().next().unwrap_or_default().chars().take(LONGEST_TITLE).collect();
        if self.title.is_none() && !title.is_empty() {
            self.title = Some(title);
        }
    }
}

/// All sessions of the process, in the order in which they were made.
#[derive(Debug, Default)]
pub(super) struct Sessions(Vec<Session>);

impl Sessions {
    /// Makes a session: `session-1`, `session-2` and so on.
    pub(super) fn create(&mut self, cwd: String) -> &Session {
        let at = self.0.len();
        self.0.push(Session::new(format!("session-{}", at + 1), cwd));
        &self.0[at]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Session> {
        self.0.iter()
    }

    /// The session, open or closed.
    pub(super) fn get(&mut self, id: &str) -> Result<&mut Session, RpcError> {
        let found = self.0.iter_mut().find(|session| session.id == id);
        found.ok_or_else(|| RpcError::new(NOT_FOUND, format!("no such session: {id}")))
    }

    /// The session, if it can be prompted.
    pub(super) fn get_open(&mut self, id: &str) -> Result<&mut Session, RpcError> {
        let session = self.get(id)?;
        if session.open {
            Ok(session)
        } else {
            Err(RpcError::new(NOT_FOUND, format!("the session is closed: {id}")))
        }
    }

    /// The turn that runs in this session.
    pub(super) fn turn_of(&mut self, session: &str) -> Option<&mut Turn> {
        self.get(session).ok()?.turn.as_mut()
    }

    /// Ends the turn of this prompt.
    pub(super) fn take_turn_of_prompt(&mut self, prompt: &Id) -> Option<Turn> {
        let mut turns = self.0.iter_mut().map(|session| &mut session.turn);
        turns.find_map(|turn| turn.take_if(|turn| turn.prompt == *prompt))
    }
}
