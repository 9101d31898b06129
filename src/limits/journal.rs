//! The bounds and times of the journal.

use std::time::Duration;

/// How long anything that asks or answers waits for the journal: a person notices a longer wait.
pub const WAIT: Duration = Duration::from_secs(1);
/// Entries that wait for the journal's thread: all open questions of an asker may end at once. One more is dropped, and
/// counted.
pub const ENTRIES: usize = 2 * super::OPEN;
/// Size of all entries that wait for the journal's thread.
pub const BYTES: usize = super::OPEN_BYTES;
/// Entries that are written in one transaction. Other processes wait until it is over.
pub const BATCH: usize = 64;
/// Size of the entries that are written in one transaction, but for one: they are in memory twice meanwhile.
pub const BATCH_BYTES: usize = BYTES / 4;
/// First back-off before the journal is tried again after an error.
pub const BACK_OFF: Duration = Duration::from_millis(100);
/// Longest back-off before the journal is tried again after an error.
pub const BACK_OFF_MOST: Duration = Duration::from_secs(60);
/// How long the journal says nothing more after a warning.
pub const WARNING: Duration = Duration::from_secs(10 * 60);
/// Size of the part of the journal that its connection holds in memory, in KiB.
pub const CACHE_KIB: i64 = 256;
/// Size to which the write-ahead log of the journal is cut once all of it is in the file.
pub const LOG: i64 = super::MIB as i64;
/// How long settled questions are kept, by default.
pub const KEEP: Duration = Duration::from_secs(90 * 24 * 3600);
/// Size of the journal beyond which the oldest settled questions are removed, by default.
pub const SIZE: u64 = 64 * super::MIB as u64;
/// Interval at which old questions are removed from the journal.
pub const PRUNE: Duration = Duration::from_secs(24 * 3600);
/// Rows that are removed from the journal in one transaction. Other processes wait until it is over.
pub const PRUNED: usize = 500;
/// Size of the records that are removed from the journal in one transaction, but for one: each is overwritten.
pub const PRUNED_BYTES: i64 = 4 * super::MIB as i64;
/// Age up to which an answer of which nothing was delivered is given to the same question by itself.
pub const EARLIER_GIVEN: Duration = Duration::from_secs(3600);
/// Age up to which a decision is offered for the same question.
pub const EARLIER_OFFERED: Duration = Duration::from_secs(24 * 3600);
/// Number of earlier questions of the same text that are looked at.
pub const EARLIER: usize = 32;
/// Number of breaks of the journal's chain that are named. Further ones are counted.
pub const BREAKS: usize = 1000;
/// Rows of the journal that are read at once for an export.
pub const PAGE: usize = 64;
/// Number of questions of the journal that a typed ID may stand for. Further ones are left out.
pub const FOUND: usize = 1000;
