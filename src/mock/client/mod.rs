//! A deterministic ACP client: it has one turn with an agent, and answers the requests that its kind knows.
//! Whether a person or the command line answers is left to `demo.rs` and `run.rs`.

mod process;

mod error;

mod form;

mod elicitation;
mod permission;
mod request;
mod subject;

mod answers;
mod draft;
mod screen;

mod conversation;

mod answering;
mod incoming;

mod run;

pub(super) use answers::ScriptedAnswers;
pub(super) use conversation::{Conversation, ConversationSettings};
pub(super) use error::ClientError;
pub(super) use process::Process;
pub(crate) use run::HELP;
pub use run::run;
pub(super) use screen::Screen;
