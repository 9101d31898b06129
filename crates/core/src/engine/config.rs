//! What can be set for a bridge, whatever the protocol. What only one protocol has is left to its room.

use std::time::Duration;

use crate::{
    desk::{BridgeName, Timestamp},
    limits,
};

/// The settings of a bridge.
#[derive(Clone, Debug)]
pub struct Config {
    /// How long a question stays open; `None` for as long as it takes.
    pub timeout: Option<Duration>,
    /// How long the agent may take to end once the client is gone.
    pub grace: Duration,
    /// Whether other responders may answer what the agent asks permission for. Otherwise only the client does.
    pub permissions: bool,
    /// The name under which other responders find the bridge's questions; `None` where they cannot.
    pub name: Option<BridgeName>,
    /// Whether the inbox keeps a ledger. A responder's outcome that cannot be delivered at once waits then until the ledger
    /// has noted that its delivery begins.
    pub has_ledger: bool,
    /// The time of day at which the bridge started. All other times that it is told have passed since then.
    pub started: Timestamp,
    /// A random number that never leaves the process. Answers with secrets are compared by a digest under it.
    pub key: u64,
}

impl Default for Config {
    /// Waits as long as it takes, and lets other responders answer permissions.
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
