//! Every constant that bounds the memory that peers and responders can make the program use (I6), and every time that
//! is not a setting, in addition to those of the core. Sizes are in bytes unless their name says otherwise.

pub mod fleet;
pub mod journal;
pub mod machine;
pub mod mcp;

use std::time::Duration;

pub use askbridge_core::limits::*;

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

// The data path.

/// Length of a read that counts as part of a flood: half of a pipe's default capacity.
pub const FLOOD_READ: usize = 32 * KIB;
/// Number of consecutive [`FLOOD_READ`]s after which a direction counts as flooded.
pub const FLOOD: u32 = 16;
/// Buffer for one read in a flood, whose pages the kernel moves instead of copying them again, and capacity of the pipe
/// that is read. With the default of 64 KiB, three processes on two pipes wait for each other; a far larger buffer does
/// not stay in the cache.
pub const WIDE_READ: usize = 128 * KIB;
/// Capacity of the pipe that a flood is written to. A partly filled page uses as much of the capacity as a full one.
pub const WIDE_PIPE: usize = 2 * WIDE_READ;
/// End of the agent's stderr that is kept for the bridge's own message about a failed agent.
pub const STDERR_TAIL: usize = 2 * KIB;

// Questions.

/// Number of bridges that are asked for their remembered questions at a time.
pub const BRIDGES_AT_ONCE: usize = 8;

// The inbox.

/// Size of the input of a hook, and of one line of a transcript. Either may contain a whole file that the agent wants
/// to write.
pub const HOOK: usize = 4 * MIB;
/// Size of the end of a transcript that is searched for a pending tool call, which is on one of the last lines.
pub const TRANSCRIPT_TAIL: u64 = 8 * MIB as u64;
/// Number of submissions that wait for the bridge. One more waits for its turn.
pub const COMMANDS: usize = 64;
/// Size of all submissions that wait for the bridge, or for the agent behind it. One more is refused.
pub const WAITING_BYTES: usize = 4 * MIB;
/// Least size that a submission counts for.
pub const SUBMISSION: usize = 4 * KIB;
/// Length of a responder's name. A longer one is left out.
pub const NAME: usize = 200;
/// Length of a client's settings file. Most are some KiB long, the longest some 100 KiB.
pub const CLIENT_SETTINGS: usize = 4 * MIB;
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
/// Number of calls of a batch.
pub const BATCH: usize = 64;
/// Size of a batch's replies after which its other calls are refused.
pub const BATCH_REPLY: usize = MIB;
/// Number of subscriptions of one connection.
pub const SUBSCRIPTIONS_PER_CONNECTION: usize = 8;
/// Number of subscriptions of all connections.
pub const SUBSCRIPTIONS: usize = 128;
/// Size of the records in the inbox of all bridges. Further questions are left out, and only counted.
pub const MACHINE_BYTES: usize = 64 * MIB;
/// Number of questions in one bridge's snapshot: four times as many as its desks hold. A bridge that lists more is not
/// followed.
pub const LISTED: usize = 8 * OPEN;
/// Number of concurrent calls that ask a bridge about questions that are missing in its snapshot.
pub const LOOK_UPS: usize = 8;
/// Number of requests over HTTP in a second, of all connections that show the token. A call of JSON-RPC counts as one.
pub const REQUESTS_PER_SECOND: u32 = 1000;
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

// Times of the inbox.

