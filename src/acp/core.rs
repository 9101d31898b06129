//! The state of one bridge between an agent and a client, and which part of it an event concerns.
//! How bytes become lines, and where lines go, is left to the faces: `bridge.rs` and `component.rs`.

use std::{sync::Arc, time::Duration};

use super::{
    action::{Action, Line},
    capabilities::{self, Introductions},
    config::Config,
    event::{Event, Output, Peer, Unanswered},
    hint::Hints,
    lifecycle::Lifecycle,
    pending::Pending,
    sessions::Sessions,
    silence::Silence,
    tool_calls::ToolCalls,
    turns::Turns,
};
use crate::{
    desk::{Asker, Desk, Setup},
    dialect::permission::Protocol,
    question::Reason,
    wire::id::RequestId,
};

/// Decides: a line or an event and the time go in, actions come out.
#[derive(Debug)]
pub(super) struct Core {
    pub config: Config,
    /// The life of each question.
    pub desk: Desk,
    /// What of a question is ACP's.
    pub pending: Pending,
    pub turns: Turns,
    pub sessions: Sessions,
    pub hints: Hints,
    pub silence: Silence,
    pub lifecycle: Lifecycle,
    /// The client's `initialize`, until the agent has answered it.
    pub initialize: Option<RequestId>,
    /// What the client can show.
    pub client: capabilities::Client,
    /// What the peers said of themselves last.
    pub introduced: Introductions,
    /// Whether the shell has still to be told of that.
    pub is_introduced: bool,
    /// The agent's own name.
    pub agent: Option<Arc<str>>,
    /// The version of the protocol that the agent agreed to.
    pub protocol: Protocol,
    /// The sessions of an agent's tool calls, if it needs that.
    pub tool_calls: ToolCalls,
    /// The number of the last id that was made up, whatever for.
    pub made_up: u64,
    /// Why no question can be asked any more.
    pub closed: Option<Reason>,
    /// What the line or the event at hand leads to.
    pub actions: Vec<Action>,
}

impl Core {
    pub(super) fn new(config: Config) -> Self {
        let setup = Setup {
            bridge: config.name.clone().unwrap_or_default(),
            asker: Asker::Agent,
            started: config.started,
            key: config.key,
        };
        Core {
            desk: Desk::new(setup),
            lifecycle: Lifecycle::new(config.grace),
            config,
            pending: Pending::default(),
            turns: Turns::default(),
            sessions: Sessions::default(),
            hints: Hints::default(),
            silence: Silence::default(),
            initialize: None,
            client: capabilities::Client::default(),
            introduced: Introductions::default(),
            is_introduced: false,
            agent: None,
            protocol: Protocol::default(),
            tool_calls: ToolCalls::default(),
            made_up: 0,
            closed: None,
            actions: Vec::new(),
        }
    }

    /// Returns what a line that was intercepted leads to.
    pub(super) fn line(&mut self, from: Peer, line: &Line, now: Duration) -> Vec<Action> {
        match from {
            Peer::Client => self.client_line(line, now),
            Peer::Agent => self.agent_line(line, now),
        }
        std::mem::take(&mut self.actions)
    }

    /// Returns what anything but a line leads to.
    pub(super) fn handle(&mut self, event: Event, now: Duration) -> Vec<Action> {
        match event {
            Event::AgentExited { group } => {
                self.close(Reason::AgentGone, now);
                self.lifecycle.agent_exited(group, now, &mut self.actions);
            }
            Event::GroupEnded => self.lifecycle.group_ended(now, &mut self.actions),
            Event::Signal => {
                self.close(Reason::Shutdown, now);
                self.lifecycle.signal(now, &mut self.actions);
            }
            Event::Submitted(submitted) => self.submitted(submitted, now),
            Event::Tick => {
                self.expire(now);
                self.announce_due(now);
                self.lifecycle.tick(now, &mut self.actions);
            }
        }
        std::mem::take(&mut self.actions)
    }

    /// The client is gone: its output ended, or it reads no more.
    pub(super) fn client_gone(&mut self, now: Duration) -> Vec<Action> {
        self.close(Reason::ClientGone, now);
        self.lifecycle.client_gone(now, &mut self.actions);
        std::mem::take(&mut self.actions)
    }

    /// The agent's output ended, or no process is left that could write to it.
    pub(super) fn agent_output_ended(&mut self, now: Duration) -> Vec<Action> {
        self.actions.push(Action::Tell(Output::EndClientOutput));
        self.lifecycle.output_ended(now, &mut self.actions);
        std::mem::take(&mut self.actions)
    }

    /// The agent has the outcome of this question on its stdin.
    pub(super) fn delivered(&mut self, number: u64) -> Vec<Action> {
        self.desk.delivered(number);
        self.tell();
        std::mem::take(&mut self.actions)
    }

    /// The outcome of this question was on its way, and is lost.
    pub(super) fn undeliverable(&mut self, number: u64) -> Vec<Action> {
        self.desk.undeliverable(number);
        self.tell();
        std::mem::take(&mut self.actions)
    }

    /// Returns when the next [`Event::Tick`] is due, if one is.
    pub(super) fn next_deadline(&self) -> Option<Duration> {
        let (desk, lifecycle) = (self.desk.next_deadline(), self.lifecycle.deadline());
        [desk, lifecycle, self.hints.next_deadline(), self.silence.next_deadline()]
            .into_iter()
            .flatten()
            .min()
    }

    /// Returns a number that no other made-up id has.
    pub(super) fn next_number(&mut self) -> u64 {
        self.made_up += 1;
        self.made_up
    }

    /// Passes on what the desk tells.
    pub(super) fn tell(&mut self) {
        while let Some(notice) = self.desk.poll() {
            self.actions.push(Action::Tell(Output::Notice(notice)));
        }
    }

    /// The client does not answer a question, or not in this way.
    pub(super) fn unanswered(&mut self, number: u64, why: Unanswered, now: Duration) {
        match &why {
            Unanswered::Elsewhere(kept) => self.desk.leave(number, Some(kept.clone())),
            Unanswered::NoWay => self.desk.leave(number, None),
            _ => {}
        }
        let left = matches!(why, Unanswered::Elsewhere(_) | Unanswered::NoWay);
        let record = self.desk.get(number).map(Arc::clone);
        self.actions.extend(record.map(|record| Action::Tell(Output::Unanswered(record, why))));
        if left {
            self.hint(number, now);
        }
    }
}
