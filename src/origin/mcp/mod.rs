//! `askbridge mcp`: an MCP server on stdio, by which every agent that takes MCP tools can ask its person.
//! How a question lives is left to `desk`, how it is answered to the rooms around it.

mod arguments;

mod client;

mod patience;

mod result;

mod run;

mod server;

mod tickets;

mod tools;

mod transport;

#[cfg(test)]
mod stage;

#[cfg(test)]
mod conversations;

#[cfg(test)]
mod races;

#[cfg(test)]
mod sdk;

pub use run::{serve, stdio};
pub use server::McpOptions;
