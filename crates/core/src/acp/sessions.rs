//! The turns of the sessions that the bridge follows: those that run, and the prompts that wait for one to end.

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
};

use bytes::Bytes;

use crate::{
    limits,
    wire::id::{RequestId, key},
};

/// A prompt that waits for its session's running turn to end.
#[derive(Debug)]
pub(super) struct HeldPrompt {
    pub id: RequestId,
    pub session: String,
    pub line: Bytes,
}

/// The turns of all sessions. A turn runs from the prompt that goes to the agent to the response that comes back. In
/// version 2 of ACP, the response only acknowledges the prompt, and the turn runs until the agent says that it is idle.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// The turn of each prompt, by the canonical form of its ID.
    running: BTreeMap<Arc<str>, Turn>,
    /// The turns that need no response any more, and whether each was cancelled, by their sessions.
    at_work: BTreeMap<String, bool>,
    held: VecDeque<HeldPrompt>,
}

/// A turn, and whether the client has cancelled it.
#[derive(Debug)]
pub(super) struct Turn {
    pub session: String,
    is_cancelled: bool,
}

impl Turns {
    /// Returns whether the agent still owes the response to this prompt.
    pub(super) fn is_running(&self, id: &str) -> bool {
        self.running.contains_key(&*key(id))
    }

    /// Returns the session of this prompt, while the agent owes the response to it.
    pub(super) fn session(&self, id: &str) -> Option<&str> {
        self.running.get(&*key(id)).map(|turn| &*turn.session)
    }

    /// Returns whether a turn is running in this session.
    pub(super) fn runs_in(&self, session: &str) -> bool {
        self.at_work.contains_key(session) || self.owes_response(session)
    }

    /// Returns whether the agent owes the response to a prompt of this session.
    pub(super) fn owes_response(&self, session: &str) -> bool {
        self.running.values().any(|turn| turn.session == session)
    }

    /// Returns whether the turn that is running in this session was cancelled: nobody waits for what it asks.
    pub(super) fn is_cancelled(&self, session: &str) -> bool {
        let in_session = self.running.values().filter(|turn| turn.session == session);
        let mut turns = in_session.map(|turn| turn.is_cancelled).chain(self.at_work.get(session).copied());
        turns.next().is_some_and(|first| first && turns.all(|is_cancelled| is_cancelled))
    }

    /// Returns the session whose turn is running, if it is only one.
    pub(super) fn only_session(&self) -> Option<&str> {
        let mut sessions = self.running.values().map(|turn| &turn.session).chain(self.at_work.keys());
        let first = sessions.next()?;
        sessions.all(|session| session == first).then_some(first)
    }

    /// Records that a prompt goes to the agent, which begins a turn. Beyond [`limits::TURNS`] a turn is not followed,
    /// but its prompt is forwarded all the same.
    pub(super) fn start(&mut self, id: &RequestId, session: String) {
        let fits = id.as_str().len() <= limits::ID && session.len() <= limits::SESSION;
        if fits && self.running.len() < limits::TURNS {
            self.running.insert(id.key(), Turn { session, is_cancelled: false });
        }
    }

    /// Ends the wait for the response to a prompt, which has arrived. Returns the turn.
    pub(super) fn end(&mut self, id: &str) -> Option<Turn> {
        self.running.remove(&*key(id))
    }

    /// Records that the agent has acknowledged a prompt, and works on its turn until it says that it is idle.
    pub(super) fn acknowledged(&mut self, turn: &Turn) {
        if self.follows(&turn.session) {
            self.at_work.insert(turn.session.clone(), turn.is_cancelled);
        }
    }

    /// Records that the agent works in this session until it says that it is idle.
    pub(super) fn work(&mut self, session: &str) {
        if self.follows(session) {
            // The turn may have been cancelled before the agent began with it.
            let is_cancelled = self.is_cancelled(session);
            self.at_work.entry(session.to_owned()).or_insert(is_cancelled);
        }
    }

    fn follows(&self, session: &str) -> bool {
        session.len() <= limits::SESSION
            && (self.at_work.len() < limits::TURNS || self.at_work.contains_key(session))
    }

    /// Records that the agent does not work in this session any more.
    pub(super) fn rest(&mut self, session: &str) {
        self.at_work.remove(session);
    }

    /// Records that the client cancels the turns that are running in this session.
    pub(super) fn cancel_in(&mut self, session: &str) {
        let in_session = self.running.values_mut().filter(|turn| turn.session == session);
        in_session.for_each(|turn| turn.is_cancelled = true);
        self.at_work.get_mut(session).into_iter().for_each(|is_cancelled| *is_cancelled = true);
    }

    /// Returns whether a prompt of this session is held already.
    pub(super) fn holds(&self, session: &str) -> bool {
        self.held.iter().any(|held| held.session == session)
    }

    /// Holds a prompt back. Returns it in the error if too many are held.
    pub(super) fn hold(&mut self, held: HeldPrompt) -> Result<(), HeldPrompt> {
        let size = self.held.iter().map(|held| held.line.len()).sum::<usize>() + held.line.len();
        if self.held.len() == limits::HELD_PROMPTS || size > limits::HELD_BYTES {
            return Err(held);
        }
        self.held.push_back(held);
        Ok(())
    }

    /// Takes out the prompt of this session that has waited longest.
    pub(super) fn release(&mut self, session: &str) -> Option<HeldPrompt> {
        let place = self.held.iter().position(|held| held.session == session)?;
        self.held.remove(place)
    }

    /// Takes out the held prompt with this id.
    pub(super) fn cancel(&mut self, id: &str) -> Option<HeldPrompt> {
        let place = self.held.iter().position(|held| held.id.is(id))?;
        self.held.remove(place)
    }

    /// Drops all held prompts.
    pub(super) fn clear_held(&mut self) {
        self.held.clear();
    }
}
