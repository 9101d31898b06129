//! Why a command came to nothing, and the exit code that says it.

use std::{io, path::PathBuf, sync::Arc};

use thiserror::Error;

use crate::{
    control::old::{Record, Refusal},
    exit,
    machine::discovery::DiscoveryError,
    present::text,
};

/// Why a command came to nothing.
#[derive(Debug, Error)]
pub enum CommandError {
    /// The inboxes could not be looked for.
    #[error("cannot look for questions: {0}")]
    Discovery(#[from] DiscoveryError),
    /// What was meant for a question came to nothing.
    #[error("{}: {}", .0, text::refusal(.1))]
    Refused(String, Refusal),
    /// No bridge has such a question, but these could not be asked.
    #[error("{}: no bridge that answers has such a question; {}", .0, text::unreachable(.1))]
    Unsure(String, Vec<PathBuf>),
    /// The name is that of a bridge alone, and this is the question that it can mean now.
    #[error("{}: the question's number is missing; it may be {}: {}", .0, .1.id, text::heading(.1))]
    NoNumber(String, Arc<Record>),
    /// There was nothing to be said to the question.
    #[error("{0}: nothing to answer with: give a VALUE, --field or --note")]
    NoAnswer(String),
    /// The question could not be asked.
    #[error("cannot ask: {0}")]
    Ask(String),
    /// The question to ask could not be read.
    #[error("cannot read the question from {path:?}: {source}")]
    Read {
        /// Where it was to come from.
        path: PathBuf,
        /// Why it did not.
        source: io::Error,
    },
    /// Our own runtime, signals or stdout failed.
    #[error("cannot go on: {0}")]
    Io(#[from] io::Error),
}

impl CommandError {
    /// Returns the exit code that says it.
    pub fn exit_code(&self) -> u8 {
        match self {
            CommandError::Refused(_, refusal) => match refusal {
                Refusal::NotFound | Refusal::Ambiguous(_) => exit::NO_QUESTION,
                Refusal::Conflict(_) | Refusal::Gone(_) => exit::SETTLED,
                Refusal::DoesNotFit(_) | Refusal::NoDeadline => exit::DOES_NOT_FIT,
                Refusal::Unavailable => exit::BRIDGE_GONE,
                Refusal::BadQuestion(_) | Refusal::TooManyRequests => exit::FAILED,
            },
            CommandError::Unsure(..) => exit::BRIDGE_GONE,
            CommandError::NoNumber(..) => exit::NO_QUESTION,
            CommandError::NoAnswer(_) => exit::USAGE,
            CommandError::Discovery(_)
            | CommandError::Ask(_)
            | CommandError::Read { .. }
            | CommandError::Io(_) => exit::FAILED,
        }
    }
}