/// Pause of the inbox between two hand-overs of a bridge. A question that the client answers at once then costs its bridge
/// one wake-up of the inbox's thread instead of two, and responders do not notice a millisecond.
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
/// How long an agent may take to read an answer before its responder is told that it is not known whether it got it. It
/// gets it all the same once it reads.
pub const VERDICT: Duration = Duration::from_secs(12);
/// How long a command that shows all bridges waits after the last message of any of them. Then it shows what it has,
/// and names the bridges that did not reply. On a busy machine, a process may not be scheduled for a second. The
/// command does not wait for a bridge that is gone.
pub const PATIENCE: Duration = Duration::from_secs(2);
/// Back-off after a connection could not be accepted, such as for want of file descriptors.
pub const ACCEPT_BACK_OFF: Duration = Duration::from_millis(100);
/// The longest back-off after many connections over HTTP in a row could not be accepted.
pub const ACCEPT_BACK_OFF_MOST: Duration = Duration::from_secs(2);
/// How long a connection over HTTP may take to show the token.
pub const TOKEN: Duration = Duration::from_secs(5);
/// How long the inbox in the background may take to serve, or to end.
pub const BACKGROUND: Duration = Duration::from_secs(10);
/// How long the program that starts a browser may take to fail. If it still runs by then, it counts as the browser.
pub const BROWSER: Duration = Duration::from_secs(2);
/// How long a code of `askbridge open` signs a browser in.
pub const CODE: Duration = Duration::from_secs(300);
/// How long a call waits for room for its reply. It is shorter than [`PATIENCE`], so that the caller still gets the
/// error that there is no room.
pub const REPLY_WAIT: Duration = Duration::from_millis(1500);
/// Interval of what keeps a response alive: comments in a stream of events, spaces before JSON that is not ready. Many
/// proxies give a silent response up after a minute.
pub const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// Interval of the heartbeats for opencode's clients, which give a stream up after 15 s without an event.
pub const HEARTBEAT: Duration = Duration::from_secs(10);
/// Interval of the pings on a WebSocket.
pub const PING: Duration = Duration::from_secs(30);
/// How long a WebSocket may be silent before it counts as gone: as long as it may take to read one message.
pub const PONG: Duration = Duration::from_secs(120);
/// How long the head of a request over HTTP may take, counted from the connection or from the response before it. A
/// connection may be idle for as long.
pub const HEAD: Duration = Duration::from_secs(30);
/// How long the body of a request may take, or the rest of a long line on a socket.
pub const BODY: Duration = Duration::from_secs(10);
/// How long the last replies to responders may take once the bridge has ended. Unless the machine is busy, they are
/// written at once. A connection that takes longer belongs to a client that does not read, and must not delay the end
/// of the process.
pub const LAST_REPLIES: Duration = Duration::from_millis(400);
/// How long a service may take to stop once the bridge has ended: a service that hangs must not keep the process.
pub const SERVICE_STOP: Duration = Duration::from_millis(1500);

// Times of the agent and the client.

/// Default time for which a hook holds back an answer from elsewhere: the user may be typing at the dialog.
pub const HOOK_GRACE: Duration = Duration::from_secs(3);
/// Default time after which a hook leaves a question to the agent's dialog, which cannot be used before.
pub const HOOK_PASS: Duration = Duration::from_secs(30);
/// Ended child processes that are reaped at once. An agent may leave many behind.
pub const REAPED_AT_ONCE: usize = 64;
/// Interval at which an ending process group is polled: no event reports the end of its last process.
pub const GROUP_CHECK: Duration = Duration::from_millis(20);

// Settings.

/// Size of a settings file. A larger file is not read.
pub const SETTINGS_FILE: usize = 64 * KIB;
/// Number of values in a settings file. Further values are ignored.
pub const SETTINGS_KEYS: usize = 1024;
/// Number of problems of a settings file that are reported.
pub const SETTINGS_PROBLEMS: usize = 20;
/// Number of folders that are searched for a project's settings file, from the project's folder upwards.
pub const SETTINGS_FOLDERS: usize = 64;
/// Default age of a question at which the user is notified.
pub const NOTIFY_DELAY: Duration = Duration::from_secs(10);
/// Default interval of the notifiers' heartbeat command.
pub const NOTIFY_HEARTBEAT: Duration = Duration::from_secs(5 * 60);
/// Number of notifiers that run at once for one user, over all bridges: each is a process of some megabytes.
pub const NOTIFIERS: usize = 16;
/// Number of notifiers that one bridge starts in a minute, so that an agent that asks and withdraws cannot flood the
/// user.
pub const NOTIFIED_A_MINUTE: usize = 12;
/// A minute.
pub const MINUTE: Duration = Duration::from_secs(60);
/// Interval at which held-back notifications are tried again: the user may have left, or the quiet hours may be over.
pub const NOTIFY_LOOK: Duration = Duration::from_secs(5);
/// Back-off before a notifier that found too many others is started again.
pub const NOTIFY_RETRY: Duration = Duration::from_secs(30);
/// Shortest time between two messages that more questions wait.
pub const NOTIFY_MORE: Duration = Duration::from_secs(60);
/// Interval at which the questions without a notifier are counted, while the most notifiers run.
pub const NOTIFY_COUNT: Duration = Duration::from_secs(10);
/// Size of the text of one message. ntfy turns a text of more than 4,096 bytes into an attachment.
pub const NOTIFY_TEXT: usize = 1500;
/// Number of buttons of one message: ntfy supports no more, and desktops have no room for more.
pub const NOTIFY_BUTTONS: usize = 3;
/// How long a notification command may run: speech takes its time.
pub const NOTIFY_COMMAND: Duration = Duration::from_secs(60);
/// How long a notification request may take, or the desktop to show a notification.
pub const NOTIFY_REQUEST: Duration = Duration::from_secs(10);
/// How long a notifier may take to withdraw its notifications, once its question is settled.
pub const NOTIFY_END: Duration = Duration::from_secs(15);
/// How long taps on the phone still get a reply after their question is settled.
pub const NOTIFY_LATE: Duration = Duration::from_secs(30);
/// How long one stream of taps is read before it is requested again: a connection may be dead without a sign.
pub const NOTIFY_STREAM: Duration = Duration::from_secs(120);
/// Length of one line in the stream of taps.
pub const NOTIFY_LINE: usize = 16 * 1024;
/// Number of messages on a reply topic that are not taps, after which the notifier stops listening.
pub const NOTIFY_STRANGERS: usize = 64;
/// Pause between two checks of the settings whether a service that has not started yet must start.
pub const NOTIFY_SETTINGS: Duration = Duration::from_secs(2);
/// How long a user counts as present after a program reported it. The program repeats the report before that.
pub const PRESENCE: Duration = Duration::from_secs(30);

