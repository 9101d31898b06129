//! `askbridge mcp`: an MCP server on stdio, by which every agent that takes MCP tools can ask its person.
//! How a question lives is left to `desk`, how it is answered to the rooms around it.

mod client;
#[cfg(test)]
mod conversations;
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
