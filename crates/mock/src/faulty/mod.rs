//! An agent that breaks a rule: what stands between the mock agent and its client then.

mod fault;
mod filter;
mod received;
mod written;

pub use fault::AgentFault;
pub(crate) use filter::{Faulty, Received};
