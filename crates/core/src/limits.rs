//! Every constant that bounds what peers and responders can make a bridge hold (I6), and every time that is not a
//! setting. Sizes are in bytes unless their name says otherwise.

use std::time::Duration;

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

// The data path.

/// Room for one read: as much as a pipe holds by default. More does not stay in the cache of a core between the read
/// and the write.
pub const READ: usize = 64 * KIB;
/// Length of an unfinished line from which on it is judged by its beginning: an ordinary line is forwarded at once. A
/// shorter one was most often cut by the reader, and the rest of it is on the way.
pub const STREAM: usize = 4 * KIB;
/// Length up to which an intercepted line is held as a whole. A longer line streams through.
pub const HOLD: usize = MIB;
/// The same of a request that may be a question: an image of [`IMAGE`] bytes fits into it.
pub const HOLD_QUESTION: usize = 4 * MIB;
/// Bytes of the bridge's own lines that may wait for a peer. With more, the peer that causes them is not read any more.
/// This is more than [`HELD_BYTES`], so that prompts that are released together never stop the agent from being read.
pub const OWN_LINES: usize = HELD_BYTES + HOLD;
/// Number of running turns that are followed.
pub const TURNS: usize = 1024;
/// Number of prompts that wait for the end of a turn. One more is forwarded.
pub const HELD_PROMPTS: usize = 16;
/// Size of all prompts that wait. One that does not fit is forwarded.
pub const HELD_BYTES: usize = 4 * MIB;
/// Length of a session's ID. A turn in a session with a longer one is not followed.
pub const SESSION: usize = 4 * TEXT;
/// Number of sessions whose folder is remembered.
pub const SESSIONS: usize = 256;
/// Number of requests for a new session whose response is awaited.
pub const REQUESTED_SESSIONS: usize = 16;
/// Length of a session's folder. A longer one is not remembered.
pub const FOLDER: usize = 4 * KIB;
/// Number of tool calls that are remembered: their sessions, and what they are for.
pub const TOOL_CALLS: usize = 256;
/// Length of an update of a tool call that is remembered.
pub const TOOL_CALL_UPDATE: usize = 16 * KIB;
/// Size of all tool calls that are remembered: their IDs, their sessions and their updates.
pub const TOOL_CALLS_BYTES: usize = 256 * KIB;
/// Number of settled request IDs that are remembered, so that a late response is recognised.
pub const SETTLED: usize = 1024;
/// Length of a request ID's JSON text. A question with a longer one is refused; a turn or a tool call is not followed.
pub const ID: usize = KIB;

// Questions.

/// Number of fields of a question.
pub const FIELDS: usize = 32;
/// Number of options of a field.
pub const OPTIONS: usize = 64;
/// Characters of one text in a question.
pub const TEXT: usize = 4000;
/// Length of a responder's name. A longer one is left out.
pub const NAME: usize = 200;
/// Size of a field's compiled pattern. A bigger one is left to the agent.
pub const PATTERN: usize = 8 * KIB;
/// Size of a compiled pattern in the schema of a field that takes JSON. A schema with a bigger one is left to the agent.
pub const SCHEMA_PATTERN: usize = 64 * KIB;
/// Steps of checking JSON against the schema of its field. JSON that would take more is left to the agent.
pub const SCHEMA_STEPS: usize = 20_000;
/// How deep groups may stand in each other in a form.
pub const GROUPS: usize = 8;
/// Bytes of a name, a path or a title in the subject of a permission. A longer one is cut.
pub const SUBJECT_LINE: usize = KIB;
/// Bytes of a text in the subject of a permission: a command, a plan, a side of a diff. A longer one is cut.
pub const SUBJECT_TEXT: usize = 16 * KIB;
/// Bytes of all texts in the subject of a permission, beside paths. Further ones are cut to the mark that says so.
pub const SUBJECT: usize = 64 * KIB;
/// Bytes of a file that is compared with the text that a change of it shows. The risk of a longer one is higher.
pub const COMPARED: usize = 2 * MIB;
/// Number of files that the subject of a permission names.
pub const LOCATIONS: usize = 32;
/// Number of changed files in the subject of a permission.
pub const DIFFS: usize = 32;
/// Number of lines that say what a permission, or one of its options, allows beyond its act.
pub const GRANTS: usize = 16;
/// Size of a question's parameters, beside the data of images.
pub const QUESTION: usize = 256 * KIB;
/// Number of open questions of one session.
pub const OPEN_PER_SESSION: usize = 64;
/// Number of open questions of one asker. Those on their way to it count.
pub const OPEN: usize = 1024;
/// Size of all open questions of one asker, in memory or as JSON, whichever is more. Those on their way to it count.
pub const OPEN_BYTES: usize = 4 * MIB;
/// Bytes of JSON of the longest record beside its question: the names, two times, the states, and the punctuation.
pub const RECORD: usize = 380;
/// Number of settled questions that are remembered, for responders that come late.
pub const REMEMBERED: usize = 128;
/// Size of all remembered questions. The last one is remembered even if it is larger.
pub const REMEMBERED_BYTES: usize = MIB;
/// Number of events that are remembered, for followers that were away: more would keep records that nothing else needs.
pub const EVENTS: usize = REMEMBERED;
/// Size of all remembered events. The last one is remembered even if it is larger. This is more than
/// [`REMEMBERED_BYTES`], so that followers get all that is remembered.
pub const EVENTS_BYTES: usize = 4 * MIB;

