//! `askbridge mcp`: an MCP server on stdio, by which every agent that takes MCP tools can ask its person.
//! The life of a question is left to `desk`, and answering it to the rooms that serve responders.

mod client;
#[cfg(test)]
mod conversations;
mod one_line;
#[cfg(test)]
mod races;
mod result;
mod server;
#[cfg(test)]
mod stage;
mod tickets;
mod tools;
mod transport;

pub use server::{McpOptions, serve, stdio};
