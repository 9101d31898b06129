//! ACP as a protocol of the engine, and the bridges that speak it. What the parts decide is left to the core.

use std::time::Duration;

use super::{component::Component, config::Config, core::Core};
use crate::{
    desk::TicketedSubmission,
    engine::{self, Base, HasBase, Line, Peer, Protocol},
    question::Reason,
    wire::frame::Verdict,
};

/// A bridge between an agent and a client that speak ACP.
pub type Bridge = engine::Bridge<Core>;

impl Bridge {
    /// Returns a bridge between an agent and a client that have not said anything yet, each on its own connection.
    pub fn new(config: Config) -> Self {
        Bridge::around(Core::new(config))
    }

    /// Returns a bridge that is a component under an ACP conductor that has not said anything yet. One connection has
    /// the lines of both peers; it is that of [`Peer::Client`].
    pub fn under_conductor(config: Config) -> Self {
        Bridge::sharing(Core::new(config), Component::default())
    }
}

impl HasBase for Core {
    fn base(&self) -> &Base {
        &self.base
    }

    fn base_mut(&mut self) -> &mut Base {
        &mut self.base
    }
}

impl Protocol for Core {
    type Shared = Component;

    fn judge(&self, from: Peer, line: &[u8]) -> Verdict {
        Core::judge(self, from, line)
    }

    fn line(&mut self, from: Peer, line: &Line, now: Duration) {
        match from {
            Peer::Client => self.client_line(line, now),
            Peer::Agent => self.agent_line(line, now),
        }
    }

    fn submitted(&mut self, submitted: TicketedSubmission, now: Duration) {
        Core::submitted(self, submitted, now);
    }

    fn close(&mut self, reason: Reason, now: Duration) {
        Core::close(self, reason, now);
    }

    fn tick(&mut self, now: Duration) {
        self.expire(now);
        self.announce_due(now);
    }

    fn next_deadline(&self) -> Option<Duration> {
        [self.hints.next_deadline(), self.silence.next_deadline()].into_iter().flatten().min()
    }

    fn open_questions(&self) -> usize {
        self.pending.len()
    }
}
