//! How a bridge fails, and the exit code that says it.

use std::io;

use thiserror::Error;

use crate::{acp::NO_CONDUCTOR, exit};

/// What can end a bridge before it has begun.
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
    /// A client took the component for an agent.
    #[error("there is no conductor: {NO_CONDUCTOR}")]
    NoConductor,
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
            FatalError::NoConductor => exit::USAGE,
        }
    }
}
