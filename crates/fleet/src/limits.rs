//! Limits of machines over a broker.

use std::time::Duration;

/// How long a connection to the broker may take.
pub const CONNECT: Duration = Duration::from_secs(5);
/// How long a reply of the broker itself may take.
pub const REPLY: Duration = Duration::from_secs(5);
/// Interval of the pings on an idle connection to the broker: after two without a reply, it has ended.
pub const PING: Duration = Duration::from_secs(10);
/// The first pause before the broker is tried again. Each further pause is twice as long.
pub const BACK_OFF: Duration = Duration::from_millis(500);
/// The longest pause before the broker is tried again.
pub const BACK_OFF_MOST: Duration = Duration::from_secs(30);
/// How long a connection to the broker must last for the pauses to be short again once it ends.
pub const STEADY: Duration = Duration::from_secs(10);
/// Interval at which a machine writes its entry into the directory.
pub const RENEW: Duration = Duration::from_secs(10);
/// Shortest time between two writes of the entry, since the number of open questions is in it.
pub const RENEW_LEAST: Duration = Duration::from_secs(1);
/// How long an entry is valid.
pub const VALID: Duration = Duration::from_secs(30);
/// Size of an entry.
pub const ENTRY: usize = 1024;
/// Size of all entries at the broker.
pub const ENTRIES_BYTES: usize = 64 * 1024 * 1024;
/// The most machines of the directory that are shown.
pub const MACHINES: usize = 8192;
/// The most machines of one user that are shown.
pub const PLACES: usize = 16;
/// Number of further entries of one user that are asked whether a machine is behind them.
pub const CANDIDATES: usize = 4;
/// How long a machine may take to say that it is there.
pub const PROBE: Duration = Duration::from_secs(3);
/// Number of entries of one user that are asked at once, after which one more is asked each [`PROBE_PAUSE`].
pub const PROBES: usize = PLACES + CANDIDATES;
/// See [`PROBES`].
pub const PROBE_PAUSE: Duration = Duration::from_millis(50);
/// Pause before the bucket is looked at again after the broker has said that it has changed.
pub const LOOK_AGAIN: Duration = Duration::from_millis(250);
/// Characters of a setting of the bucket that are shown.
pub const SHOWN: usize = 120;
/// Size of the bytes in one message: with more, a message of many questions would delay the answers behind it.
pub const CHUNK: usize = 64 * 1024;
/// Bytes that wait in each direction between a session of a machine and what serves it. A message fits, so that it is taken
/// at once: with less, calls of a flood would come faster than they are taken, and wait beyond [`CALLS`]' 16 MiB.
pub const STREAM: usize = CHUNK;
/// Size of a message behind a shorter one. Nearly all calls and their replies fit.
pub const SHORT: usize = 2 * 1024;
/// Size of a message with its headers. The server takes no larger one, since all of [`UNSORTED`] can be of this size.
pub const MESSAGE: usize = CHUNK + 4 * 1024;
/// Number of messages of a session on their way in each direction.
pub const WINDOW: usize = 8;
/// Number of received messages after which the other end is told.
pub const SEEN: u64 = 4;
/// Number of messages of a session that wait to be read: those of a window, and as many notes of what was seen. A
/// session with more is ended.
pub const UNREAD: usize = 2 * WINDOW;
/// Number of messages of a person's subscription that wait until they are given to their session.
pub const UNSORTED: usize = 128;
/// Number of calls of all persons that wait until a machine gives them to their sessions. With fewer, a flood of one person's
/// would push out those of another. More short ones do not come at once: they are sorted whenever the connection has been
/// read 128 times, which is as often as the runtime lets it. So long ones have at most 16 MiB.
pub const CALLS: usize = 128 * 1024;
/// Number of refusals of one person that are on their way.
pub const REFUSALS: usize = 32;
/// Number of messages that were not written to the broker yet.
pub const UNSENT: usize = 64;
/// Number of sessions of a machine. One more is refused.
pub const SESSIONS: usize = 64;
/// Number of sessions of a machine with one person.
pub const SESSIONS_OF_PERSON: usize = 16;
/// How long a session may be silent. A person's process calls each [`askbridge_control::limits::remote::HEARTBEAT`].
pub const SILENCE: Duration = Duration::from_secs(60);
/// How long an inbox that ends takes at most to tell the persons: without a reply of the broker, its entry runs out.
pub const FAREWELL: Duration = Duration::from_secs(1);
/// How long a gateway that a bridge started stays without a bridge.
pub const IDLE: Duration = Duration::from_secs(60);
/// Number of looks at whose server it is. Another connection of this process that ends during a look makes its result
/// unknown: the system changes its tables while they are read.
pub const LOOKS: usize = 3;
/// Number of tries to take a lock that others look at, and the pause after each. A look takes some microseconds, unless
/// its process is interrupted meanwhile.
pub const LOCK_TRIES: usize = 50;
/// See [`LOCK_TRIES`].
pub const LOOK: Duration = Duration::from_millis(1);
