//! The errors of commands, and the exit code for each.

use std::{io, path::PathBuf, sync::Arc};

use askbridge_control::join::{Gaps, discovery::DiscoveryError};
use askbridge_core::desk::{Record, Refusal};
use askbridge_os::exit;
use askbridge_web::ServeError;
use thiserror::Error;

use crate::{
    hub::HubError,
    present::{listing, text},
};

/// Why a command failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CommandError {
    /// The directory of the sockets could not be searched.
    #[error("cannot look for questions: {0}")]
    Discovery(#[from] DiscoveryError),
    /// A submission was refused, or there is no such question.
    #[error("{}: {}", .0, text::refusal(.1))]
    Refused(String, Refusal),
    /// No bridge that replied has such a question, but some bridges could not be asked.
    #[error("{}: no bridge that replied has such a question; {}", .0, listing::unasked(.1))]
    Unsure(String, Box<Gaps>),
    /// The question is of a version that this program cannot read.
    #[error("{0}: the question needs a newer askbridge")]
    Unreadable(String),
    /// The typed ID lacks the number of the question. The record is of the question that the ID could mean now.
    #[error("{}: the question's number is missing; it may be {}: {}", .0, .1.id, text::headline(.1))]
    NoNumber(String, Arc<Record>),
    /// The command line names no question.
    #[error(
        "which question? `askbridge next` asks the first at a terminal, `askbridge list` shows the IDs of all"
    )]
    NoId,
    /// What would be allowed is dangerous, and there is no terminal at which it could be confirmed.
    #[error("{}: {} `askbridge {command} --yes` allows it all the same: {}", .record.id, .why, text::headline(.record))]
    Unconfirmed {
        /// The permission.
        record: Arc<Record>,
        /// Why it is dangerous.
        why: String,
        /// The command that was given.
        command: String,
    },
    /// The journal has no such question.
    #[cfg(feature = "journal")]
    #[error("{0}: the journal has no such question: `askbridge history` lists the latest")]
    NotKept(String),
    /// The question has no such image, or not any more.
    #[error(
        "{}: there is no image {number}: {}", .record.id, match .record.is_open() {
            true => format!("it has {}", .record.question.images.len()),
            false => "images are kept until their question is over".to_owned(),
        }
    )]
    NoImage {
        /// The question.
        record: Arc<Record>,
        /// The number that was asked for.
        number: usize,
    },
    /// Neither a value nor a note was given.
    #[error("{0}: nothing to answer with: give a VALUE, --field, --text or --note")]
    NoAnswer(String),
    /// The answer does not fit the question, for a reason that names its fields by their labels.
    #[error("{0}: the answer does not fit: {1}")]
    DoesNotFit(String, String),
    /// Options exclude each other, or one of them is empty.
    #[error("{0}")]
    Usage(String),
    /// The question could not be asked.
    #[error("cannot ask: {0}")]
    Ask(String),
    /// Another process than the inbox of this machine has the question, and it ends with that.
    #[error("{0}: the inbox of this machine does not keep this question: `askbridge show {0}` shows it")]
    OfAsker(String),
    /// The question to ask could not be read.
    #[error("cannot read {path:?}: {source}")]
    Read {
        /// The file, or `-` for stdin.
        path: PathBuf,
        /// Why it could not be read.
        source: io::Error,
    },
    /// A file could not be written.
    #[error("cannot write {path:?}: {source}")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why it could not be written.
        source: io::Error,
    },
    /// The settings cannot be changed.
    #[error("{0}")]
    Config(String),
    /// Settings of a client cannot be read, changed or written.
    #[error("{0}")]
    Setup(String),
    /// The journal cannot be read or changed.
    #[cfg(feature = "journal")]
    #[error(transparent)]
    Journal(#[from] askbridge_journal::JournalError),
    /// The server could not be set up.
    #[error(transparent)]
    Serve(#[from] ServeError),
    /// The inbox in the background could not be started or ended.
    #[error("{0}")]
    Background(String),
    /// Our own runtime, signals or stdout failed.
    #[error("cannot continue: {0}")]
    Io(#[from] io::Error),
}

impl From<HubError> for CommandError {
    fn from(error: HubError) -> Self {
        match error {
            HubError::Discovery(error) => error.into(),
            HubError::Serve(error) => error.into(),
            HubError::Io(error) => error.into(),
        }
    }
}

impl CommandError {
    /// Returns the exit code for this error.
    pub fn exit_code(&self) -> u8 {
        match self {
            CommandError::Refused(_, refusal) => exit_code(refusal),
            CommandError::Unsure(..) | CommandError::Unreadable(_) => exit::BRIDGE_GONE,
            CommandError::NoNumber(..) | CommandError::NoImage { .. } => exit::NO_QUESTION,
            #[cfg(feature = "journal")]
            CommandError::NotKept(_) => exit::NO_QUESTION,
            CommandError::NoId
            | CommandError::NoAnswer(_)
            | CommandError::Unconfirmed { .. }
            | CommandError::Usage(_) => exit::USAGE,
            CommandError::DoesNotFit(..) => exit::DOES_NOT_FIT,
            CommandError::Discovery(_)
            | CommandError::Ask(_)
            | CommandError::OfAsker(_)
            | CommandError::Setup(_)
            | CommandError::Read { .. }
            | CommandError::Write { .. }
            | CommandError::Config(_)
            | CommandError::Serve(_)
            | CommandError::Background(_)
            | CommandError::Io(_) => exit::FAILED,
            // `history verify` ends with the same code if it finds a change.
            #[cfg(feature = "journal")]
            CommandError::Journal(askbridge_journal::JournalError::Changed { .. }) => exit::PROBLEM,
            #[cfg(feature = "journal")]
            CommandError::Journal(_) => exit::FAILED,
        }
    }
}

fn exit_code(refusal: &Refusal) -> u8 {
    match refusal {
        Refusal::NotFound | Refusal::Ambiguous(_) => exit::NO_QUESTION,
        Refusal::Conflict(_) | Refusal::Changed(_) | Refusal::Gone(_) => exit::SETTLED,
        Refusal::DoesNotFit(_) | Refusal::NoDeadline => exit::DOES_NOT_FIT,
        Refusal::OwnAgent => exit::OWN_AGENT,
        Refusal::Unreached(_) | Refusal::Unavailable | Refusal::Unknown => exit::BRIDGE_GONE,
        Refusal::BadQuestion(_)
        | Refusal::Full(_)
        | Refusal::ReadOnly
        | Refusal::TooManyRequests
        | Refusal::HistoryUnavailable(_)
        | Refusal::KeyUsed(_)
        | Refusal::Held
        | Refusal::NotKept(_)
        | Refusal::Other(_) => exit::FAILED,
    }
}
