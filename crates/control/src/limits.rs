//! Every constant that bounds the memory that responders, bridges and machines can make an inbox use (I6), and every time
//! that is not a setting, in addition to those of the core. Sizes are in bytes unless their name says otherwise.

pub mod remote;

use std::time::Duration;

pub use askbridge_core::limits::*;

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

// The inbox.

/// Number of submissions that wait for the bridge. One more waits for its turn.
pub const COMMANDS: usize = 64;
/// Size of all submissions that wait for the bridge, or for the agent behind it. One more is refused.
pub const WAITING_BYTES: usize = 4 * MIB;
/// Least size that a submission counts for.
pub const SUBMISSION: usize = 4 * KIB;
/// Size of all submissions that wait since their senders can still take them back. One more is submitted at once.
pub const DEFERRED_BYTES: usize = 10 * MIB;
/// Least size that one of these counts for: there are ten thousand at most.
pub const DEFERRED: usize = KIB;
/// Number of their verdicts that one connection has not asked for: those of all permissions that a person decides together, and
/// of some more. One more submission does not wait.
pub const DEFERRED_VERDICTS: usize = 256;
/// Number of connections to an inbox. One more is refused.
pub const CONNECTIONS: usize = 128;
/// Length of a request to an inbox.
pub const REQUEST: usize = MIB;
/// Length of a request that takes no room in [`REQUESTS_BYTES`].
pub const SHORT_REQUEST: usize = 16 * KIB;
/// Size of all longer requests in flight.
pub const REQUESTS_BYTES: usize = 8 * MIB;
/// Size of all listings and records in flight. One listing has up to [`OPEN_BYTES`] of each asker, and
/// [`REMEMBERED_BYTES`].
pub const REPLIES_BYTES: usize = 12 * MIB;
/// Length of a message that our programs read from a bridge, which may be of another version.
pub const MESSAGE: usize = 16 * MIB;
/// Number of questions of the past that are listed by default.
pub const HISTORY: usize = 50;
/// Number of threads on which a command reads the listings of bridges.
pub const READERS: usize = 4;
/// Number of unread messages of a subscription in our own programs. Beyond that, the program subscribes again.
pub const MESSAGES: usize = 8;
/// Size of the questions in one message of a subscription. A bigger question comes alone.
pub const DELTA: usize = 64 * KIB;
/// Number of calls in flight of one connection. Beyond that, the connection is not read until a call is done, which
/// takes seconds at most: calls that wait for a person or an agent count in [`OPEN`] and [`WAITING_BYTES`], not here or
/// in [`CALLS`].
pub const CALLS_PER_CONNECTION: usize = 32;
/// Number of calls in flight of all connections. One more is refused.
pub const CALLS: usize = 512;
/// Size of the texts of one call that reads Markdown. One that has more is refused.
pub const MARKDOWN: usize = 256 * KIB;
/// Bytes of an image in one reply. Whoever asks for a larger one asks again.
pub const IMAGE_PIECE: usize = 192 * KIB;
/// Pixels of the longer side of an image in an answer. A larger one is scaled down, as models that read it would do.
pub const ANSWER_SIDE: u32 = 1568;
/// How much larger a tree can be than its text, as JSON: an item of a list, `- a`, has 4 bytes, and its nodes have 90.
pub const TREE_PER_BYTE: usize = 32;
/// Number of calls of a batch.
pub const BATCH: usize = 64;
/// Size of a batch's replies after which its other calls are refused.
pub const BATCH_REPLY: usize = MIB;
/// Number of subscriptions of one connection.
pub const SUBSCRIPTIONS_PER_CONNECTION: usize = 8;
/// Number of subscriptions of all connections.
pub const SUBSCRIPTIONS: usize = 128;
/// Number of calls that wait for the outcome of a question that no connection holds. One more is refused.
pub const OUTCOMES: usize = 1024;
/// How long one of them, or a request over HTTP, waits at most: a client that is gone is noticed by then.
pub const OUTCOME: Duration = Duration::from_secs(600);
/// Number of open questions that no connection holds.
pub const KEPT: usize = 10_000;
/// Size of all of these.
pub const KEPT_BYTES: usize = 32 * MIB;
/// Pause before a decision that could not be written is written again.
pub const KEPT_BACK_OFF: Duration = Duration::from_millis(100);
/// Length of the key under which a question is asked.
pub const KEY: usize = 255;
/// Size of the records in the inbox of all bridges. Further questions are left out, and only counted.
pub const MACHINE_BYTES: usize = 64 * MIB;
/// Number of questions in one bridge's snapshot: those that are kept, and those of the desks of a bridge. A bridge that lists
/// more is not followed.
pub const LISTED: usize = 12 * OPEN;
/// Number of concurrent calls that ask a bridge about questions that are missing in its snapshot.
pub const LOOK_UPS: usize = 8;
/// Number of bridges that are asked for their remembered questions at a time.
pub const BRIDGES_AT_ONCE: usize = 8;

