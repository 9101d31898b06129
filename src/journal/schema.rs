//! The tables of the journal, and what versions of the program that differ do with one file.
//!
//! The format is `user_version`: 100 times its major part, plus its minor part. A greater minor part has columns and
//! tables more, each with a default: every version of the same major part reads and writes the file, and leaves alone what
//! it does not know. A file of a greater major part is read as far as that works, and never written.

use rusqlite::{Connection, TransactionBehavior};

use super::JournalError;

/// The format that this version writes.
pub(super) const FORMAT: i32 = 100;

/// What leads from one format to the next, oldest first. Once released, a step is never changed.
const STEPS: [(i32, &str); 1] = [(100, FIRST)];

/// A question that is settled has no `record` any more: that is in its settlement.
/// `accepted` is the decision that was given to the asker, until it is settled; `submissions` counts those whose verdict is
/// not known; `claimed` is the question that took the decision over.
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

/// Returns the format of a file; 0 where it is empty.
pub(super) fn format(connection: &Connection) -> Result<i32, JournalError> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

/// Brings a file to the format of this version.
///
/// # Errors
/// `Newer` where the file must not be written.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), JournalError> {
    if is_current(format(connection)?)? {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    // Another process may have done it meanwhile.
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
    if found / 100 > FORMAT / 100 || found < 0 {
        return Err(JournalError::Newer(found));
    }
    Ok(found >= FORMAT)
}
