//! The tool calls for which Claude Code waits for its person, as questions: `AskUserQuestion`, the end of plan mode,
//! permissions, and the forms of MCP servers. They are the same under its hooks and under its control protocol.
//!
//! A call that is not understood is left to Claude Code's own dialog: reading it returns `None`, never an error.
//!
//! Source: runs of Claude Code 2.1.330, and the types of its SDK of that version.

pub mod tool_call;

pub mod call;

mod questions;

mod permission;

mod subject;

mod suggestion;

pub mod form;

pub mod control;

pub mod request;

pub mod hook;

pub mod status;

pub mod watch;

#[cfg(test)]
mod tests;

pub use call::{ClaudeReply, read};
pub use form::ClaudeForm;
pub use hook::{HookCall, HookEvent, HookReply};
pub use request::ControlReply;
pub use status::Status;
pub use tool_call::ToolCall;
pub use watch::Watch;
