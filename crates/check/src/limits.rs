//! Every bound of a check, with its reason. Sizes are in bytes.

use std::time::Duration;

/// What is kept of a line in a failure, from its start: more than a person reads.
pub(crate) const SHOWN_LINE: usize = 2_000;
/// What is kept of the stderr of a command under test, from its end: the last words say why it ended.
pub(crate) const STDERR: usize = 16 * 1024;
/// What one end may have received and not consumed. Far more than the largest line of a case.
pub(crate) const RECEIVED: usize = 256 * 1024 * 1024;
/// What is read from an end at once.
pub(crate) const READ: usize = 64 * 1024;
/// What is written to an end at once: a pipe that can be written to takes at least this much without blocking.
#[cfg(target_os = "linux")]
pub(crate) const WRITTEN: usize = 4096;
/// POSIX promises no more than this.
#[cfg(not(target_os = "linux"))]
pub(crate) const WRITTEN: usize = 512;
/// How many times the time of a case is added where its steps still end or bytes still come: a peer that writes without end is
/// stopped as well.
pub(crate) const EXTENSIONS: u32 = 5;
/// The time for a thing that must not happen, where no later line can show that it did not.
pub(crate) const SETTLE: Duration = Duration::from_millis(300);
/// The time in which an agent that asks several questions at once asks the next one, before the first is answered.
pub(crate) const AT_ONCE: Duration = Duration::from_secs(1);
/// The time that a person has to answer where nobody is said to answer.
pub(crate) const PERSON: Duration = Duration::from_secs(1);
/// A line between the checker and a puppet: longer ones are not sent.
pub(crate) const PUPPET_LINE: usize = 4096;
/// Entries that are kept of what a case said and got, in the report of its failure.
pub(crate) const SHOWN_WIRE: usize = 12;
/// Bytes that a case may write or expect by one filler `\{TEXT*COUNT\}`.
pub(crate) const FILLER: usize = 64 * 1024 * 1024;
/// The time that a command gets at the end of a case to end by itself, and then once more after SIGTERM.
pub(crate) const LEAVE: Duration = Duration::from_secs(1);
/// The time between two looks at whether the run must end.
pub(crate) const STOP: Duration = Duration::from_millis(100);
/// Outcomes that wait to be shown: each worker waits until its own is.
pub(crate) const OUTCOMES: usize = 1;
/// The time between two looks at what a thread reads.
pub(crate) const LOOK: Duration = Duration::from_millis(10);
