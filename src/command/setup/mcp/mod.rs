//! `askbridge setup mcp`: puts askbridge before the MCP servers in the settings of the hosts that start them, and takes
//! it out again.
//! `address`, `hosts`, `servers` and `plan` decide what changes, without writing; `flow` reads, asks and writes.

mod address;
mod args;
mod flow;
pub mod hosts;
mod plan;
pub(in crate::command) mod servers;

pub use args::SetupMcpArgs;
pub(in crate::command) use flow::{Listed, look};
pub(super) use flow::{setup, undo_all};
