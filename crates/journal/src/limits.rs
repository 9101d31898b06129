//! The bounds and times of the journal.

use std::time::Duration;

pub(crate) use askbridge_control::limits::*;

const MIB: usize = 1024 * 1024;

/// Entries that wait for the journal's thread. All open questions of an asker may end at once. A further entry is
/// dropped and counted.
pub const ENTRIES: usize = 2 * OPEN;
/// Size of all entries that wait for the journal's thread.
pub const BYTES: usize = OPEN_BYTES;
/// Entries that are written in one transaction. Other processes wait until it is over.
pub const BATCH: usize = 64;
/// Size after which no further entry is added to a transaction. Its entries are in memory twice until it is over.
pub const BATCH_BYTES: usize = BYTES / 4;
/// First back-off before the journal is tried again after an error.
pub const BACK_OFF: Duration = Duration::from_millis(100);
/// Longest back-off before the journal is tried again after an error.
pub const BACK_OFF_MOST: Duration = Duration::from_secs(60);
/// How long the journal logs no further warning after one.
pub const WARNING: Duration = Duration::from_secs(10 * 60);
/// Size of the part of the journal that its connection holds in memory, in KiB.
pub const CACHE_KIB: i64 = 256;
/// Size to which SQLite truncates the write-ahead log once its content is in the file.
pub const LOG: i64 = MIB as i64;
/// Interval at which old questions are removed from the journal.
pub const PRUNE: Duration = Duration::from_secs(24 * 3600);
/// Rows that are removed from the journal in one transaction. Other processes wait until it is over.
pub const PRUNED: usize = 500;
/// Size of the removed records after which a transaction removes no further one. Removal takes time, as each record is
/// overwritten.
pub const PRUNED_BYTES: i64 = 4 * MIB as i64;
/// Age up to which an undelivered answer is given to the same question without asking the user.
pub const EARLIER_GIVEN: Duration = Duration::from_secs(3600);
/// Age up to which a decision is offered for the same question.
pub const EARLIER_OFFERED: Duration = Duration::from_secs(24 * 3600);
/// Number of earlier questions with the same fingerprint that are searched for a decision.
pub const EARLIER: usize = 32;
/// Number of breaks of the journal's chain that are reported one by one. Further ones are only counted.
pub const BREAKS: usize = 1000;
/// Rows of the journal that are read at once for an export.
pub const PAGE: usize = 64;
/// Number of questions in the journal that are found for a typed ID. Further ones are left out.
pub const FOUND: usize = 1000;
/// How long a question that was lost with its bridge is listed: one day. The journal keeps it for longer.
pub const LOST_SHOWN: Duration = Duration::from_secs(24 * 3600);
