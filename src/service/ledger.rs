//! The user's journal as every inbox of the program opens it: its file, and how it learns which bridges live.

use std::sync::Arc;

use askbridge_control::inbox::Ledger;
#[cfg(feature = "journal")]
use askbridge_control::join::discovery;
#[cfg(feature = "journal")]
use askbridge_journal::{Journal, Options};
use askbridge_settings::resolved::JournalSettings;

/// Returns the user's journal, which is not opened yet. Returns `None` without settings: nothing is kept then.
#[cfg(feature = "journal")]
pub fn ledger(settings: Option<JournalSettings>) -> Option<Arc<dyn Ledger>> {
    let JournalSettings { texts, context, keep, size } = settings?;
    let mut options = of_user();
    (options.texts, options.context) = (texts, context);
    (options.keep, options.size) = (keep, size);
    Some(Arc::new(Journal::new(options)))
}

/// Returns the options of the user's journal.
#[cfg(feature = "journal")]
pub fn of_user() -> Options {
    let mut options = Options::new(discovery::journal_file());
    options.home = discovery::home();
    options.life = Arc::new(discovery::life);
    options
}

/// Returns no ledger: this program is built without the journal.
#[cfg(not(feature = "journal"))]
pub fn ledger(_: Option<JournalSettings>) -> Option<Arc<dyn Ledger>> {
    None
}
