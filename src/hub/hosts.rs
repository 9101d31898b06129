//! The inboxes of the agents that this process is asked by: those in terminals, and those of a hook or of an MCP server.

use std::sync::{Arc, OnceLock};

use askbridge_adapters::{AgentIdentity, AgentInbox, AgentInboxes, attach::SharedInboxes};
use askbridge_control::{
    inbox::Ledger,
    join::discovery::{self, DiscoveryError},
};
use askbridge_settings::files;

use crate::service::{self, Context, services};

/// Creates an inbox in this process for each agent, with the rules and the notifiers of the settings. All of them share
/// one journal.
#[derive(Debug, Default)]
pub struct LocalHosts {
    ledger: OnceLock<Option<Arc<dyn Ledger>>>,
}

impl LocalHosts {
    /// Returns one for several tasks.
    pub fn shared() -> SharedInboxes {
        Arc::new(LocalHosts::default())
    }
}

impl AgentInboxes for LocalHosts {
    fn host(&self, who: AgentIdentity) -> Result<AgentInbox, DiscoveryError> {
        let settings = files::read(None);
        let ledger = self.ledger.get_or_init(|| service::ledger(settings.journal())).clone();
        let guarding = settings.guarding();
        let folder = who.folder.display().to_string();
        let (desk, host) = discovery::bind_desk(who.agent, folder, who.pid, ledger.clone(), guarding)?;
        let mut host = host.with(services(&Context::new(ledger)));
        host.start().map_err(DiscoveryError::Thread)?;
        Ok(AgentInbox { desk, host: Box::new(host) })
    }
}
