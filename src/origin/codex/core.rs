//! What a client of Codex' app server does: pure, so that every order of events can be tried. Messages, decisions and the
//! time go in; messages and what becomes of questions come out.
//!
//! It follows the status of every thread, and joins those that are at work: the server then sends their open requests. It never sends an error, and no response but what a responder decided.

use std::{collections::VecDeque, path::PathBuf, sync::Arc, time::Duration};

use super::{
    message::{self, Message},
    requests::Requests,
    threads::Threads,
};
use crate::{
    desk::Settlement,
    question::{Outcome, Provenance, Question},
};

/// What the shell has to do next.
#[derive(Debug)]
pub enum Effect {
    /// Send this message. If that fails, the connection is over.
    Send(String),
    /// Open this question, and remember it under the key.
    Open(u64, Box<Question>),
    /// Codex has what was decided of this question.
    Delivered(u64),
    /// It is not known whether Codex has what was decided of this question.
    Undeliverable(u64),
    /// Look into the record of a thread for what the tool call returned that asked this question, for a short time. Give it
    /// to [`Core::recorded`].
    Look(u64, Arc<PathBuf>, String),
    /// This question is over, by what happened at Codex.
    End(u64, Outcome, Provenance),
}

/// The effects of one call.
pub(super) type Effects = VecDeque<Effect>;

/// A client of one app server. Times are counted from its start.
#[derive(Debug, Default)]
pub struct Core {
    threads: Threads,
    requests: Requests,
    effects: Effects,
}

impl Core {
    /// Begins with a new connection. Questions of the connection before go on if the server sends them again.
    pub fn connected(&mut self) {
        self.threads.connected(&mut self.effects);
    }

    /// Notes that the connection is over. Open questions wait for the next one.
    pub fn disconnected(&mut self, now: Duration) {
        self.threads.disconnected();
        self.requests.disconnected(now, &mut self.effects);
        self.effects.retain(|effect| !matches!(effect, Effect::Send(_)));
    }

    /// Reads a message of the server.
    pub fn message(&mut self, text: &str, now: Duration) {
        let message: Message<'_> = match serde_json::from_str(text) {
            Ok(message) => message,
            Err(error) => return tracing::debug!(%error, "a message of Codex is not understood"),
        };
        match (message.method.as_deref(), message.id) {
            (Some(method), Some(id)) => {
                self.request(method, id.get(), message.params.map(|it| it.get()), now)
            }
            (Some(method), None) => self.notification(method, &message, now),
            (None, Some(id)) => self.threads.response(id.get(), &message, now, &mut self.effects),
            (None, None) => {}
        }
    }

    fn request(&mut self, method: &str, id: &str, params: Option<&str>, now: Duration) {
        let Some(params) = params else { return };
        self.requests.request(method, id, params, &self.threads, now, &mut self.effects);
    }

    fn notification(&mut self, method: &str, message: &Message<'_>, now: Duration) {
        match method {
            "thread/status/changed" => {
                if let Some(changed) = message::read::<message::StatusChanged>(message.params) {
                    self.threads.status(&changed.thread_id, &changed.status, &mut self.effects);
                }
            }
            "thread/started" => {
                if let Some(started) = message::read::<message::OfThread>(message.params) {
                    self.threads.learn(&started.thread);
                    self.threads.status(&started.thread.id, &started.thread.status, &mut self.effects);
                }
            }
            "thread/closed" => {
                if let Some(closed) = message::read::<message::Place>(message.params)
                    && let Some(thread) = closed.thread_id
                {
                    self.requests.thread_closed(&thread, &mut self.effects);
                    self.threads.forget(&thread);
                }
            }
            "serverRequest/resolved" => {
                if let Some(resolved) = message::read::<message::Resolved>(message.params) {
                    self.requests.resolved(&resolved, &self.threads, now, &mut self.effects);
                }
            }
            "turn/completed" => {
                if let Some(completed) = message::read::<message::TurnCompleted>(message.params) {
                    self.requests.turn_completed(&completed, &mut self.effects);
                }
            }
            "item/started" | "item/completed" => {
                if let Some(item) = message::read::<message::OfItem<'_>>(message.params) {
                    self.requests.item(item.item, &mut self.effects);
                }
            }
            _ => {}
        }
    }

    /// Gives Codex what a responder decided, unless it is too late: then [`Effect::End`] follows.
    pub fn decided(&mut self, key: u64, settlement: &Settlement, now: Duration) {
        self.requests.decided(key, settlement, now, &mut self.effects);
    }

    /// Takes what the record of a thread says of a question ([`Effect::Look`]).
    pub fn recorded(&mut self, key: u64, output: &str) {
        self.requests.recorded(key, output, &mut self.effects);
    }

    /// Leaves a question to Codex' own dialog, because it could not be opened here.
    pub fn left(&mut self, key: u64) {
        self.requests.leave(key);
    }

    /// Returns when [`Core::tick`] is due.
    pub fn next_deadline(&self) -> Option<Duration> {
        self.threads.next_deadline().into_iter().chain(self.requests.next_deadline()).min()
    }

    /// Does what is due by now.
    pub fn tick(&mut self, now: Duration) {
        self.threads.tick(now, &mut self.effects);
        let is_settled = self.threads.take_listed(now);
        self.requests.tick(now, is_settled, &mut self.effects);
    }

    /// Returns what has to be done next.
    pub fn poll(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }

    /// Returns whether no question is open.
    pub fn is_idle(&self) -> bool {
        self.requests.is_empty()
    }
}
