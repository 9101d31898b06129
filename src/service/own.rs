//! The inbox of a process that is no bridge, for what it asks itself: other commands find its questions as they find those
//! of a bridge.

use std::{io, sync::Arc};

use askbridge_control::{
    inbox::{BridgeInbox, Ledger, Port},
    join::discovery::{DiscoveryError, LocalInbox, Socket},
    rpc::host::Host,
};
use askbridge_settings::Settings;

use super::{Context, services};

/// The inbox of this process, and the host that serves it on a socket. Dropping the value ends both.
pub struct OwnInbox {
    /// The handle that keeps the inbox open. It is dropped first, since the services of the host end when the inbox is
    /// closed.
    port: Option<Port>,
    /// The inbox.
    pub inbox: BridgeInbox,
    /// The ledger that keeps its questions beyond this process, if the settings want one.
    pub ledger: Option<Arc<dyn Ledger>>,
    host: Host<Socket>,
}

impl OwnInbox {
    /// Listens on a new socket. `agent` is the name that lists show for its questions.
    ///
    /// # Errors
    /// The directory of the sockets cannot be used.
    pub fn bind(agent: &str, settings: &Settings) -> Result<Self, DiscoveryError> {
        let ledger = super::ledger(settings.journal());
        let guarding = settings.guarding();
        let (inbox, port, host) = LocalInbox::new(agent.to_owned()).bind(ledger.clone(), guarding)?;
        let host = host.with(services(&Context::new(ledger.clone())));
        Ok(OwnInbox { port: Some(port), inbox, ledger, host })
    }

    /// Ends the inbox: the programs that wait are told so. Its socket is served until the value is dropped.
    pub fn end(&mut self) {
        self.port = None;
    }

    /// Serves the inbox from now on, and times the questions in it.
    ///
    /// # Errors
    /// The thread of the inbox cannot be started.
    pub fn start(&mut self) -> io::Result<()> {
        self.host.start()
    }
}
