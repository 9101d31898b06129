//! The tool calls for which Claude Code waits for its person, as questions: `AskUserQuestion`, the end of plan mode,
//! permissions, and the forms of MCP servers. They are the same under its hooks and under its control protocol.
//!
//! A call that is not understood is left to Claude Code's own dialog: reading it returns `None`, never an error.
//!
//! Source: runs of Claude Code 2.1.330, and the types of its SDK of that version.

pub mod call;
pub mod control;
pub mod hook;
mod permission;
pub mod questions;
pub mod request;
mod said;
#[cfg(test)]
mod tests;
pub mod tool_call;
pub mod watch;

pub use call::{ClaudeReply, read};
pub use hook::{HookCall, HookEvent, HookReply};
pub use questions::ClaudeForm;
pub use request::ControlReply;
pub use said::said;
pub use tool_call::ToolCall;
pub use watch::{Status, Watch};
