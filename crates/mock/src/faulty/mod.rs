//! Rules that the mock agent breaks: a filter between the agent and its client.

mod fault;
mod from_agent;
mod from_client;
mod state;

pub use fault::AgentFault;
pub(crate) use state::{Faulty, Received};