// Attached agents.

/// Interval at which `askbridge attach` looks for agents.
pub const ATTACH_LOOK: Duration = Duration::from_secs(2);
/// How long one search for the agents of a kind may take.
pub const ATTACH_LOOK_TIME: Duration = Duration::from_secs(5);
/// Longest back-off before another attempt at an agent whose attachment ended soon.
pub const ATTACH_BACK_OFF: Duration = Duration::from_secs(8);
/// Number of agents that are attached at once: each has a socket and some threads.
pub const ATTACHMENTS: usize = 64;
/// How long an attached agent may take to connect, or to confirm an answer. After that, the result is unknown.
pub const ATTACH_ANSWER: Duration = Duration::from_secs(1);
/// How long the questions of an agent stay open after its connection broke, so that they continue when it is back.
pub const ATTACH_REJOIN: Duration = Duration::from_secs(5);
/// How long an attached agent may take to say why a question ended: by an answer, or by the end of its turn.
pub const ATTACH_REASON: Duration = Duration::from_millis(150);
/// How long the record of a thread is searched for the answer to a question that has ended.
pub const ATTACH_RECORD: Duration = Duration::from_millis(600);
/// Interval at which that record is polled.
pub const ATTACH_RECORD_LOOK: Duration = Duration::from_millis(20);
/// Size of the end of that record that is searched.
pub const ATTACH_RECORD_END: u64 = 256 * KIB as u64;
/// Length of a message of Codex' app server: a whole thread may be in one.
pub const CODEX_MESSAGE: usize = 32 * MIB;
/// Number of Codex threads that are remembered.
pub const CODEX_THREADS: usize = 1024;
/// Number of concurrent calls to Codex' app server, which refuses calls when it is overloaded.
pub const CODEX_CALLS: usize = 8;
/// How long an agent may take to report the answer that came before ours. The responder waits for that.
pub const ATTACH_LATE: Duration = Duration::from_millis(500);
/// First back-off before the retransmission of an answer that may not have arrived.
pub const ATTACH_AGAIN: Duration = Duration::from_millis(100);
/// How long an agent may take to accept a connection.
pub const ATTACH_CONNECT: Duration = Duration::from_secs(3);
/// How long an agent may take for any other call, such as for a page of a long log.
pub const ATTACH_CALL: Duration = Duration::from_secs(10);
/// Number of ended questions of an agent that are remembered, so that a late event does not open one of them again.
pub const ATTACH_ENDED: usize = 1024;
/// Number of connections and calls of one agent that may be pending at once.
pub const ATTACH_CALLS: usize = 64;
/// Length of opencode's reply, such as a list of open requests, and of one event. A longer event is skipped.
pub const OPENCODE_REPLY: usize = 4 * MIB;
/// How long opencode's stream of events may be silent. It has a heartbeat each 10 s, or each 30 s in older versions.
pub const OPENCODE_SILENCE: Duration = Duration::from_secs(75);
/// Number of projects of one opencode server whose open requests are read.
pub const OPENCODE_PROJECTS: usize = 64;
/// Length of the head of a message of Copilot.
pub const COPILOT_HEAD: usize = 4 * KIB;
/// Length of a message of Copilot: a page of its log may be in one.
pub const COPILOT_MESSAGE: usize = 32 * MIB;
/// Bytes of Copilot's notifications that are read ahead while a call waits for its response. Beyond them, the connection
/// is made again, and what is open is listed again.
pub const COPILOT_AHEAD: usize = 8 * MIB;
/// Number of events in one page of Copilot's log. [`COPILOT_PAGES`] is the most pages that are read.
pub const COPILOT_PAGE: usize = 1000;
/// See [`COPILOT_PAGE`].
pub const COPILOT_PAGES: usize = 50;
/// Number of sessions of one Copilot that are followed.
pub const COPILOT_SESSIONS: usize = 16;
/// Interval at which Copilot is polled for its session while it has none.
pub const COPILOT_LOOK: Duration = Duration::from_secs(2);
/// How long a question that nobody can answer waits, so that a rule or an earlier answer comes first.
pub const UNATTENDED: Duration = Duration::from_secs(2);
/// How long a question that was lost with its bridge is listed: one day. The journal keeps it for longer.
pub const LOST_SHOWN: Duration = Duration::from_secs(24 * 3600);
