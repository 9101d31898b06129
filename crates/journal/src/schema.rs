//! The tables of the journal, how versions of the program share one file, and the errors of a file.
//!
//! The format is `user_version`: 100 times its major part, plus its minor part. A greater minor part adds columns and
//! tables, each with a default: every version of the same major part reads and writes the file, and ignores columns
//! and tables that it does not know. A file of a greater major part is read as far as that works, and never written.

use std::{collections::BTreeMap, io, path::PathBuf};

use rusqlite::{Connection, ErrorCode, TransactionBehavior};
use thiserror::Error;

/// The format that this version writes.
pub(super) const FORMAT: i32 = 103;

/// The migrations, oldest first, each with the format that it leads to. A released migration never changes.
const STEPS: [(i32, &str); 4] = [(100, FIRST), (101, HOMES), (102, LEFT), (103, STANDING)];

/// The tables of the first format. A settled question has no `record`, since its settlement has one. `accepted` is the
/// decision that was given to the asker, until the question is settled; `submissions` counts the submissions whose
/// verdict is not known; `claimed` is the question that claimed the decision.
const FIRST: &str = "
CREATE TABLE question (
    id TEXT NOT NULL,
    opened INTEGER NOT NULL,
    bridge TEXT NOT NULL,
    session TEXT,
    project TEXT,
    fingerprint BLOB,
    usable INTEGER NOT NULL DEFAULT 0,
    record TEXT,
    accepted TEXT,
    submissions INTEGER NOT NULL DEFAULT 0,
    claimed TEXT,
    PRIMARY KEY (id, opened)
);
CREATE INDEX question_same ON question (fingerprint, opened) WHERE fingerprint IS NOT NULL;
CREATE INDEX question_unsettled ON question (opened) WHERE record IS NOT NULL;
CREATE TABLE settlement (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    opened INTEGER NOT NULL,
    at INTEGER NOT NULL,
    session TEXT,
    project TEXT,
    responder TEXT NOT NULL,
    name TEXT,
    texts INTEGER NOT NULL DEFAULT 1,
    record TEXT NOT NULL,
    previous BLOB NOT NULL,
    hash BLOB NOT NULL
);
CREATE UNIQUE INDEX settlement_id ON settlement (id, opened);
CREATE TABLE chain (
    only INTEGER PRIMARY KEY CHECK (only = 0),
    seq INTEGER NOT NULL,
    hash BLOB NOT NULL,
    anchor_seq INTEGER NOT NULL,
    anchor_hash BLOB NOT NULL,
    syncs INTEGER NOT NULL DEFAULT 0
);
INSERT INTO chain (only, seq, hash, anchor_seq, anchor_hash) VALUES (0, 0, zeroblob(32), 0, zeroblob(32));
CREATE TABLE gap (
    at INTEGER NOT NULL,
    missing INTEGER NOT NULL
);
";

/// The table that says where each bridge with open questions runs.
const HOMES: &str = "
CREATE TABLE bridge (
    name TEXT PRIMARY KEY,
    folder TEXT NOT NULL,
    pid INTEGER NOT NULL,
    started INTEGER NOT NULL,
    namespace INTEGER NOT NULL
) WITHOUT ROWID;
";

/// The table of the bridges whose permissions are left to the client by their project's settings file.
const LEFT: &str = "
CREATE TABLE left_to_client (
    bridge TEXT PRIMARY KEY,
    project TEXT NOT NULL,
    file TEXT NOT NULL,
    at INTEGER NOT NULL
) WITHOUT ROWID;
";

/// The inbox whose questions no connection holds, with the last number that it gave; the keys under which they were asked;
/// what became of what programs were allowed to do; and where each outcome is sent, until it has arrived: how often it was
/// sent in vain, and when it is sent next.
const STANDING: &str = "
CREATE TABLE standing_inbox (
    only INTEGER PRIMARY KEY CHECK (only = 0),
    bridge TEXT NOT NULL,
    last INTEGER NOT NULL
);
CREATE TABLE standing_key (
    key TEXT PRIMARY KEY,
    digest BLOB NOT NULL,
    id TEXT NOT NULL,
    opened INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE used (
    id TEXT NOT NULL,
    opened INTEGER NOT NULL,
    consumed INTEGER,
    key TEXT,
    report TEXT,
    reported INTEGER,
    PRIMARY KEY (id, opened)
) WITHOUT ROWID;
CREATE TABLE standing_callback (
    id TEXT NOT NULL,
    opened INTEGER NOT NULL,
    url TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    due INTEGER,
    PRIMARY KEY (id, opened)
) WITHOUT ROWID;
";

/// The format that a file declares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileFormat {
    /// It has no tables yet.
    Empty,
    /// It has tables, and this format.
    Format(i32),
    /// It has tables, and this number, which is the format of no version.
    Changed(i32),
}

/// Returns the format that a file declares.
///
/// # Errors
/// The file cannot be read.
pub(super) fn file_format(connection: &Connection) -> Result<FileFormat, JournalError> {
    // One statement reads both, so that no other process creates the tables between reading the format and counting
    // them.
    let sql = "SELECT user_version, (SELECT count(*) FROM sqlite_schema) FROM pragma_user_version";
    let (format, tables) = connection.query_row(sql, [], |row| Ok((row.get(0)?, row.get::<_, i64>(1)?)))?;
    Ok(match (format, tables) {
        (format, 0) if format < STEPS[0].0 => FileFormat::Empty,
        (format, _) if format < STEPS[0].0 => FileFormat::Changed(format),
        (format, _) => FileFormat::Format(format),
    })
}

