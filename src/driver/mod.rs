//! The shell around the engine: does what it says, and decides nothing itself.
//!
//! ```text
//!  client's stdin ──▶ Source ─┐                                ┌─▶ Sink ──▶ agent's stdin
//!                             ├─▶ pump: one task, one Bridge ──┤
//!  agent's stdout ──▶ Source ─┘   events in, actions out       └─▶ Sink ──▶ client's stdout
//!  agent's stderr ──────────────▶ a task of its own ──────────────────────▶ our stderr
//!  signals that ask us to end ──▶ a task of its own, 8 may wait ──▶ pump
//!  the agent's exit · the deadline ─────────────────────────────────────▶ pump
//! ```
//!
//! Under a conductor there is one Source and one Sink, and [`Component`](crate::acp::Component) says which peer
//! a line is from:
//!
//! ```text
//!  conductor ──▶ Source ──▶ chain: one task, one Component ──▶ Sink ──▶ conductor
//! ```
//!
//! Others answer through an inbox, which is served on a thread of its own:
//!
//! ```text
//!  inbox's thread ─▶ 64 submissions may wait ─▶ pump or chain ─▶ Book: the latest state, for who wants it
//! ```
//!
//! There is no other channel: the pump owns the bridge's state. What it shares is the [`Book`](crate::control::old::Book),
//! behind the lock of a watch that is held for as long as it takes to copy references. A side is read only while what
//! it said last has been written on, so that the pipes themselves are the back-pressure, and neither direction waits
//! for the other (I7).

mod pump;

mod chain;

mod lines;

mod stdio;

mod agent;

mod verdicts;

mod report;

mod runtime;

mod error;

#[cfg(test)]
mod interleavings;

use std::{process::ExitCode, sync::Arc, time::Duration};

use crate::{
    config::{ProxySettings, RunSettings},
    control::{
        Traffic,
        old::{Feed, host::Host},
    },
};

pub use error::FatalError;

/// Runs the bridge around the agent until it has ended. Returns the agent's exit code as ours.
///
/// `open` opens the inbox of the agent's questions. It is called once no signal ends the process by itself.
pub fn run(
    settings: &RunSettings,
    traffic: Arc<Traffic>,
    open: impl FnOnce() -> (Feed, Option<Host>),
) -> Result<ExitCode, FatalError> {
    runtime::start(|signals| {
        let (feed, host) = open();
        let config = settings.bridge.core(settings.grace, host.as_ref().map(|host| host.name().to_owned()));
        (pump::run(config, feed, traffic, &settings.agent, signals), host)
    })
}

/// Runs the bridge as a component of a conductor until that has left. `open` is that of [`run`].
pub fn proxy(
    settings: &ProxySettings,
    open: impl FnOnce() -> (Feed, Option<Host>),
) -> Result<ExitCode, FatalError> {
    runtime::start(|signals| {
        let (feed, host) = open();
        // The conductor ends the agent: there is none to wait for.
        let config = settings.bridge.core(Duration::ZERO, host.as_ref().map(|host| host.name().to_owned()));
        (chain::run(config, feed, signals), host)
    })
}
