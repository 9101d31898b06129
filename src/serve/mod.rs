//! Answering over HTTP: one server over any inbox, that of one bridge or that of all the bridges of the machine.
//! What a question is, and which answer wins, is left to the inbox.
//!
//! ```text
//!  accept ─▶ connection ─▶ guard: Host · Origin · token · rate ─▶ body ─▶ rest · page · ask · rpc · opencode · health ─▶ inbox
//!                                                                 events · opencode ◀─ feed ◀─ store
//! ```

mod address;

mod host;

pub mod token;

mod rate;

mod problem;

mod ends;

mod visitors;

mod guard;

mod body;

mod window;

mod sse;

mod feed;

mod metrics;

mod app;

mod labels;

pub mod ask;

pub mod rest;

pub mod events;

mod opencode;

mod rpc;

mod health;

mod unauthorized;

pub mod page;

mod documents;

#[cfg(feature = "schema")]
mod components;

#[cfg(feature = "schema")]
pub mod openapi;

#[cfg(feature = "schema")]
pub mod openrpc;

mod router;

mod connection;

mod accept;

pub mod server;

pub mod service;

pub use problem::Problem;
pub use server::{ServeError, Server};
pub use service::HttpService;
pub use token::Token;
