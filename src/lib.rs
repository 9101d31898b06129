//! The program `askbridge` as a library, for its own tests: no interface for others. A host in Rust depends on
//! `askbridge-core`, whose front page has the picture and the invariants.
//!
//! # Where to read on
//!
//! The rooms stand in reading order. Each knows only some of the rooms above it and of the crates, which
//! `tests/tidy/imports.rs` names.
//!
//! 1. [`limits`]: the program's bounds, with their reasons, beside the core's.
//! 2. [`rule`]: what the user decided beforehand. Pure.
//! 3. [`settings`]: the settings: keys, layers, files, and the values that result.
//! 4. [`inbox`]: the open questions of a process, who may answer them, and the seam to the journal.
//! 5. [`rpc`]: the control protocol, over which other processes reach an inbox.
//! 6. `journal`: questions and answers in one SQLite file.
//! 7. [`machine`]: all bridges of the machine as one inbox.
//! 8. `fleet`: other machines over a NATS server.
//! 9. [`driver`]: the bridge's I/O between the agent's process and stdio. It decides nothing.
//! 10. [`adapters`]: agents that are asked beside their own dialog: hooks, attached servers, MCP.
//! 11. [`present`]: questions in words, and the dialogue that asks a user line by line.
//! 12. [`serve`]: HTTP and the page.
//! 13. `notify`: when the user is notified, and the ways.
//! 14. [`service`]: what runs beside an inbox: rules, unattended questions, recall, notifications, HTTP.
//! 15. [`command`]: the subcommands, each with its arguments.
//!
//! Beside them stand `crates/os` (terminals, signals, exit codes, the log, processes) and `crates/mock` (peers without
//! a model).

pub mod adapters;
pub mod command;
pub mod driver;
#[cfg(feature = "fleet")]
pub mod fleet;
pub mod inbox;
#[cfg(feature = "journal")]
pub mod journal;
pub mod limits;
pub mod machine;
#[cfg(feature = "notify")]
pub mod notify;
pub mod present;
pub mod rpc;
pub mod rule;
pub mod serve;
pub mod service;
pub mod settings;
