//! The program `askbridge` as a library, for its own tests: no interface for others. A host in Rust depends on
//! `askbridge-core`, whose front page has the picture and the invariants.
//!
//! # Where to read on
//!
//! The rooms stand in reading order. Each knows only some of the rooms above it and of the crates, which
//! `tests/tidy/imports.rs` names.
//!
//! 1. [`limits`]: the program's bounds, with their reasons, beside those of the crates.
//! 2. [`driver`]: the bridge's I/O between the agent's process and stdio. It decides nothing.
//! 3. [`present`]: questions in words, and the dialogue that asks a user line by line.
//! 4. `notify`: when the user is notified, and the ways.
//! 5. [`service`]: what runs beside an inbox: rules, unattended questions, recall, notifications, HTTP.
//! 6. [`hub`]: the process that serves the questions of all bridges and machines, and what runs in it.
//! 7. [`command`]: the subcommands, each with its arguments.
//!
//! Beneath them stand `crates/control` (the inbox and the ways to it), `crates/settings` (keys, layers and rules),
//! `crates/journal` (questions and answers in SQLite), `crates/fleet` (machines over a NATS server), `crates/web` (HTTP and the page), `crates/adapters` (agents that are
//! asked beside their own dialog) and `crates/os` (terminals, signals, exit codes, the log, file locks, processes). Beside
//! them stand `crates/check` (the conformance cases), `crates/markdown` (texts of agents as trees) and `crates/mock` (peers
//! without a model).

pub mod command;
pub mod driver;
pub mod hub;
pub mod limits;
#[cfg(feature = "notify")]
pub mod notify;
pub mod present;
pub mod service;
