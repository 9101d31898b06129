//! The names of the methods of the control protocol, with their parameters and results. What they do is left to `methods.rs`.

/// Lists the open questions: `{session?}` → [`super::protocol::Listing`].
pub const LIST: &str = "question_list";
/// Lists the open questions in outline: → [`super::protocol::OutlineListing`].
pub const OUTLINE: &str = "question_outline";
/// Lists the questions that were settled last, latest first: `{limit?}` → [`super::protocol::Listing`].
pub const SETTLED: &str = "question_settled";
/// Lists the questions that were lost with their bridges, latest first: → [`super::protocol::LostListing`].
pub const LOST: &str = "question_lost";
/// Lists questions that are over, latest first: [`HistoryParams`](crate::rpc::history::HistoryParams) → [`HistoryListing`](crate::rpc::history::HistoryListing).
pub const HISTORY: &str = "question_history";
/// Returns one question: `{id}` → [`askbridge_core::desk::Record`].
pub const GET: &str = "question_get";
/// Returns what led to a question: `{id}` → [`askbridge_core::question::Context`]. It is empty if that is not known.
pub const CONTEXT: &str = "question_context";
/// Returns a piece of an image of a question, which are numbered from 1: `{id, image, from?}` →
/// [`super::lookup::ImagePiece`].
pub const IMAGE: &str = "question_image";
/// Answers a question: `{id, answer, seen?, by?}` → [`askbridge_core::desk::Record`]. `seen` is the edition that its
/// responder saw.
pub const ANSWER: &str = "question_answer";
/// Rejects a question: `{id, reason?, by?}` → [`askbridge_core::desk::Record`].
pub const REJECT: &str = "question_reject";
/// Answers or rejects a question after a while, in which the connection that sent it can take it back, and at once if the
/// connection ends: `{id, answer?, seen?, reason?, comments?, by?, together?}` → [`super::deferred::Deferral`].
pub const DEFER: &str = "question_defer";
/// Waits for what became of that: `{id}` → [`askbridge_core::desk::Record`], or null if it was taken back.
pub const DEFERRED: &str = "question_deferred";
/// Takes it back: `{id}` → whether it was still waiting.
pub const UNDO: &str = "question_undo";
/// Gives a question more time: `{id, milliseconds}` → [`askbridge_core::desk::Record`].
pub const EXTEND: &str = "question_extend";
/// Sets a question aside for a while, or brings it back: `{id, milliseconds}` → [`askbridge_core::desk::Record`].
pub const LATER: &str = "question_later";
/// Asks a question: `{question}` → [`askbridge_core::desk::Settlement`].
pub const ASK: &str = "question_ask";
/// Asks a question that no connection holds, or finds the one that was asked under the same key: `{question, key?}` →
/// [`askbridge_core::desk::Record`].
pub const KEEP: &str = "question_keep";
/// Waits for the outcome of such a question: `{id, milliseconds?}` → [`askbridge_core::desk::Record`], which is open if
/// the time is over, or if the inbox ends.
pub const OUTCOME: &str = "question_outcome";
/// Withdraws such a question: `{id}` → null.
pub const WITHDRAW: &str = "question_withdraw";
/// Subscribes to the changes: each notification [`CHANGED`] has a [`super::protocol::Delta`].
pub const SUBSCRIBE: &str = "question_subscribe";
/// The notification of a subscription.
pub const CHANGED: &str = "question_changed";
/// Ends a subscription.
pub const UNSUBSCRIBE: &str = "question_unsubscribe";
/// Reports that a person is looking at the questions: → null. The report expires after 30 seconds.
pub const WATCH: &str = "question_watch";
/// Reports how a machine is connected: `{known?}` → [`crate::inbox::report::MachineReport`]. With a known revision,
/// the reply comes once there is another one.
pub const REPORT: &str = "machine_report";
/// Lists the other machines: `{known?}` → [`crate::inbox::report::MachineListing`]. With a known revision, the reply
/// comes once there is another one.
pub const MACHINES: &str = "machine_list";
/// Reads texts as Markdown: `{texts}` → [`super::markdown::Reading`].
pub const MARKDOWN: &str = "markdown_read";
/// Makes the connection that of one of the machines that a process holds, under the names that are used there. The first
/// call of a connection alone can be this: `{name}` → null.
pub const SELECT: &str = "machine_select";
/// Describes the bridges, and greets: → a list of [`crate::inbox::BridgeStatus`].
pub const STATUS: &str = "bridge_status";

/// The methods that change something, or pretend that a person looks.
pub(super) const CHANGING: [&str; 9] = [ANSWER, REJECT, DEFER, EXTEND, LATER, ASK, KEEP, WITHDRAW, WATCH];
