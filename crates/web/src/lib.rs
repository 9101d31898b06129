//! Answering over HTTP: one server for any inbox, that of one bridge or that of all bridges of the machine.
//! The questions, and the decision which answer wins, are left to the inbox.
//!
//! ```text
//!  connection ─▶ guard: Host · Origin · token · rate ─▶ body ─▶ rest · page · rpc · opencode · public ─▶ inbox
//!                                                               events · opencode ◀─ app: feeds ◀─ store
//! ```

mod aap;
mod app;
pub mod approval;
mod asking;
mod body;
mod callback;
mod connection;
pub mod events;
mod find;
mod guard;
mod host;
mod labels;
pub mod limits;
mod metrics;
pub mod new_question;
mod opencode;
mod origins;
pub mod page;
mod problem;
mod public;
pub mod rest;
mod rpc;
mod rules;
mod server;
mod stream;
mod token;
mod visitors;

pub use callback::CallbackMessage;
pub use problem::Problem;
pub use rpc::NEEDS_WEBSOCKET;
pub use server::{ServeError, Server};
pub use token::{Token, TokenError};
