//! Agents that are asked beside their own dialog: as a hook, by attaching to their server, or over MCP. Each adapter
//! puts their questions on a desk of this process, and takes the outcome back. Their JSON is left to `dialect`.

mod answering;
pub mod attach;
pub mod codex;
pub mod copilot;
mod events;
pub mod hook;
mod inboxes;
pub mod limits;
#[cfg(feature = "mcp")]
pub mod mcp;
#[cfg(feature = "mcp")]
pub mod mcp_http;
pub mod opencode;
mod trust;

pub use inboxes::{AgentIdentity, AgentInbox, AgentInboxes};
