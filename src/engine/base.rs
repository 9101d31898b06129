//! What the cores of all protocols have in common: the desk, the agent's way to its end, and what is to be done next.

use super::{
    action::Action, config::Config, event::Output, introduction::Introductions, lifecycle::Lifecycle,
};
use crate::desk::{Asker, Desk, Setup};

/// A core with the common part.
pub trait HasBase {
    /// Returns what all cores have in common.
    fn base(&self) -> &Base;

    /// Returns what all cores have in common, to change it.
    fn base_mut(&mut self) -> &mut Base;
}

/// The common part of a protocol's core.
#[derive(Debug)]
pub struct Base {
    /// The life of each question.
    pub desk: Desk,
    /// What the line or the event at hand leads to.
    pub actions: Vec<Action>,
    pub(super) lifecycle: Lifecycle,
    introduced: Introductions,
    /// Whether the shell has still to be told of the introductions.
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
            lifecycle: Lifecycle::new(config.grace),
            introduced: Introductions::default(),
            is_introduced: false,
        }
    }

    /// Passes on what the desk tells.
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

    /// Returns what is to be done.
    pub(super) fn take_actions(&mut self) -> Vec<Action> {
        std::mem::take(&mut self.actions)
    }
}
