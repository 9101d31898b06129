//! The formats in which agents and clients write a question on the wire, each as pure functions between JSON and
//! [`crate::question`]. Choosing a format is left to `acp`.
//!
//! An agent's request is read in its dialect as a question; the outcome is written as the response that this agent
//! expects ([`ReplyFormat`]). Three formats are also written for clients: requests of the `_sandboxagent` extension,
//! forms, and permission prompts.
//!
//! To add a dialect, add a file with a type that implements [`AgentDialect`], and a row in `registry.rs`.

pub mod agent_dialect;
pub mod ask_user;
pub mod claude;
pub mod codex;
pub mod copilot;
pub mod cursor;
mod doing;
pub mod elicitation;
pub mod grok;
pub mod kiro;
pub mod mcp;
mod media;
mod once;
pub mod opencode;
pub mod permission;
pub mod program;
pub mod registry;
pub mod sandboxagent;
pub mod schema;
pub mod unshown;
mod values;

pub use agent_dialect::{AgentDialect, Rejection, Reply, ReplyAdditions, ReplyMeta, ShownBy};
pub use registry::{AgentQuestion, ORIGINS, ReplyFormat, may_ask, methods, read, shown_by};
