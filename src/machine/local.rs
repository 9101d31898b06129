//! The inbox of this process on this machine: its identity, and the socket by which others find it.

use std::{env, sync::Arc, time::SystemTime};

use super::discovery::{self, DiscoveryError, Socket};
use crate::{
    control::{BridgeInbox, Identity, Ledger, LocalDesk, Port, Work, agent_tree::AgentTree, host::Host},
    question::Risk,
};

/// An inbox that no socket leads to yet.
#[derive(Debug)]
pub struct LocalInbox {
    /// The inbox.
    pub inbox: BridgeInbox,
    /// The asker's end. Dropping it ends the inbox.
    pub port: Port,
    /// What has to run for the inbox.
    pub work: Work,
    /// A random number that never leaves the process. Answers with secrets are compared by a digest under it.
    pub key: u64,
}

impl LocalInbox {
    /// Makes an inbox under a new name. `agent` is what others show as the one that asks.
    pub fn new(agent: String) -> Self {
        let folder = env::current_dir().map(|folder| folder.display().to_string()).unwrap_or_default();
        let key = random_key();
        let (inbox, port, work) = BridgeInbox::new(identity(agent, folder), key);
        LocalInbox { inbox, port, work, key }
    }

    /// Listens on a socket of the inbox's name, where other programs find it. Connections wait until they are served.
    /// The questions are kept in this ledger. Permissions of this risk take a second step.
    pub fn bind(
        self,
        ledger: Option<Arc<dyn Ledger>>,
        confirm: Risk,
    ) -> Result<(BridgeInbox, Port, Host<Socket>), DiscoveryError> {
        let LocalInbox { inbox, port, work, .. } = self;
        let inbox = inbox.with_ledger(ledger).confirming(confirm);
        Ok((inbox.clone(), port, bind_inbox(inbox, work)?))
    }
}

/// Makes an inbox for an agent whose questions are on a desk in this process, and listens on a socket. `pid` is the
/// agent's process, if it is known.
pub fn bind_desk(
    agent: String,
    folder: String,
    pid: Option<u32>,
    ledger: Option<Arc<dyn Ledger>>,
    confirm: Risk,
) -> Result<(LocalDesk, Host<Socket>), DiscoveryError> {
    let tree = pid.and_then(AgentTree::of);
    let (inbox, desk, work) = BridgeInbox::of_desk(identity(agent, folder), random_key(), tree);
    Ok((desk, bind_inbox(inbox.with_ledger(ledger).confirming(confirm), work)?))
}

fn identity(agent: String, folder: String) -> Identity {
    Identity { bridge: discovery::bridge_name(), agent, folder, started_at: SystemTime::now().into() }
}

fn random_key() -> u64 {
    let mut key = [0; 8];
    // Without random numbers, digests of secrets are under a key that can be guessed. They never leave the process.
    getrandom::fill(&mut key).unwrap_or_default();
    u64::from_ne_bytes(key)
}

/// Listens on a socket of an inbox's name.
pub fn bind_inbox(inbox: BridgeInbox, work: Work) -> Result<Host<Socket>, DiscoveryError> {
    let (socket, listener) = Socket::bind(&discovery::folder()?, inbox.identity().bridge.as_str())?;
    Ok(Host::new(inbox, work, listener, socket))
}
