//! The limits of `askbridge mcp-http`.

use std::time::Duration;

use super::{KIB, MIB};

/// Length of a message in either direction: MCP puts files, such as screen recordings, into results as Base64.
pub const MESSAGE: usize = 256 * MIB;
/// Length of a message that each response may hold at the same time. Of longer ones, one is held at a time.
pub const SMALL_MESSAGE: usize = MIB;
/// Length of the body of a refused response. The rest of a longer one is not read.
pub const REFUSAL: usize = MIB;
/// Length of a line of the host that is read as a whole before it is known to be too long.
pub const BEGINNING: usize = 64 * KIB;
/// Size of the host's messages that have not left. With more, the host is not read.
pub const HELD: usize = MESSAGE + 64 * MIB;
/// Size of the lines for the host that have not left. With more, no response is read.
pub const LINES: usize = 4 * MIB;
/// Number of the host's requests without a response that are sent: each has a connection, and many systems give a process
/// 1024 files.
pub const CALLS: usize = 256;
/// Number of the host's requests that wait for one of these. A further one is refused.
pub const WAITING: usize = 4096;
/// Number of other calls at a time. With more, the host is not read.
pub const OTHERS: usize = 64;
/// Number of events of calls that wait for the relay.
pub const EVENTS: usize = 16;
/// Number of the server's requests without a response that are remembered.
pub const ASKED: usize = 4096;
/// Number of tools whose marked arguments are remembered.
pub const TOOLS: usize = 1024;
/// Length of a list of tools that is searched for marked arguments.
pub const TOOLS_BYTES: usize = 8 * MIB;
/// Size of the head of a response.
pub const HEAD: usize = 256 * KIB;
/// Length of the ID of a session, and of an event. A longer one counts as none.
pub const ID: usize = 4 * KIB;
/// Length of a file with the value of a header.
pub const HEADER_FILE: u64 = 64 * KIB as u64;

/// How long a connection may take, with the encryption.
pub const CONNECT: Duration = Duration::from_secs(15);
/// How long an unused connection is kept. Servers in Node and Python close it after 5 s: a request that is sent at that
/// moment would be lost.
pub const IDLE: Duration = Duration::from_secs(3);
/// Interval at which the system looks whether the server is still there while a connection is silent.
pub const KEEP_ALIVE: Duration = Duration::from_secs(30);
/// Number of these looks without a reply after which the connection is broken.
pub const KEEP_ALIVE_LOOKS: u32 = 4;
/// How long a server may take for a notification or a response.
pub const CONTROL: Duration = Duration::from_secs(30);
/// How long other messages wait until the server knows that the session may be used.
pub const CONFIRM: Duration = Duration::from_secs(10);
/// How long a response may go on after the last answer that was wanted of it.
pub const LINGER: Duration = Duration::from_secs(1);
/// How long the response to a cancelled request may go on.
pub const CANCELLED: Duration = Duration::from_secs(5);
/// Pause before a stream is opened again, if the server names none: as other clients have it.
pub const RETRY: Duration = Duration::from_secs(1);
/// The shortest of these pauses, so that a server that ends each stream at once does not use up the machine.
pub const RETRY_LEAST: Duration = Duration::from_millis(100);
/// The longest of these pauses that a server may ask for.
pub const RETRY_MOST: Duration = Duration::from_secs(3600);
/// The longest pause after failures.
pub const BACK_OFF_MOST: Duration = Duration::from_secs(30);
/// How many attempts to resume a stream, or to deliver a notification, may fail in a row.
pub const ATTEMPTS: u32 = 4;
/// Number of sessions that are begun without a response in between.
pub const RENEWALS: u32 = 2;
/// How long the last responses are waited for once the host has closed its end. A bridge gives its server 5 s to end.
pub const LAST_RESPONSES: Duration = Duration::from_millis(1500);
/// How long the server may take to end the session.
pub const END: Duration = Duration::from_millis(1500);

/// Returns the pause after this many failures in a row.
pub fn back_off(failures: u32) -> Duration {
    let seconds = 1_u64 << failures.saturating_sub(1).min(5);
    Duration::from_secs(seconds).min(BACK_OFF_MOST)
}
