//! What can be wrong with the journal's file.

use std::{io, path::PathBuf};

use rusqlite::ErrorCode;
use thiserror::Error;

/// Why the journal cannot be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The environment names no folder for it.
    #[error("no folder for the journal: set XDG_STATE_HOME or HOME")]
    NoFolder,
    /// A file or folder could not be created, read or changed.
    #[error("{}: {source}", path.display())]
    Path {
        /// The path.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
    /// The journal is a symbolic link or no file: another user could choose what is written to.
    #[error("{}: is not a regular file: move it away", .0.display())]
    NotAFile(PathBuf),
    /// A newer version wrote it, in a way that this version does not know.
    #[error("the journal is of format {0}, which needs a newer askbridge: this version can only read it")]
    Newer(i32),
    /// It has tables, and a format that no version writes: something else changed the file.
    #[error(
        "the journal was changed: it has tables, and its format is {format}, which no askbridge writes; \
        `askbridge history verify` says what else is wrong in it; move it away for a new one: {file}"
    )]
    Changed {
        /// The format.
        format: i32,
        /// The file.
        file: String,
    },
    /// SQLite reported an error.
    #[error("the journal: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// What is in the file contradicts itself.
    #[error("the journal is broken: {0}")]
    Broken(String),
    /// A record is not JSON.
    #[error("a record in the journal cannot be read or written: {0}")]
    Json(#[from] serde_json::Error),
}

impl JournalError {
    /// Returns whether it is about one entry, so that the others can be written.
    pub(super) fn is_of_entry(&self) -> bool {
        match self {
            JournalError::Json(_) => true,
            JournalError::Sqlite(error) => matches!(error.sqlite_error_code(), Some(ErrorCode::TooBig)),
            _ => false,
        }
    }

    /// Returns whether another connection holds the file, so that it is worth trying again soon.
    pub(super) fn is_busy(&self) -> bool {
        let JournalError::Sqlite(error) = self else { return false };
        matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
    }
}
