//! The common part of the cores of all protocols: the desk, the lifecycle of the agent's process, the actions that are
//! decided and not carried out yet, and the introductions of both peers. Reading the introductions from lines is left
//! to the protocols.

use std::time::Duration;

use super::{
    event::{Action, Output},
    heard::{Heard, Reader},
    lifecycle::Lifecycle,
};
use crate::{
    desk::{Asker, BridgeName, Desk, Setup, Timestamp},
    limits,
    question::Question,
};

/// A protocol's core, which contains the common part.
pub trait HasBase {
    /// Returns the common part.
    fn base(&self) -> &Base;

    /// Returns the common part, to change it.
    fn base_mut(&mut self) -> &mut Base;
}

/// The common part of a protocol's core.
#[derive(Debug)]
pub struct Base {
    /// The life of each question.
    pub desk: Desk,
    /// The actions that follow from the current line or event.
    pub actions: Vec<Action>,
    /// What the agent said, for the questions that it asks later.
    pub heard: Heard,
    pub(super) lifecycle: Lifecycle,
    /// How long a question that opens now may stay open.
    timeout: Option<Duration>,
    has_ledger: bool,
    introduced: Introductions,
    /// Whether the introductions have changed since the shell took them.
    is_introduced: bool,
}

impl Base {
    /// Returns the common part of a core at its start.
    pub fn new(config: &Config) -> Self {
        let setup = Setup {
            bridge: config.name.clone().unwrap_or_default(),
            asker: Asker::Agent,
            started: config.started,
            key: config.key,
        };
        Base {
            desk: Desk::new(setup),
            actions: Vec::new(),
            heard: Heard::new(None),
            lifecycle: Lifecycle::new(config.grace),
            timeout: config.timeout,
            has_ledger: config.has_ledger,
            introduced: Introductions::default(),
            is_introduced: false,
        }
    }

    /// Returns the common part of a core that hears what its agent says. `reader` reads the agent's lines.
    #[must_use]
    pub fn hearing(self, reader: Reader) -> Self {
        Base { heard: Heard::new(Some(reader)), ..self }
    }

    /// Returns how long a question may stay open: the shorter time, where both the agent and the user have one.
    pub fn timeout(&self, question: &Question) -> Option<Duration> {
        [question.timeout, self.timeout].into_iter().flatten().min()
    }

    /// Returns whether a ledger records the delivery of this question's outcome. Before a delivery, a ledger knows only
    /// the outcomes that responders submitted.
    pub(super) fn notes_delivery(&self, number: u64) -> bool {
        self.has_ledger && self.desk.is_submitted(number)
    }

    /// Replaces the user's timeout, for questions that have opened since then and for later ones. An older question
    /// keeps its deadline: its user and its agent count on it.
    pub(super) fn change_timeout(&mut self, timeout: Option<Duration>, since: Duration) {
        let before = std::mem::replace(&mut self.timeout, timeout);
        self.desk.change_timeout(before, timeout, since);
    }

    /// Moves the desk's notices to the actions.
    pub fn tell(&mut self) {
        while let Some(notice) = self.desk.poll() {
            self.actions.push(Action::Tell(Output::Notice(notice)));
        }
    }

    /// Changes what the peers said of themselves.
    pub fn introduce(&mut self, change: impl FnOnce(&mut Introductions)) {
        change(&mut self.introduced);
        self.is_introduced = true;
    }

    /// Returns what the peers said of themselves.
    pub fn introductions(&self) -> &Introductions {
        &self.introduced
    }

    /// Returns what the peers said of themselves, once after each change.
    pub(super) fn take_introductions(&mut self) -> Option<Introductions> {
        std::mem::take(&mut self.is_introduced).then(|| self.introduced.clone())
    }

    /// Returns the actions.
    pub(super) fn take_actions(&mut self) -> Vec<Action> {
        std::mem::take(&mut self.actions)
    }
}

/// A peer's introduction when the connection began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Introduction {
    /// Its own name. A long one is left out.
    pub name: Option<String>,
    /// The version of the protocol that it speaks.
    pub protocol: u32,
    /// Its declared capabilities that concern questions: `questions`, `forms`, `notices` or `kiro`.
    pub promises: Vec<&'static str>,
}

/// The last introductions of both peers. `None` before the first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Introductions {
    /// The client.
    pub client: Option<Introduction>,
    /// The agent.
    pub agent: Option<Introduction>,
}

/// The settings of a bridge.
#[derive(Clone, Debug)]
pub struct Config {
    /// How long a question stays open; `None` sets no limit.
    pub timeout: Option<Duration>,
    /// How long the agent may take to end once the client is gone.
    pub grace: Duration,
    /// Whether other responders may answer what the agent asks permission for. Otherwise only the client does.
    pub permissions: bool,
    /// The name under which other responders find the bridge's questions; `None` if they cannot.
    pub name: Option<BridgeName>,
    /// Whether the inbox keeps a ledger. If it does, an outcome of a responder that cannot be written at once waits
    /// until the ledger has recorded that its delivery begins.
    pub has_ledger: bool,
    /// The time of day at which the bridge started. All other times are durations since that moment.
    pub started: Timestamp,
    /// A random number that never leaves the process. It keys the digest by which answers with secrets are compared.
    pub key: u64,
}

impl Default for Config {
    /// Sets no timeout, and lets other responders answer permissions.
    fn default() -> Self {
        Config {
            timeout: None,
            grace: limits::GRACE,
            permissions: true,
            name: None,
            has_ledger: false,
            started: Timestamp::default(),
            key: 0,
        }
    }
}
