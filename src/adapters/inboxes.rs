//! The trait that gives each agent an inbox of its own, so that it is listed like a bridge. How an inbox is opened is
//! left to the composition root.

use std::{fmt, path::PathBuf};

use crate::{inbox::LocalDesk, machine::discovery::DiscoveryError};

/// The identity of an agent, for listings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentIdentity {
    /// The name that people know.
    pub agent: String,
    /// The folder that it works in.
    pub folder: PathBuf,
    /// Its process, if known. Neither this process nor its descendants may answer its questions (I12).
    pub pid: Option<u32>,
}

/// The inbox of one agent, until this is dropped. Dropping it waits for the last replies to responders.
pub struct AgentInbox {
    /// Where its questions are opened.
    pub desk: LocalDesk,
    /// The host that serves them.
    pub host: Box<dyn Send>,
}

impl fmt::Debug for AgentInbox {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Hosted").field("desk", &self.desk).finish_non_exhaustive()
    }
}

/// The factory of the agents' inboxes.
pub trait AgentInboxes {
    /// Makes an inbox for this agent, and serves it.
    ///
    /// # Errors
    /// Its socket cannot be bound, or nothing can serve it.
    fn host(&self, who: AgentIdentity) -> Result<AgentInbox, DiscoveryError>;
}
