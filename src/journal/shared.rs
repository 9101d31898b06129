//! What the handle and the thread of the journal share.

use std::time::SystemTime;

use super::{health::Health, queue::Queue};
use crate::desk::Timestamp;

/// The queue between them, and whether the file works.
#[derive(Debug, Default)]
pub(super) struct SharedJournal {
    pub(super) queue: Queue,
    pub(super) health: Health,
}

/// Returns the time by the clock.
pub(super) fn now() -> Timestamp {
    SystemTime::now().into()
}
