//! MCP between a server and its host: the bridge that stands in the server's place answers what the server asks its
//! person, where the host does not ([`Bridge`]). The host is [`crate::engine::Peer::Client`], and the server
//! [`crate::engine::Peer::Agent`].
//!
//! A host declares whether it shows elicitations; the bridge completes that, so that the server asks. What it asks is
//! a question at the desk. A host that shows it is asked as well, and the first answer wins. Before the tools that the
//! user names, the bridge asks for a permission.
//!
//! ```text
//!  host: tools/call ──────────────────────────────────────────▶ server        `calls` knows it
//!                                   elicitation/create ◀─────── server        `asking` opens a question
//!  responder: answer ─────────────────────────────────────────▶ server        `settle`
//!  host ◀────────────────────────────────────────────── result  server
//!
//!  host: tools/call ──────────────────────────────────────────▶ server
//!                          input_required, or -32042 ◀───────── server        `errand` opens a question
//!  responder: answer ───── the call again, under a new ID ────▶ server
//!  host ◀──────── the result, under the ID of its call ──────── server
//! ```
//!
//! Bytes and the end of processes are left to [`crate::engine`], the format of each question to
//! [`crate::dialect::mcp`].

mod asking;
mod calls;
mod capabilities;
pub mod config;
mod core;
mod errand;
mod gate;
mod host;
mod pending;
mod progress;
mod request;
mod responding;
mod route;
mod server;
mod settle;

pub use config::{Config, Elicitation, Session, ToolName};
pub use core::{Bridge, Core};
