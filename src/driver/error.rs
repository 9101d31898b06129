//! The errors that end a bridge, and the exit code of each.

use std::io;

use askbridge_core::acp::NO_CONDUCTOR;
use askbridge_os::exit;
use rustix::io::Errno;
use thiserror::Error;

/// The errors that end a bridge before it has begun.
#[derive(Debug, Error)]
pub enum FatalError {
    /// The agent's command could not be started.
    #[error("cannot start the agent {command:?}: {source}{}", hint(source))]
    Spawn {
        /// The program of the command.
        command: String,
        /// The reason.
        source: io::Error,
    },
    /// The bridge's own stdin, stdout, signals or runtime could not be set up.
    #[error("cannot set up {what}: {source}{}", limit_hint(source))]
    SetUp {
        /// The part that could not be set up.
        what: &'static str,
        /// The reason.
        source: io::Error,
    },
    /// A client took the component for an agent.
    #[error("there is no conductor: {NO_CONDUCTOR}")]
    NoConductor,
}

/// Errors of a start that are not the agent's fault: this process or the system lacks resources.
const OUT_OF_RESOURCES: [Errno; 4] = [Errno::MFILE, Errno::NFILE, Errno::AGAIN, Errno::NOMEM];

fn is_one_of(source: &io::Error, errors: &[Errno]) -> bool {
    source.raw_os_error().is_some_and(|code| errors.iter().any(|error| error.raw_os_error() == code))
}

fn hint(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::NotFound => "; is it installed, and on PATH?",
        io::ErrorKind::PermissionDenied => "; is it a program, and may it be executed?",
        _ => limit_hint(source),
    }
}

fn limit_hint(source: &io::Error) -> &'static str {
    if is_one_of(source, &[Errno::MFILE]) { "; raise the limit on open files (`ulimit -n`)" } else { "" }
}

impl FatalError {
    /// Returns the exit code that reports this error.
    pub fn exit_code(&self) -> u8 {
        match self {
            FatalError::Spawn { source, .. } if source.kind() == io::ErrorKind::NotFound => exit::NOT_FOUND,
            // A lack of memory or processes says nothing about the command, so a caller must not take it for one that
            // cannot be executed.
            FatalError::Spawn { source, .. } if is_one_of(source, &OUT_OF_RESOURCES) => exit::FAILED,
            FatalError::Spawn { .. } => exit::NOT_EXECUTABLE,
            FatalError::SetUp { .. } => exit::FAILED,
            FatalError::NoConductor => exit::USAGE,
        }
    }
}
