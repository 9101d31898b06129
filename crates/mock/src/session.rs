//! The mock agent's state of its sessions: directory, history, running turn, and the mode and the options that a client may change.
//! These change nothing of what the mock agent does.
//! Writing is left to `agent.rs` and `turn.rs`.

use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::{Value, json, value::RawValue};

use crate::message::{Id, NOT_FOUND, RpcError};

/// The bytes of history that a session keeps for `session/load`; further messages are not kept.
const LONGEST_HISTORY: usize = 4 << 20;
/// The most characters of a session's title.
const LONGEST_TITLE: usize = 60;
/// The ID and the name of a mode, an option, or a value of an option.
type Named = (&'static str, &'static str);

const MODES: [Named; 2] = [("ask", "Ask"), ("code", "Code")];
const OPTIONS: [(Named, [Named; 2]); 2] = [
    (("effort", "Effort"), [("low", "Low"), ("high", "High")]),
    (("tone", "Tone"), [("plain", "Plain"), ("kind", "Kind")]),
];

/// A session, open or closed. A closed session is listed and can be loaded.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) id: String,
    pub(super) cwd: String,
    pub(super) title: Option<String>,
    pub(super) open: bool,
    pub(super) turn: Option<Turn>,
    pub(super) choices: Choices,
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
        let (choices, history) = (Choices::default(), Vec::new());
        Self { id, cwd, title: None, open: true, turn: None, choices, history, room: LONGEST_HISTORY }
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

    /// Creates a session that has been through the same as this one.
    pub(super) fn fork(&mut self, id: &str, cwd: String) -> Result<&Session, RpcError> {
        let of = self.get_open(id)?;
        let (choices, history, room) = (of.choices.clone(), of.history.clone(), of.room);
        let at = self.0.len();
        let session = Session::new(format!("session-{}", at + 1), cwd);
        self.0.push(Session { choices, history, room, ..session });
        Ok(&self.0[at])
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

/// What is chosen, by its place.
#[derive(Clone, Debug, Default)]
pub(super) struct Choices {
    mode: usize,
    values: [usize; OPTIONS.len()],
}

impl Choices {
    /// Returns the modes, and which one is set.
    pub(super) fn modes(&self) -> Value {
        let modes: Vec<_> = MODES.iter().map(|(id, name)| json!({ "id": id, "name": name })).collect();
        json!({ "currentModeId": MODES[self.mode].0, "availableModes": modes })
    }

    /// Returns all options with their values.
    pub(super) fn options(&self) -> Value {
        let options = OPTIONS.iter().zip(self.values).map(|(((id, name), values), chosen)| {
            let offered: Vec<_> =
                values.iter().map(|(value, name)| json!({ "value": value, "name": name })).collect();
            json!({ "id": id, "name": name, "type": "select", "currentValue": values[chosen].0, "options": offered })
        });
        options.collect()
    }

    pub(super) fn set_mode(&mut self, mode: &str) -> Result<(), RpcError> {
        self.mode = place(&MODES, mode, "mode")?;
        Ok(())
    }

    pub(super) fn set(&mut self, option: &str, value: &str) -> Result<(), RpcError> {
        let at = place(&OPTIONS.map(|(option, _)| option), option, "option")?;
        self.values[at] = place(&OPTIONS[at].1, value, "value")?;
        Ok(())
    }
}

fn place(named: &[Named], id: &str, what: &str) -> Result<usize, RpcError> {
    let at = named.iter().position(|(known, _)| *known == id);
    at.ok_or_else(|| RpcError::invalid_params(format_args!("no such {what}: {id}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_offered_can_be_chosen_and_nothing_else() {
        let mut choices = Choices::default();
        choices.set_mode("code").unwrap();
        choices.set("tone", "kind").unwrap();
        assert_eq!(choices.modes()["currentModeId"], "code");
        assert_eq!(
            (&choices.options()[0]["currentValue"], &choices.options()[1]["currentValue"]),
            (&json!("low"), &json!("kind"))
        );
        for wrong in [choices.set_mode("sleep"), choices.set("colour", "low"), choices.set("tone", "low")] {
            assert_eq!(wrong.unwrap_err().code, -32602);
        }
    }
}
