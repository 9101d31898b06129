//! Every bound of a check, with its reason. Sizes are in bytes.

use std::time::Duration;

/// The bytes of a line that a failure keeps, from its start: more than a person reads.
pub(crate) const SHOWN_LINE: usize = 2_000;
/// The bytes of a command's stderr that a failure keeps, from its end: the last words say why it ended.
pub(crate) const STDERR: usize = 16 * 1024;
/// The bytes that an end may receive before a step consumes them. Far more than the largest line of a case.
pub(crate) const RECEIVED: usize = 256 * 1024 * 1024;
/// The bytes of a line of an agent or a client under test. What a real peer reads is shorter by far, and several cases run at once.
pub(crate) const MESSAGE: usize = 16 * 1024 * 1024;
/// The values in a line of an agent or a client under test. In memory, an object may take a hundred times as many bytes as in a line.
pub(crate) const VALUES: usize = 100_000;
/// The bytes of one read.
pub(crate) const READ: usize = 64 * 1024;
/// The bytes of one write: a pipe that is ready for a write takes at least this much without blocking.
#[cfg(target_os = "linux")]
pub(crate) const WRITTEN: usize = 4096;
/// POSIX promises no more than this.
#[cfg(not(target_os = "linux"))]
pub(crate) const WRITTEN: usize = 512;
/// How often the timeout of a case starts again because a step ended or a byte came. It is bounded, because a peer may write
/// without end.
pub(crate) const EXTENSIONS: u32 = 5;
/// The lines that break a rule for every line, and that one case keeps: a peer may write without end.
pub(crate) const BREACHES: usize = 100;
/// The time that an event has which must not happen, where no later line can show that it did not.
pub(crate) const SETTLE: Duration = Duration::from_millis(300);
/// The time in which an agent that asks several questions at once asks the next one, before the first is answered.
pub(crate) const AT_ONCE: Duration = Duration::from_secs(1);
/// The time that a client has to answer if the command line names nobody who answers in it.
pub(crate) const PERSON: Duration = Duration::from_secs(1);
/// A line between the checker and a puppet: longer ones are not sent.
pub(crate) const PUPPET_LINE: usize = 4096;
/// The lines of the conversation that a failure keeps: those before the broken rule say most.
pub(crate) const SHOWN_WIRE: usize = 12;
/// The bytes that one filler `\{TEXT*COUNT\}` of a case may stand for.
pub(crate) const FILLER: usize = 64 * 1024 * 1024;
/// The time that a command gets at the end of a case to end by itself, and then once more after SIGTERM.
pub(crate) const LEAVE: Duration = Duration::from_secs(1);
/// The time between two looks at whether a signal has ended the run.
pub(crate) const STOP: Duration = Duration::from_millis(100);
/// The time in which the last words of a command that has exited are read.
pub(crate) const LAST_WORDS: Duration = Duration::from_secs(1);
/// The outcomes that wait to be shown. A worker waits until its own is shown.
pub(crate) const OUTCOMES: usize = 1;
/// The time between two looks at a state whose change wakes nothing, such as the end of a process.
pub(crate) const LOOK: Duration = Duration::from_millis(10);
/// The looks for processes that a command has left behind. Each look kills those that it finds; a process that one of them
/// starts meanwhile needs another look.
#[cfg(target_os = "linux")]
pub(crate) const ORPHAN_LOOKS: usize = 50;
