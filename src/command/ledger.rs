//! The user's journal as commands open it: its file, how it learns which bridges live, and the queries.
//! Printing it is left to `history.rs` and to the commands that list questions.

use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

use askbridge_core::desk::{Record, Timestamp};

use super::CommandError;
use crate::{
    inbox::Ledger,
    journal::{History, Journal, JournalError, Options, UnsettledQuestions},
    machine::discovery,
    settings::resolved::JournalSettings,
};

/// Returns the user's journal, which is not opened yet. Returns `None` without settings: nothing is kept then.
pub fn ledger(settings: Option<JournalSettings>) -> Option<Arc<dyn Ledger>> {
    let JournalSettings { texts, keep, size } = settings?;
    let mut options = of_user();
    (options.texts, options.keep, options.size) = (texts, keep, size);
    Some(Arc::new(Journal::new(options)))
}

/// Returns the options of the user's journal, with the default limits.
pub(super) fn of_user() -> Options {
    let mut options = Options::new(discovery::journal_file());
    options.home = discovery::home();
    options.life = Arc::new(discovery::life);
    options
}

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

/// Passes the journal's questions to `take`, the latest first. `since` limits them to those settled at most this long
/// ago.
pub(super) fn each(since: Option<Duration>, take: impl FnMut(Record)) -> Result<(), CommandError> {
    let Some(history) = open()? else { return Ok(()) };
    Ok(history.each(since.map(ago), take)?)
}

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
