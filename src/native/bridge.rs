//! The protocols between an agent and its host, for the engine, and the bridges that speak them. What the parts decide is
//! left to the core.

use std::{convert::Infallible, time::Duration};

use super::{claude::Claude, codex::Codex, core::Core, spoken::HostProtocol};
use crate::{
    desk::TicketedSubmission,
    engine::{Base, Bridge, Config, HasBase, Line, Peer, Protocol},
    question::Reason,
    wire::frame::Verdict,
};

/// A bridge between Claude Code and its host.
pub type ClaudeBridge = Bridge<Core<Claude>>;

/// A bridge between Codex' app-server and its host.
pub type CodexBridge = Bridge<Core<Codex>>;

impl<S: HostProtocol> Bridge<Core<S>> {
    /// Returns a bridge between an agent and a host that have not said anything yet.
    pub fn new(config: Config) -> Self {
        Bridge::around(Core::new(config))
    }
}

impl<S: HostProtocol> HasBase for Core<S> {
    fn base(&self) -> &Base {
        &self.base
    }

    fn base_mut(&mut self) -> &mut Base {
        &mut self.base
    }
}

impl<S: HostProtocol> Protocol for Core<S> {
    /// Each peer has a connection of its own.
    type Shared = Infallible;

    fn judge(&self, from: Peer, line: &[u8]) -> Verdict {
        Core::judge(self, from, line)
    }

    fn line(&mut self, from: Peer, line: &Line, now: Duration) {
        match from {
            Peer::Client => self.host_line(line, now),
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
    }

    fn next_deadline(&self) -> Option<Duration> {
        None
    }

    fn open_questions(&self) -> usize {
        self.pending.len()
    }
}
