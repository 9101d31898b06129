//! The shell around the engine: does what it says, and decides nothing itself.
//!
//! ```text
//!  client's stdin ──▶ Source ─┐                                ┌─▶ Sink ──▶ agent's stdin
//!                             ├─▶ pump: one task, one Bridge ──┤
//!  agent's stdout ──▶ Source ─┘   events in, actions out       └─▶ Sink ──▶ client's stdout
//!  agent's stderr ──────────────▶ a task of its own ──────────────────────▶ our stderr
//!  SIGTERM, SIGINT, SIGHUP, SIGQUIT ─▶ a task of its own, 8 may wait ──▶ pump
//!  the agent's exit · the deadline ─────────────────────────────────────▶ pump
//! ```
//!
//! There is no lock, and no channel but that of the signals: the pump owns all state. A side is read only while what it said last has
//! been written on, so that the pipes themselves are the back-pressure, and neither direction waits for the
//! other (I7).

mod pump;

mod lines;

mod stdio;

mod agent;

mod signals;

mod config;

use std::{io, process::ExitCode};

use thiserror::Error;

use crate::{cli::RunArgs, exit};

/// What can end the bridge before it has begun.
#[derive(Debug, Error)]
pub enum FatalError {
    /// The agent's command could not be started.
    #[error("cannot start the agent {command:?}: {source}{}", hint(source))]
    Spawn {
        /// What was to be started.
        command: String,
        /// Why it was not.
        source: io::Error,
    },
    /// Our own stdin, stdout, signals or runtime could not be set up.
    #[error("cannot set up {what}: {source}")]
    SetUp {
        /// What could not be set up.
        what: &'static str,
        /// Why.
        source: io::Error,
    },
}

fn hint(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::NotFound => "; is it installed, and on PATH?",
        io::ErrorKind::PermissionDenied => "; is it a program, and may it be executed?",
        _ => "",
    }
}

impl FatalError {
    /// Returns the exit code that says it.
    pub fn exit_code(&self) -> u8 {
        match self {
            FatalError::Spawn { source, .. } if source.kind() == io::ErrorKind::NotFound => exit::NOT_FOUND,
            FatalError::Spawn { .. } => exit::NOT_EXECUTABLE,
            FatalError::SetUp { .. } => exit::FAILED,
        }
    }
}

/// Runs the bridge around the agent until it has ended. Returns the agent's exit code as ours.
pub fn run(args: &RunArgs) -> Result<ExitCode, FatalError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|source| FatalError::SetUp { what: "the runtime", source })?;
    let code = runtime.block_on(pump::run(config::of(args), &args.agent));
    // A read of a terminal cannot be taken back: it must not keep us.
    runtime.shutdown_background();
    code
}