/// Returns the format of a file, or 0 if it is empty.
///
/// # Errors
/// The file cannot be read, or has tables and a format that no version writes.
pub(super) fn format(connection: &Connection) -> Result<i32, JournalError> {
    match file_format(connection)? {
        FileFormat::Empty => Ok(0),
        FileFormat::Format(format) => Ok(format),
        FileFormat::Changed(format) => {
            let file = connection.path().unwrap_or_default().to_owned();
            Err(JournalError::Changed { format, file })
        }
    }
}

/// Checks that the tables are those of the format.
///
/// # Errors
/// The tables differ, so reads would fail or return wrong values.
pub(super) fn check(connection: &Connection) -> Result<(), JournalError> {
    let found = format(connection)?;
    let (expected, mut tables) = (tables(&empty(found)?)?, tables(connection)?);
    let changed =
        expected.into_iter().find(|(name, definition)| tables.remove(name).as_ref() != Some(definition));
    let different = changed.map(|(name, _)| name).or_else(|| tables.into_keys().next());
    let is_known = STEPS.iter().any(|(format, _)| *format == found);
    // A greater minor part adds tables or columns. If a newer format of this major part has exactly the tables of this
    // version, its number was changed.
    let may_differ = found > FORMAT && (different.is_some() || found / 100 > FORMAT / 100);
    match different {
        Some(name) if is_known => {
            Err(JournalError::Broken(format!("`{name}` is not defined as format {found} defines it")))
        }
        _ if is_known || may_differ => Ok(()),
        _ => Err(JournalError::Broken(format!(
            "its format is {found}, and its tables are not those of that format"
        ))),
    }
}

/// Returns an empty journal in memory with the tables of a format, as far as this version knows them.
fn empty(format: i32) -> Result<Connection, JournalError> {
    let connection = Connection::open_in_memory()?;
    for (_, step) in STEPS.iter().filter(|(known, _)| *known <= format) {
        connection.execute_batch(step)?;
    }
    Ok(connection)
}

/// Returns the definition of each table and index as a list of words and signs, since the white space between them does
/// not matter.
fn tables(connection: &Connection) -> Result<BTreeMap<String, Vec<String>>, JournalError> {
    let sql = "SELECT name, type || ' ' || tbl_name || ' ' || ifnull(sql, '') FROM sqlite_schema";
    let mut statement = connection.prepare(sql)?;
    let tables = statement.query_map([], |row| Ok((row.get(0)?, words(&row.get::<_, String>(1)?))))?;
    Ok(tables.collect::<Result<_, _>>()?)
}

fn words(definition: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    for char in definition.chars() {
        let is_sign = !char.is_alphanumeric() && char != '_';
        if is_sign {
            words.push(if char.is_whitespace() { String::new() } else { char.to_string() });
            words.push(String::new());
        } else if let Some(word) = words.last_mut() {
            word.push(char);
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// Brings a file to the format of this version.
///
/// # Errors
/// `Newer` if the file has a greater major part and must not be written.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), JournalError> {
    // The format is first read without the write lock, since almost every file is current.
    if is_current(format(connection)?)? {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // The format is read again under the write lock, since another process may have migrated the file meanwhile.
    let found = format(&transaction)?;
    if !is_current(found)? {
        for (_, step) in STEPS.iter().filter(|(format, _)| *format > found) {
            transaction.execute_batch(step)?;
        }
        transaction.pragma_update(None, "user_version", FORMAT)?;
    }
    Ok(transaction.commit()?)
}

fn is_current(found: i32) -> Result<bool, JournalError> {
    if found / 100 > FORMAT / 100 {
        return Err(JournalError::Newer(found));
    }
    Ok(found >= FORMAT)
}

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
    /// The journal is a symbolic link or no regular file, by which another user could choose what is written to.
    #[error("{}: is not a regular file: move it away", .0.display())]
    NotAFile(PathBuf),
    /// A newer version wrote the file in a format that this version cannot write.
    #[error("the journal is of format {0}, which needs a newer askbridge: this version can only read it")]
    Newer(i32),
    /// The file has tables, and a format that no version writes, so something else changed it.
    #[error(
        "the journal was changed: it has tables, and its format is {format}, which no askbridge writes; \
        `askbridge history verify` lists all damage; to start a new journal, move this one away: {file}"
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
    /// The content of the file is inconsistent.
    #[error("the journal is broken: {0}")]
    Broken(String),
    /// A record could not be read from JSON, or written as JSON.
    #[error("a record in the journal cannot be read or written: {0}")]
    Json(#[from] serde_json::Error),
}

impl JournalError {
    /// Returns whether the error concerns a single entry. The others can then be written.
    pub(super) fn is_of_entry(&self) -> bool {
        match self {
            JournalError::Json(_) => true,
            JournalError::Sqlite(error) => matches!(error.sqlite_error_code(), Some(ErrorCode::TooBig)),
            _ => false,
        }
    }

    /// Returns whether another connection holds the file. Another try on this connection may then succeed.
    pub(super) fn is_busy(&self) -> bool {
        let JournalError::Sqlite(error) = self else { return false };
        matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
    }
}
