//! Every constant that bounds what the peers can make us hold (I6), and every time that is not an option.

use std::time::Duration;

/// Bytes that a reader is given room for at once.
pub const READ: usize = 128 * 1024;
/// Bytes of an unfinished line from which on it is judged by its beginning; if it is ordinary, it goes on at
/// once. A shorter one was most often cut by the reader, and its end is on the way.
pub const STREAM: usize = 4096;
/// Bytes of a line that are held for looking at it. A longer line streams through.
pub const HOLD: usize = 1024 * 1024;
/// Bytes of a read that belongs to a flood: half of what a pipe holds by default.
pub const FLOOD_READ: usize = 32 * 1024;
/// Such reads in a row before a direction counts as flooded.
pub const FLOOD: u32 = 16;
/// Bytes that may wait in a pipe of a flooded direction. The default is 64 KiB, which makes three processes on
/// two ends of it wait for each other.
pub const WIDE_PIPE: usize = 512 * 1024;
/// Bytes of our own lines that may wait for a peer before the peer that causes them is read no further. More than
/// [`HELD_BYTES`], so that prompts which are let go all at once never stop the agent from being read.
pub const OWN_LINES: usize = HELD_BYTES + HOLD;
/// Bytes of the agent's stderr that are kept for our own message about its end.
pub const STDERR_TAIL: usize = 2048;

/// Fields of a question.
pub const FIELDS: usize = 32;
/// Options of a field.
pub const OPTIONS: usize = 64;
/// Characters of one text in a question. A header may be as long.
pub const TEXT: usize = 4000;
/// Bytes that a field's pattern may take once it is compiled; a bigger one is left to the agent.
pub const PATTERN: usize = 8 * 1024;
/// Bytes of a question's parameters.
pub const QUESTION: usize = 256 * 1024;
/// Bytes of an id's JSON text. A question with a longer one is refused, a turn with a longer one not followed, nor a
/// tool call or its session.
pub const ID: usize = 1024;
/// Open questions of one session.
pub const OPEN_PER_SESSION: usize = 64;
/// Open questions of a bridge.
pub const OPEN: usize = 1024;
/// Bytes of the parameters of all open questions of a bridge.
pub const OPEN_BYTES: usize = 4 * 1024 * 1024;
/// Settled questions that are remembered, so that a late response is known as one.
pub const SETTLED: usize = 1024;
/// Tool calls whose session is remembered, of an agent whose questions do not tell theirs.
pub const TOOL_CALLS: usize = 1024;
/// Settled questions that an inbox remembers, so that who comes too late is told what became of them.
pub const REMEMBERED: usize = 128;
/// Bytes of those; the last one is remembered whatever its size.
pub const REMEMBERED_BYTES: usize = 1024 * 1024;
/// Submissions of others that wait for the bridge; whoever comes next waits.
pub const COMMANDS: usize = 64;
/// Bytes of the submissions that wait for the bridge, or for the agent behind it; whoever comes next is refused.
pub const WAITING_BYTES: usize = 4 * 1024 * 1024;
/// Bytes that a submission counts for at the least.
pub const SUBMISSION: usize = 4096;
/// Bytes of the name of who answers; a longer one is left out.
pub const NAME: usize = 200;
/// Connections to an inbox's socket; whoever comes next is refused.
pub const CONNECTIONS: usize = 128;
/// Bytes that are read of a connection before others have their turn: a few calls, each of which may have a long reply.
pub const SIP: usize = 1024;
/// Bytes of a request to an inbox.
pub const REQUEST: usize = 1024 * 1024;
/// Bytes of a message of an inbox: all open questions of some bridges that have the most that they may. (A question
/// is up to seven times longer there than the agent says it: an option is a value and a label, each with its name.)
pub const RESPONSE: u32 = 64 * 1024 * 1024;
/// Messages that wait on a connection to an inbox until the one before is read, on each end. Who subscribed hears less
/// often then, and of the latest state.
pub const MESSAGES: usize = 2;
/// Bytes of a message that a program of ours reads from a bridge, which may be one of another version.
pub const MESSAGE: usize = 16 * 1024 * 1024;
/// Calls of a batch.
pub const BATCH: usize = 64;
/// Requests over HTTP in a second, of those who show the token. So is each call of JSON-RPC, over a WebSocket as well.
pub const REQUESTS_PER_SECOND: u32 = 1000;
/// Streams of events at once.
pub const SUBSCRIBERS: usize = 64;
/// Subscriptions of one connection to an inbox.
pub const SUBSCRIPTIONS_PER_CONNECTION: usize = 8;
/// Subscriptions of all connections to an inbox.
pub const SUBSCRIPTIONS: usize = 64;
/// Calls in flight of one connection to an inbox. Beyond that, the connection is not read.
pub const CALLS_PER_CONNECTION: usize = 32;
/// Calls in flight of all connections to an inbox. One more is refused.
pub const CALLS: usize = 512;
/// Bytes of all requests in flight that are longer than [`SHORT_REQUEST`].
pub const REQUESTS_BYTES: usize = 8 * 1024 * 1024;
/// Bytes of a request that needs no room of its own.
pub const SHORT_REQUEST: usize = 16 * 1024;
/// Bytes of all listings and records in flight. A listing has up to [`OPEN_BYTES`] and what is on its way.
pub const REPLIES_BYTES: usize = 12 * 1024 * 1024;
/// How long a call waits for room for its reply.
pub const REPLY_WAIT: Duration = Duration::from_secs(5);
/// Bytes of the questions in one message of a subscription; a longer question comes alone.
pub const DELTA: usize = 64 * 1024;
/// Bytes of a batch's replies after which its other calls are refused.
pub const BATCH_REPLY: usize = 1024 * 1024;
/// Changes that are remembered for who was away.
pub const EVENTS: usize = 1024;
/// Bytes of those; the last one is remembered whatever its size. More than [`REMEMBERED_BYTES`], so that all is told
/// that an inbox still knows.
pub const EVENTS_BYTES: usize = 4 * 1024 * 1024;
/// Running turns that are followed.
pub const TURNS: usize = 1024;
/// Prompts that wait for the end of a turn; the next one goes through.
pub const HELD_PROMPTS: usize = 16;
/// Bytes of the prompts that wait; one that does not fit goes through.
pub const HELD_BYTES: usize = 4 * 1024 * 1024;
/// Bytes of a session's name. A turn in a session with a longer one is not followed.
pub const SESSION: usize = 4 * TEXT;

