//! The bounds and the times of the interface over HTTP. Sizes are in bytes unless their name says otherwise.

use std::time::Duration;

pub(crate) use askbridge_control::limits::*;

const KIB: usize = 1024;

/// Number of pages of the history that are searched for permissions on which a rule is tried.
pub const TRIAL_PAGES: usize = 5;
/// Number of requests over HTTP in a second, of all connections that show the token. A call of JSON-RPC counts as one.
pub const REQUESTS_PER_SECOND: u32 = 20_000;
/// Connections over HTTP that have shown the token.
pub const HTTP_CONNECTIONS: usize = 1280;
/// Requests that wait for an outcome. The other connections are left for those who answer.
pub const WAITING: usize = 1024;
/// Number of failed sign-ins of browsers in a second. The reply to one more says only that there were too many.
pub const FAILED_SIGN_INS_PER_SECOND: u32 = 10;
/// Number of used codes of `askbridge open` that are remembered until they expire. One more is refused.
pub const CODES: usize = 1024;
/// Length of the body of a request that needs no token.
pub const PUBLIC_BODY: u64 = 4 * KIB as u64;
/// Number of streams of events at once.
pub const SUBSCRIBERS: usize = 64;
/// WebSockets over HTTP. Each may hold a message of [`REQUEST`] bytes that is not complete.
pub const WEBSOCKETS: usize = 32;
/// Connections over HTTP that have not shown the token yet; the oldest of them is closed when another comes.
pub const UNKNOWN_CONNECTIONS: usize = 16;
/// Bytes that are buffered of a connection over HTTP, and thus the largest head of a request.
pub const HTTP_BUFFER: usize = 32 * KIB;
/// Bytes of a reply over HTTP that wait until the client reads on. A longer reply is serialized piece by piece.
pub const REPLY_WINDOW: usize = 128 * KIB;
/// The longest back-off after many connections over HTTP in a row could not be accepted.
pub const ACCEPT_BACK_OFF_MOST: Duration = Duration::from_secs(2);
/// How long a connection over HTTP may take to show the token.
pub const TOKEN: Duration = Duration::from_secs(5);
/// How long a code of `askbridge open` signs a browser in.
pub const CODE: Duration = Duration::from_secs(300);
/// Interval of what keeps a response alive: comments in a stream of events, spaces before JSON that is not ready. Python's
/// httpx gives a silent response up after 5 s by default, and many proxies after a minute.
pub const KEEP_ALIVE: Duration = Duration::from_secs(4);
/// The longest that a request of the Agent Approval Protocol waits.
pub const AAP_TIMEOUT: Duration = Duration::from_secs(30 * 24 * 3600);
/// How long an approval of that protocol counts, which demands an end. A run that pauses may come back a day later.
pub const AAP_GRANT: Duration = Duration::from_secs(24 * 3600);
/// Length of what a program says of what it did.
pub const REPORT: usize = 4 * KIB;
/// Interval of the heartbeats for opencode's clients, which give a stream up after 15 s without an event.
pub const HEARTBEAT: Duration = Duration::from_secs(10);
/// How long the head of a request over HTTP may take, counted from the connection or from the response before it. A
/// connection may be idle for as long.
pub const HEAD: Duration = Duration::from_secs(30);