// Images.

/// Bytes of an image. A screenshot of a large display has less.
pub const IMAGE: usize = 3 * MIB;
/// Number of images of a question.
pub const IMAGES: usize = 8;
/// Bytes of all images of a question.
pub const IMAGES_OF_QUESTION: usize = 6 * MIB;
/// Pixels of an image: a browser needs four bytes of memory for each, whatever the size of the file.
pub const IMAGE_PIXELS: u64 = 40_000_000;
/// Pixels of a side of an image. Browsers and graphics cards draw no longer ones.
pub const IMAGE_SIDE: u32 = 16_384;
/// Bytes of what an asker says of an image. More is cut.
pub const IMAGE_DESCRIPTION: usize = 300;
/// Number of images of an answer.
pub const ANSWER_IMAGES: usize = 4;
/// Bytes of all images of an answer. As Base64 they fit into a request of 1 MiB, beside its texts.
pub const ANSWER_IMAGES_BYTES: usize = 640 * KIB;
/// Bytes of the images of all open questions of one asker. One that does not fit is left out.
pub const IMAGES_BYTES: usize = 16 * MIB;

// What led to a question.

/// Bytes of an agent's last words that are kept of a session. With [`CONTEXT_CALLS`], a session keeps less than 16 KiB.
pub const CONTEXT_WORDS: usize = 10 * KIB;
/// How many of these bytes stay where there are too many, so that not each further word moves all of them.
pub const CONTEXT_WORDS_LEFT: usize = 8 * KIB;
/// Number of a session's last tool calls that are kept. More are not read beside a question.
pub const CONTEXT_CALLS: usize = 10;
/// Bytes of the title of such a call. A longer one is cut.
pub const CONTEXT_TITLE: usize = 160;
/// Bytes of the ID of such a call. A call with a longer one is left out.
pub const CONTEXT_CALL_ID: usize = 128;
/// Bytes of the kind and of the status of such a call. A longer one is left out.
pub const CONTEXT_NAME: usize = 32;
/// Number of the last messages of an agent of which it is known that they are its own, where their parts do not say it.
pub const CONTEXT_MESSAGES: usize = 256;
/// Size of what is kept of all sessions. Those in which the agent said nothing for longest are forgotten first.
pub const CONTEXT_SESSIONS_BYTES: usize = MIB;
/// Size of what the questions of one asker keep, open and remembered: with [`CONTEXT_SESSIONS_BYTES`], 4 MiB. Of what led
/// to one more question, the last part that fits is kept: what a person may be reading is never taken away.
pub const CONTEXTS_BYTES: usize = 3 * MIB;
/// Bytes of an agent's output that wait to be read for its words. They are copied as they pass, and read only when a question
/// opens or this is full: what an agent says is seldom asked for. In a flood, as many again wait.
pub const HEARD: usize = 16 * KIB;
/// How many of the last bytes are kept of a longer read in a flood, which is not read. To copy them takes less than a
/// hundredth of the time in which a flood passes; to copy twice as many took a fortieth.
pub const HEARD_TAIL: usize = 8 * KIB;
/// How many bytes an update of a tool call counts for that is longer than this, and is not copied.
pub const HEARD_CALL: usize = KIB;
/// Length of a line that is read for the agent's words. A longer one is skipped.
pub const HEARD_LINE: usize = 64 * KIB;
/// Bytes in a second that are read for the agent's words: more than models write, and so few that the time for it does
/// not count. What comes faster is a flood.
pub const HEARD_RATE: usize = 2 * MIB;
/// Bytes that are read at once after a rest.
pub const HEARD_BURST: usize = 512 * KIB;

// The inbox.

/// Characters of a question in a hint in the chat.
pub const HINT_TEXT: usize = 200;
/// Length of an agent's name. A longer one is left out.
pub const AGENT: usize = 200;

