//! Codex in a terminal: a second client on the control socket of its app server, beside the terminal itself.
//!
//! The first response to a request wins, whichever client sends it, and an error counts as one. So this client answers
//! only what a responder decided, and is silent on everything else.

pub mod attachment;
mod connection;
pub mod core;
mod message;
mod requests;
mod threads;
