//! The inbox of this process on this machine: its identity, and the socket by which others find it.

use std::{env, time::SystemTime};

use super::discovery::{self, DiscoveryError, Socket};
use crate::control::{BridgeInbox, Identity, Port, Work, host::Host};

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
        let (bridge, started_at) = (discovery::bridge_name(), SystemTime::now().into());
        let mut key = [0; 8];
        // Without random numbers, digests of secrets are under a key that can be guessed. They never leave the process.
        getrandom::fill(&mut key).unwrap_or_default();
        let key = u64::from_ne_bytes(key);
        let (inbox, port, work) = BridgeInbox::new(Identity { bridge, agent, folder, started_at }, key);
        LocalInbox { inbox, port, work, key }
    }

    /// Listens on a socket of the inbox's name, where other programs find it. Connections wait until they are served.
    pub fn bind(self) -> Result<(BridgeInbox, Port, Host<Socket>), DiscoveryError> {
        let LocalInbox { inbox, port, work, .. } = self;
        Ok((inbox.clone(), port, bind(inbox, work)?))
    }
}

/// Listens on a socket of an inbox's name.
pub fn bind(inbox: BridgeInbox, work: Work) -> Result<Host<Socket>, DiscoveryError> {
    let (socket, listener) = Socket::bind(&discovery::folder()?, inbox.identity().bridge.as_str())?;
    Ok(Host::new(inbox, work, listener, socket))
}
