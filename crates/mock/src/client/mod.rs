//! A deterministic ACP client: it has one turn with an agent, and answers the requests that its kind knows.
//! Whether a person or the command line answers is left to `demo.rs` and `run.rs`.

mod answering;
pub(crate) mod answers;
mod conversation;
mod error;
mod form;
mod manner;
mod permission;
mod process;
mod request;
mod run;
mod screen;

pub(super) use answers::ScriptedAnswers;
pub(super) use conversation::{Conversation, ConversationSettings};
pub(super) use error::ClientError;
pub use manner::Manner;
pub(super) use process::{Process, TypedLines};
pub use run::HELP;
pub use run::run;
pub(super) use screen::Screen;
