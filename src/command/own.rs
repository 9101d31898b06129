//! The inbox of this process, for commands that ask: other commands find its questions as they find those of a bridge.

use std::{io, sync::Arc};

use crate::{
    control::{BridgeInbox, Ledger, LedgerService, Port, host::Host},
    machine::{
        discovery::{DiscoveryError, Socket},
        local::LocalInbox,
    },
    rule_service::RuleService,
    settings::{Settings, keys},
    settings_files,
};

/// The inbox of this process, and what serves it on a socket until this is dropped.
pub(super) struct OwnInbox {
    /// While the port exists, the inbox is open. It goes first: the services of the host end with the inbox.
    _port: Port,
    pub(super) inbox: BridgeInbox,
    /// What keeps its questions beyond this process, where the settings want that.
    pub(super) ledger: Option<Arc<dyn Ledger>>,
    host: Host<Socket>,
}

impl OwnInbox {
    /// Listens on a socket of its own. `agent` is what others show as the one that asks.
    pub(super) fn bind(agent: &str) -> Result<Self, DiscoveryError> {
        let settings = settings_files::read(None);
        let ledger = ledger(&settings);
        let confirm = settings.get(&keys::PERMISSION_CONFIRM).0;
        let (inbox, port, host) = LocalInbox::new(agent.to_owned()).bind(ledger.clone(), confirm)?;
        let host = host.with(Box::new(RuleService));
        let host = match &ledger {
            Some(ledger) => host.with(Box::new(LedgerService::new(Arc::clone(ledger)))),
            None => host,
        };
        #[cfg(feature = "notify")]
        let host = host.with(Box::new(crate::notifier::NotifyService::new()));
        Ok(OwnInbox { _port: port, inbox, ledger, host })
    }

    /// Serves the inbox from now on, and times the questions in it.
    pub(super) fn start(&mut self) -> io::Result<()> {
        self.host.start(Vec::new())
    }
}

/// Returns the user's journal, in which nothing was written yet.
#[cfg(feature = "journal")]
fn ledger(settings: &Settings) -> Option<Arc<dyn Ledger>> {
    Some(Arc::new(crate::journal::Journal::new(super::journal_options(settings.journal()?))))
}

#[cfg(not(feature = "journal"))]
fn ledger(_: &Settings) -> Option<Arc<dyn Ledger>> {
    None
}
