//! What a line of the agent leads to.

use std::{sync::Arc, time::Duration};

use super::{
    bridge::Bridge,
    capabilities,
    event::{Action, Line, Peer},
    pending::Open,
};
use crate::{
    dialect::sandboxagent::{self, request, response},
    limits,
    question::{Question, Reason},
    wire::{envelope::Message, id::RequestId, line},
};

impl Bridge {
    /// Handles a wanted line of the agent.
    pub(super) fn agent_line(&mut self, line: &Line, now: Duration) {
        let Some(message) = line.message() else { return self.actions.push(Action::Forward) };
        match (message.method.as_deref(), message.id) {
            (Some(sandboxagent::METHOD), Some(id)) if line.whole => self.question(id, &message, now),
            (Some("$/cancel_request"), None) => self.agent_withdraws(&message, now),
            (Some(_), Some(id)) => {
                self.pending.forget(id);
                self.actions.push(Action::Forward);
            }
            (None, Some(id)) if message.responds() => self.agent_response(id, line),
            _ => self.actions.push(Action::Forward),
        }
    }

    fn question(&mut self, id: &str, message: &Message<'_>, now: Duration) {
        match self.closed {
            // Nobody is left to be told.
            Some(Reason::AgentGone) => return self.actions.push(Action::Forward),
            Some(reason) => {
                let rejected = line::response(id, &response::rejected(reason));
                return self.actions.push(Action::Send(Peer::Agent, rejected));
            }
            None => {}
        }
        if self.pending.get(id).is_some() {
            let error = line::error(id, line::INVALID_REQUEST, "a question with this id is still open");
            return self.actions.push(Action::Send(Peer::Agent, error));
        }
        match self.read_question(id, message) {
            Ok((question, size)) => self.open(id, question, size, now),
            Err(wrong) => {
                let error = line::error(id, line::INVALID_PARAMS, &format!("invalid question: {wrong}"));
                self.actions.push(Action::Send(Peer::Agent, error));
            }
        }
    }

    fn read_question(&mut self, id: &str, message: &Message<'_>) -> Result<(Question, usize), String> {
        if id.len() > limits::ID {
            return Err(format!("its request id is longer than {} bytes", limits::ID));
        }
        let params = message.params.ok_or("it has no params")?;
        let made_up = &mut self.made_up;
        let mut question = request::read(params, || {
            *made_up += 1;
            format!("askbridge-{made_up}")
        })?;
        if question.session.is_none() {
            question.session = self.turns.only_session().map(str::to_owned);
        }
        let size = question.weight(params.len());
        self.pending.check_room(question.session.as_deref(), size)?;
        Ok((question, size))
    }

    fn open(&mut self, id: &str, question: Question, size: usize, now: Duration) {
        // The shorter one, where both the agent and the user have one.
        let timeout = [question.timeout, self.config.timeout].into_iter().flatten().min();
        let deadline = timeout.map(|timeout| now.saturating_add(timeout));
        self.actions.push(Action::Forward);
        let question = Arc::new(question);
        self.actions.push(Action::Opened(Arc::clone(&question)));
        let id = RequestId::new(id);
        self.pending.open(Open { id, question, size, since: now, deadline, withdrawn: false });
    }

    /// The client hears of it, and has a moment to answer it in its own words.
    fn agent_withdraws(&mut self, message: &Message<'_>, now: Duration) {
        let id = message.param("requestId").and_then(|id| std::str::from_utf8(id).ok());
        if let Some(open) = id.and_then(|id| self.pending.get_mut(id))
            && !open.withdrawn
        {
            open.withdrawn = true;
            open.deadline = Some(now.saturating_add(limits::WITHDRAW));
        }
        self.actions.push(Action::Forward);
    }

    fn agent_response(&mut self, id: &str, line: &Line) {
        if self.initialize.as_ref().is_some_and(|own| own.is(id)) {
            self.initialize = None;
            let promised = if line.whole { capabilities::promise_to_client(&line.bytes) } else { None };
            return self.actions.push(match promised {
                Some(bytes) => Action::Send(Peer::Client, bytes.into()),
                None => Action::Forward,
            });
        }
        self.actions.push(Action::Forward);
        let Some(session) = self.turns.end(id) else { return };
        if self.turns.runs_in(&session) {
            return;
        }
        if let Some(held) = self.turns.release(&session) {
            self.actions.push(Action::Send(Peer::Agent, held.line));
            self.turns.start(&held.id, held.session);
        }
    }
}
