//! The requests with which Codex' app-server asks its clients, as questions: `item/tool/requestUserInput`, the approvals
//! of commands, file changes and permissions, the forms of MCP servers, and two legacy approvals.
//!
//! A request that is not understood is left to Codex' own dialog: reading it returns `None`, never an error. An error
//! response would settle the request for every client.
//!
//! Source: runs of Codex 0.169.0, the generated types of its protocol, and codex-acp 2.6.0. Questions, commands, file
//! changes and the approval of MCP tools were seen in runs; the other requests are known from the types.

mod approval;
mod command;
mod elicitation;
pub mod file_change;
pub mod reply;
pub mod request;
mod said;
mod user_input;

pub use file_change::{Changes, contradict};
pub use reply::CodexReply;
pub use request::{METHODS, read};
pub use said::{said, said_whole};
