//! The trait that gives each agent a separate inbox, so that the agent is listed like a bridge. Opening an inbox is
//! left to the composition root.

use std::{fmt, path::PathBuf};

use askbridge_control::{inbox::LocalDesk, join::discovery::DiscoveryError};

/// The identity of an agent, for listings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentIdentity {
    /// The agent's name, as responders see it.
    pub agent: String,
    /// The folder that the agent works in.
    pub folder: PathBuf,
    /// The process of the agent, if known. Neither this process nor its descendants may answer its questions (I12).
    pub pid: Option<u32>,
}

/// The inbox of one agent. Dropping it closes the inbox, after the last replies to responders.
pub struct AgentInbox {
    /// The desk on which the agent's questions are opened.
    pub desk: LocalDesk,
    /// The host that serves the questions.
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