/// Debounce of a follower: after a batch of changes, the next comes this much later at the earliest.
pub const DEBOUNCE: Duration = Duration::from_millis(10);
/// The name of the debounce until all follow by one way.
pub const CALM: Duration = DEBOUNCE;
/// How often the folder of the sockets is looked at for new ones.
pub const LOOK: Duration = Duration::from_millis(250);
/// How old a socket is that still has no name, before it is taken for one that a dead bridge left.
pub const STALE: Duration = Duration::from_secs(60);
/// How often a stream of events says that it is still there.
pub const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// How often a stream of events says so to opencode's clients: they give it up after 15 s.
pub const HEARTBEAT: Duration = Duration::from_secs(10);
/// How often whoever has a WebSocket over HTTP is asked whether it is still there.
pub const PING: Duration = Duration::from_secs(30);
/// How long it may say nothing until it counts as gone: so long it may read one message.
pub const PONG: Duration = Duration::from_secs(120);
/// How long the head of a request over HTTP may take to come, from its connection or the response before it on: so
/// long a connection may idle.
pub const HEAD: Duration = Duration::from_secs(30);
/// How long the body of a request over HTTP may take to come.
pub const BODY: Duration = Duration::from_secs(10);
/// The longest that a socket is left alone on which nothing was understood, before it is tried again.
pub const AWAY: Duration = Duration::from_secs(16);
/// How long a bridge may take to say what is open, before others go on without it.
pub const HELLO: Duration = Duration::from_secs(3);
/// How long an answer may take to reach the agent, or a question that is asked may be waited for: as long as can be
/// said, since a clock cannot be added to without end.
pub const WAIT: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
/// How long a socket rests that cannot take a connection, such as for want of file descriptors.
pub const REST: Duration = ACCEPT_BACK_OFF;
/// Back-off after a connection could not be accepted, such as for want of file descriptors.
pub const ACCEPT_BACK_OFF: Duration = Duration::from_millis(100);
/// How long the agent may take to end once the client is gone, unless the user says otherwise.
pub const GRACE: Duration = Duration::from_secs(10);
/// How long the client may take to answer a question that the agent has withdrawn.
pub const WITHDRAW: Duration = Duration::from_secs(2);
/// How long the agent may take to end after a signal to us has closed its stdin.
pub const DRAIN: Duration = Duration::from_secs(3);
/// How long the agent's group may take to end after SIGTERM.
pub const TERMINATE: Duration = Duration::from_secs(2);
/// How long the agent's output may take to end after SIGKILL: somebody outside of its group may hold it open.
pub const KILL: Duration = Duration::from_secs(1);
/// How often a process group that is ending is looked at: nothing tells us when the last of it is gone.
pub const GROUP_CHECK: Duration = Duration::from_millis(20);
/// How long the last replies to those who answer elsewhere may take, once the bridge has ended. They are written at once:
/// who is waited for longer does not read, or has not said all, and holds up no end of a process.
pub const LAST_REPLIES: Duration = Duration::from_millis(100);
/// How long the client may take to read the last words once a signal has told us to end.
pub const FLUSH: Duration = Duration::from_secs(1);