// Times.

/// Pause between two hand-overs within a process: of a bridge to its inbox, and of an inbox to the joined one. A question
/// that the client answers at once then costs its bridge one wake-up of the inbox's thread instead of two, and responders
/// do not notice a millisecond.
pub const HAND_OVER: Duration = Duration::from_millis(1);
/// Debounce of a follower: after a batch of changes, the next comes this much later at the earliest.
pub const DEBOUNCE: Duration = Duration::from_millis(10);
/// Interval at which the folder of the sockets is searched for new bridges.
pub const DISCOVERY_INTERVAL: Duration = Duration::from_millis(250);
/// Age after which a socket without a name counts as left behind by a dead bridge.
pub const STALE: Duration = Duration::from_secs(60);
/// Longest back-off before another attempt at a socket that sent no greeting.
pub const RECONNECT_BACK_OFF: Duration = Duration::from_secs(16);
/// Handshake timeout: how long a bridge may take to greet before other bridges are shown without it.
pub const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(3);
/// A submission waits no longer than until this much before the deadline of its question, so that it arrives in time also
/// on a busy machine, and on another one.
pub const BEFORE_DEADLINE: Duration = Duration::from_secs(2);
/// How long an agent may take to read an answer before its responder is told that it is not known whether it got it. It
/// gets it all the same once it reads.
pub const VERDICT: Duration = Duration::from_secs(12);
/// How long an image may take to come from its bridge, which may be on another machine.
pub const IMAGE_TIMEOUT: Duration = Duration::from_secs(20);
/// How long a command that shows all bridges waits after the last message of any of them. Then it shows what it has,
/// and names the bridges that did not reply. On a busy machine, a process may not be scheduled for a second. The
/// command does not wait for a bridge that is gone.
pub const PATIENCE: Duration = Duration::from_secs(2);
/// Back-off after a connection could not be accepted, such as for want of file descriptors.
pub const ACCEPT_BACK_OFF: Duration = Duration::from_millis(100);
/// How long a call waits for room for its reply. It is shorter than [`PATIENCE`], so that the caller still gets the
/// error that there is no room.
pub const REPLY_WAIT: Duration = Duration::from_millis(1500);
/// How long the body of a request may take, or the rest of a long line on a socket.
pub const BODY: Duration = Duration::from_secs(10);
/// How long the last replies to responders may take once the bridge has ended. Unless the machine is busy, they are
/// written at once. A connection that takes longer belongs to a client that does not read, and must not delay the end
/// of the process.
pub const LAST_REPLIES: Duration = Duration::from_millis(400);
/// How long what waits since its sender can take it back may take to reach the agents when a server ends. Unless an agent
/// does not read, it has it at once.
pub const LAST_SUBMISSIONS: Duration = Duration::from_secs(1);
/// How long a service may take to stop once the bridge has ended: a service that hangs must not keep the process.
pub const SERVICE_STOP: Duration = Duration::from_millis(1500);
/// How long a user counts as present after a program reported it. The program repeats the report before that.
pub const PRESENCE: Duration = Duration::from_secs(30);
/// Interval at which an ending process group is polled: no event reports the end of its last process.
pub const GROUP_CHECK: Duration = Duration::from_millis(20);
/// Pause between two checks of the settings whether a service that has not started yet must start.
pub const NOTIFY_SETTINGS: Duration = Duration::from_secs(2);
/// How long an asker or a responder waits for the journal. A person would notice a longer wait.
pub const LEDGER_WAIT: Duration = Duration::from_secs(1);
/// Interval of the pings on a WebSocket.
pub const PING: Duration = Duration::from_secs(30);
/// How long a WebSocket may be silent before it counts as gone: as long as it may take to read one message.
pub const PONG: Duration = Duration::from_secs(120);
