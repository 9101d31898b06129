//! The bounds and the times of adapters to agents. Sizes are in bytes unless their name says otherwise.

pub mod mcp;
pub mod mcp_http;

use std::time::Duration;

pub(crate) use askbridge_control::limits::*;

const KIB: usize = 1024;
const MIB: usize = 1024 * KIB;

/// Size of the input of a hook, and of one line of a transcript. Either may contain a whole file that the agent wants
/// to write.
pub const HOOK: usize = 4 * MIB;
/// Size of the end of a transcript that is searched for a pending tool call, which is on one of the last lines.
pub const TRANSCRIPT_TAIL: u64 = 8 * MIB as u64;
/// Size of the end of a transcript that is read for what led to a question: a line may have a file that a tool read.
pub const TRANSCRIPT_LED: u64 = 256 * KIB as u64;
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
