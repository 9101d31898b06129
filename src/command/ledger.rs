//! The user's journal as commands open it: its file, how it learns which bridges live, and the queries.
//! Printing it is left to `history.rs` and to the commands that list questions.

use std::{
    fs, io,
    time::{Duration, SystemTime},
};

use askbridge_control::{inbox::HistoryFilter, join::discovery};
use askbridge_core::{
    desk::{Record, Timestamp},
    question::Purpose,
};
use askbridge_journal::{History, JournalError, UnsettledQuestions};

use super::CommandError;
use crate::service::of_user;

/// Opens the journal to read. `None` if nothing was ever recorded.
pub(super) fn open() -> Result<Option<History>, CommandError> {
    let file = discovery::journal_file().ok_or(JournalError::NoFolder)?;
    Ok(History::open(&file)?)
}

/// Opens the journal for a check, even in an unknown format. `None` if nothing was ever recorded.
pub(super) fn open_to_verify() -> Result<Option<History>, CommandError> {
    let file = discovery::journal_file().ok_or(JournalError::NoFolder)?;
    Ok(History::open_to_verify(&file)?)
}

/// Returns why nothing can be written to the folder of the journal. `None` if something can.
pub(super) fn unwritable() -> Option<io::Error> {
    let file = discovery::journal_file()?;
    // The folder itself is made with the first question.
    let folder = file.ancestors().skip(1).find(|folder| folder.exists())?;
    // Only a write shows a full disk, or a file system that is mounted for reading.
    let probe = folder.join(format!(".askbridge-{}", std::process::id()));
    let written = fs::write(&probe, [0; PROBE]);
    drop(fs::remove_file(&probe));
    written.err()
}

/// How many bytes are written to see whether there is room: a page of the journal.
const PROBE: usize = 4096;

/// Passes the journal's questions to `take`, the latest first. `since` limits them to those settled at most this long
/// ago.
pub(super) fn each(since: Option<Duration>, take: impl FnMut(Record)) -> Result<(), CommandError> {
    let Some(history) = open()? else { return Ok(()) };
    Ok(history.each(since.map(ago), take)?)
}

/// Returns the last permissions of the journal, the latest first: at most so many, of the last few hundred questions.
pub(super) fn permissions(most: usize) -> Result<Vec<Record>, CommandError> {
    let Some(history) = open()? else { return Ok(Vec::new()) };
    let filter = HistoryFilter { limit: Some(LOOKED_AT * most), ..HistoryFilter::default() };
    let records = history.list(&filter)?.into_iter().map(|past| past.record);
    Ok(records.filter(|record| record.question.purpose == Purpose::Permission).take(most).collect())
}

/// How many questions are looked at for each permission: on most machines, every second question is one.
const LOOKED_AT: usize = 5;

/// Returns recent questions without a settlement: lost ones, and those that wait at bridges that still run.
pub(super) fn unsettled() -> Result<UnsettledQuestions, CommandError> {
    let Some(history) = open()? else { return Ok(UnsettledQuestions::default()) };
    Ok(history.lately_unsettled(now(), &of_user())?)
}

pub(super) fn now() -> Timestamp {
    SystemTime::now().into()
}

/// Returns the time this long ago.
pub(super) fn ago(age: Duration) -> Timestamp {
    // An age that no clock can express reaches back to the beginning.
    SystemTime::now().checked_sub(age).map_or_else(Timestamp::default, Into::into)
}
