//! Answering over HTTP: one router over any inbox, that of one bridge or that of all the bridges of the machine.
//! What a question is, and who wins, is left to the inbox.
//!
//! ```text
//!  request ─▶ guard: Host · Origin · token · rate ─▶ body ─▶ rest · events · rpc · facade · metrics ─▶ inbox
//!                                                        ▲
//!                                 inbox ─▶ ring: what changed, with a number for each change
//! ```

pub mod token;

mod rate;

mod guard;

mod problem;

mod body;

pub mod rest;

mod ring;

pub mod events;

mod rpc;

mod labels;

mod opencode;

mod metrics;

mod documents;

#[cfg(feature = "schema")]
pub mod openapi;

#[cfg(feature = "schema")]
pub mod openrpc;

mod connection;

pub mod http;

pub mod run;

pub use http::{ServeError, Server};
pub use problem::Problem;
pub use token::Token;
