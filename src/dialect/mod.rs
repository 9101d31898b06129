//! The formats in which agents and clients write a question on the wire, each as pure functions between JSON and
//! [`crate::question`]. Which format is used when is left to `acp`.
//!
//! An agent's request is read in its dialect as a question; the outcome is written as the response that this agent
//! expects ([`ReplyFormat`]). Three formats are also written for clients: native requests, forms, and permission
//! prompts.
//!
//! To add a dialect, add a file with a type that implements [`AgentDialect`], and a row in `registry.rs`.

pub mod agent_dialect;

pub mod registry;

pub mod sandboxagent;

pub mod elicitation;

pub mod permission;

pub mod cursor;

pub mod grok;

pub mod kiro;

pub mod claude;

pub mod codex;

pub mod opencode;

pub mod copilot;

mod entries;

mod joined_values;

mod once;

mod meta;

mod params;

pub use agent_dialect::{AgentDialect, Rejection, Reply};
pub use meta::{ReplyAdditions, ReplyMeta};
pub use registry::{AgentQuestion, ReplyFormat, may_ask, methods, read};
