//! Every constant that bounds what is read from the system, and the log. Sizes are in bytes unless their name says
//! otherwise.

use std::time::Duration;

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// Size of the log of the inbox in the background. A larger log continues in a new file, and one older file is kept.
pub const LOG: u64 = MIB as u64;
/// Number of warnings from one place in the code that are written within [`LOG_REPEATED_TIME`]. Further ones are counted: an
/// agent may cause thousands a second.
pub const LOG_REPEATED: u32 = 16;
/// Time after which warnings from a place in the code are written again, behind the number of those that were not.
pub const LOG_REPEATED_TIME: Duration = Duration::from_secs(60);
/// Ancestors of a process that are looked at: more than there are above any shell.
pub const ANCESTORS: usize = 256;
/// How often the ancestors of a process are looked at while one of them ends.
pub const WALKS: usize = 3;
/// Bytes of a file under `/proc` that are read: a table of sockets of a busy machine is some MiB long.
pub const PROC_FILE: usize = 16 * MIB;
/// Number of listening sockets whose process is looked for.
pub const LISTENERS: usize = 256;
/// Bytes of a text that is typed or pasted at a terminal: as much as an answer may have.
pub const TYPED: usize = 256 * KIB;
/// How far apart pieces of one paste may arrive in a terminal that does not mark pastes. No person presses keys so fast,
/// and none notices that Enter takes this long.
pub const BURST: Duration = Duration::from_millis(50);
/// How long the keyboard must be quiet before a key decides on a permission: a person who types a line for another
/// program makes no such pause in it.
pub const QUIET: Duration = Duration::from_millis(300);
/// How long a program that ends waits at most for the keyboard to be quiet.
pub const DRAIN: Duration = Duration::from_secs(2);
