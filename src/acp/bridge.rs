//! The state of one bridge, and which part of it an event concerns.

use std::time::Duration;

use super::{
    capabilities,
    event::{Action, Event, Opened, Peer},
    lifecycle::Lifecycle,
    pending::Pending,
    presentation::Tier,
    tool_calls::ToolCalls,
    turns::Turns,
};
use crate::{dialect::permission::Protocol, limits, question::Reason, wire::id::RequestId};

/// What can be set.
#[derive(Clone, Debug)]
pub struct Config {
    /// How long a question stays open; `None` for as long as it takes.
    pub timeout: Option<Duration>,
    /// How long the agent may take to end once the client is gone.
    pub grace: Duration,
    /// The one way in which the client is asked; `None` for what it says that it can show.
    pub tier: Option<Tier>,
    /// Whether `initialize` promises each peer what the bridge can keep.
    pub promise: bool,
    /// The name under which others find the bridge's questions; `None` where they cannot.
    pub name: Option<String>,
}

impl Default for Config {
    /// Waits as long as it takes, asks the client in the way that it can show, and promises what can be kept.
    fn default() -> Self {
        Config { timeout: None, grace: limits::GRACE, tier: None, promise: true, name: None }
    }
}

/// One agent, one client, and the questions between them.
#[derive(Debug)]
pub struct Bridge {
    pub(super) config: Config,
    pub(super) pending: Pending,
    pub(super) turns: Turns,
    pub(super) lifecycle: Lifecycle,
    /// The client's `initialize`, until the agent has answered it.
    pub(super) initialize: Option<RequestId>,
    /// What the client can show.
    pub(super) client: capabilities::Client,
    /// The version of the protocol that the agent agreed to.
    pub(super) protocol: Protocol,
    /// The sessions of an agent's tool calls, if it needs that.
    pub(super) tool_calls: ToolCalls,
    /// The number of the last question that opened.
    pub(super) opened: u64,
    /// The number of the last id that was made up, whatever for.
    pub(super) made_up: u64,
    /// Why no question can be shown any more.
    pub(super) closed: Option<Reason>,
    /// What the event at hand leads to.
    pub(super) actions: Vec<Action>,
}

impl Bridge {
    /// Returns a bridge between peers that have not said anything yet.
    pub fn new(config: Config) -> Self {
        Bridge {
            lifecycle: Lifecycle::new(config.grace),
            config,
            pending: Pending::default(),
            turns: Turns::default(),
            initialize: None,
            client: capabilities::Client::default(),
            protocol: Protocol::default(),
            tool_calls: ToolCalls::default(),
            opened: 0,
            made_up: 0,
            closed: None,
            actions: Vec::new(),
        }
    }

    /// Says what an event leads to.
    #[must_use]
    pub fn handle(&mut self, event: Event, now: Duration) -> Vec<Action> {
        match event {
            Event::Line(Peer::Client, line) => self.client_line(&line, now),
            Event::Line(Peer::Agent, line) => self.agent_line(&line, now),
            Event::ClientEnded | Event::ClientBroke => self.client_gone(now),
            Event::AgentOutputEnded => {
                self.actions.push(Action::EndClientOutput);
                self.lifecycle.output_ended(now, &mut self.actions);
            }
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
                self.lifecycle.tick(now, &mut self.actions);
            }
        }
        std::mem::take(&mut self.actions)
    }

    /// Returns when the next [`Event::Tick`] is due, if one is.
    pub fn next_deadline(&self) -> Option<Duration> {
        [self.pending.next_deadline(), self.lifecycle.deadline()].into_iter().flatten().min()
    }

    /// Returns how many questions are open.
    pub fn open_questions(&self) -> usize {
        self.pending.len()
    }

    /// Returns the name by which others find this question, where they can.
    pub fn name_of(&self, opened: &Opened) -> Option<String> {
        self.config.name.as_ref().map(|bridge| opened.name(bridge))
    }

    /// Says whether nobody is left who could write to the agent's output on its behalf.
    pub fn agent_is_over(&self) -> bool {
        self.lifecycle.agent_is_over()
    }

    /// Returns a number that no other made-up id has.
    pub(super) fn next_number(&mut self) -> u64 {
        self.made_up += 1;
        self.made_up
    }

    fn client_gone(&mut self, now: Duration) {
        self.close(Reason::ClientGone, now);
        self.lifecycle.client_gone(now, &mut self.actions);
    }
}
