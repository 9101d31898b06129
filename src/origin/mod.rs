//! The agents that do not ask over ACP, each in the way that it has: how their questions come onto a desk of this
//! process, and how the outcome reaches them. Their shapes on the wire are left to `dialect`.

pub mod hosts;

pub mod hook;

pub mod attach;

mod answering;

mod file;

mod secret;

mod listeners;

mod trust;

pub mod codex;

pub mod copilot;

pub mod opencode;

#[cfg(feature = "mcp")]
pub mod mcp;

pub use hosts::{AgentIdentity, AgentInbox, AgentInboxes};
pub use listeners::SharedListeners;
pub use secret::Secret;
