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
//! Under a conductor there is one Source and one Target, and no process. In a flood on Linux, the kernel keeps a second
//! copy of the bytes that were read, the Shadow, and moves unchanged bytes from there.
//!
//! Other responders answer through an inbox, which is served on a thread of its own:
//!
//! ```text
//!  inbox's thread ─▶ 64 submissions may wait ─▶ pump ─▶ changes and verdicts ─▶ inbox's thread
//! ```
//!
//! There is no other channel: the pump owns the bridge. The bridge reads a peer only once the bytes of its last read
//! are written to the other peer. So the pipes themselves are the back-pressure, and neither direction waits for the
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
