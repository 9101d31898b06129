//! The shell around the core: carries out what the bridge decides, and decides nothing itself.
//!
//! ```text
//!  client's stdin ──▶ Source ─┐                               ┌─▶ Target ──▶ agent's stdin
//!                             ├─▶ pump: one task, one Bridge ─┤
//!  agent's stdout ──▶ Source ─┘   bytes in, bytes and outputs └─▶ Target ──▶ client's stdout
//!  agent's stderr ──────────────▶ a task of its own ──────────────────────▶ the bridge's stderr
//!  signals that end a process ──▶ a task of its own, 8 may wait ──▶ pump
//!  SIGCHLD: children that ended ─▶ a task that reaps them ─ the agent's exit ─▶ pump
//!  the deadline ────────────────────────────────────────────────────▶ pump
//! ```
//!
//! Under a conductor there is one Source and one Target, and no process. In a flood, the kernel keeps a second copy of
//! bytes that were read, the Shadow, and bytes that are forwarded unchanged are moved from there (Linux).
//!
//! Other responders answer through an inbox, which is served on a thread of its own:
//!
//! ```text
//!  inbox's thread ─▶ 64 submissions may wait ─▶ pump ─▶ changes and verdicts ─▶ inbox's thread
//! ```
//!
//! There is no other channel: the pump owns the bridge. The bridge says when a peer is read: only while what it said
//! last has been written on, so that the pipes themselves are the back-pressure, and neither direction waits for the
//! other (I7).

mod agent;
mod error;
#[cfg(test)]
mod interleavings;
mod lines;
mod pump;
mod runtime;
mod shell;
mod stdio;
mod timer;

pub use error::FatalError;
pub use runtime::{BridgeParts, proxy, run};
pub use shell::Timeouts;