/// Number of callbacks that are sent at a time. Each takes a thread.
pub const CALLBACKS: usize = 16;
/// Number of them to one host, so that one that does not reply leaves places to others.
pub const CALLBACKS_OF_HOST: usize = 4;
/// Length of the address of a callback.
pub const CALLBACK_URL: usize = 2000;

// Times of the inbox.

/// Pause before a callback that did not arrive is sent again. Each further pause is twice as long.
pub const CALLBACK_BACK_OFF: Duration = Duration::from_secs(1);
/// The longest of these pauses.
pub const CALLBACK_BACK_OFF_MOST: Duration = Duration::from_secs(3600);
/// How long after the end of its question a callback is sent again.
pub const CALLBACK_LIFE: Duration = Duration::from_secs(24 * 3600);

/// A question that is set aside is back this long before its deadline, or after half of the time that was left then.
pub const ASIDE_MARGIN: Duration = Duration::from_secs(600);
/// The longest time for which a question is set aside: a year. What is not decided by then is looked at again.
pub const ASIDE: Duration = Duration::from_secs(366 * 24 * 3600);

/// The longest wait: 100 years, since adding a much longer time to a clock would overflow.
pub const WAIT: Duration = Duration::from_secs(100 * 365 * 24 * 3600);

// MCP.

/// Bytes of the address of a page that a server wants to be opened.
pub const LINK: usize = 2 * KIB;
/// Number of the host's calls that are known by their ID. The oldest is forgotten first: its questions are no longer
/// withdrawn with it, and it is not repeated with an answer.
pub const CALLS: usize = 256;
/// Bytes of the requests of these calls. A larger call is known, and cannot be repeated.
pub const CALLS_BYTES: usize = 4 * MIB;
/// How much of a response is searched for a request for input, which is small: what a tool returns may be large.
pub const INPUT_REQUIRED: usize = 64 * KIB;
/// How often a host is told that its call waits for a person. Of the hosts that count from the last progress, the shortest
/// limit is 60 seconds; openai-agents 0.24.0 ends a call after 5 seconds whatever it is told.
pub const PROGRESS: Duration = Duration::from_secs(5);

// Times of the agent and the client.

/// How long the agent may take to end once the client is gone, unless a setting says otherwise.
pub const GRACE: Duration = Duration::from_secs(10);
/// How long the client may take to answer a question that the agent has withdrawn.
pub const WITHDRAW: Duration = Duration::from_secs(2);
/// Time that a client has to answer a permission itself after it cancelled the turn.
pub const CANCEL: Duration = Duration::from_secs(2);
/// The shortest time in which a person reads a prompt and reacts to it. What comes faster comes from a program, or was
/// meant for what stood there before: a client that refuses faster does so by itself.
///
/// Measured with two processors: the time from the request to the refusal, at a load of about five, and with eight more
/// programs that kept them busy.
///
/// | client | at most | busy, median | busy, at most |
/// | --- | --- | --- | --- |
/// | acpx 0.19.1, without a terminal | 5 ms | 12 ms | 108 ms |
/// | acp-factory 0.1.14, `auto-deny` | 3 ms | 3 ms | 127 ms |
/// | athanore 1.5.0, `auto_deny` | 1 ms | 0.4 ms | 57 ms |
/// | langgraph-acp 1.11.0, without a handler | 0.4 ms | 0.3 ms | 56 ms |
/// | soulacp 0.2.0, `auto_approve_permissions=False` | 0.3 ms | 0.4 ms | 15 ms |
/// | acp-client 0.1.0, without a handler | 0.3 ms | 0.1 ms | 9 ms |
pub const REACTION: Duration = Duration::from_millis(700);
/// How long the client may be silent about a question before that is reported.
pub const SILENCE: Duration = Duration::from_secs(10);
/// How long a hint in the chat waits for an agent that works and says nothing.
pub const HINT: Duration = Duration::from_secs(2);
/// How long the agent may take to end after a signal to the bridge has closed its stdin.
pub const DRAIN: Duration = Duration::from_secs(3);
/// How long the agent's group may take to end after SIGTERM.
pub const TERMINATE: Duration = Duration::from_secs(2);
/// How long the agent's output may take to end after SIGKILL: a process outside of its group may hold it open.
pub const KILL: Duration = Duration::from_secs(1);
/// How long the client may take to read the last lines once a signal has told the bridge to end.
pub const FLUSH: Duration = Duration::from_secs(1);

// Agents that are attached to.

/// Number of file changes of Codex that are remembered for their approvals, which come next.
pub const CODEX_CHANGES: usize = 16;
/// Size of such a change. The approval of a larger change does not show it.
pub const CODEX_CHANGE: usize = 256 * KIB;
