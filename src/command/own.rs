//! The inbox of this process, for commands that ask: other commands find its questions as they find those of a bridge.

use std::io;

use crate::{
    control::{BridgeInbox, Port, host::Host},
    machine::{
        discovery::{DiscoveryError, Socket},
        local::LocalInbox,
    },
    rule_service::RuleService,
};

/// The inbox of this process, and what serves it on a socket until this is dropped.
pub(super) struct Own {
    pub(super) inbox: BridgeInbox,
    host: Host<Socket>,
    /// While the port exists, the inbox is open.
    _port: Port,
}

impl Own {
    /// Listens on a socket of its own. `agent` is what others show as the one that asks.
    pub(super) fn bind(agent: &str) -> Result<Self, DiscoveryError> {
        let (inbox, port, host) = LocalInbox::new(agent.to_owned()).bind()?;
        let host = host.with(Box::new(RuleService));
        #[cfg(feature = "notify")]
        let host = host.with(Box::new(crate::notifier::NotifyService::new()));
        Ok(Own { inbox, host, _port: port })
    }

    /// Serves the inbox from now on, and times the questions in it.
    pub(super) fn start(&mut self) -> io::Result<()> {
        self.host.start(Vec::new())
    }
}
