//! MCP servers that are reached over streamable HTTP, for a host that speaks MCP on stdio. Each message passes
//! unchanged: the relay reads which requests have a response, and nothing else.
//!
//! `rmcp` is not used for that: its messages are typed, and what its types do not name is lost or refused.

mod address;
mod call;
mod client;
mod endings;
mod exchange;
mod headers;
mod lines;
mod message;
mod metadata;
mod refusal;
mod relay;
mod renewal;
mod serve;
mod session;
mod streams;
#[cfg(test)]
mod tables;
mod talk;

pub use address::{AddressError, ServerAddress};
pub use headers::{Header, HeaderError, HeaderSource};
pub use serve::{HttpError, serve};
