//! A deterministic ACP client: it has one turn with an agent, and answers what a client of its tier can answer.
//! Whether a person answers, or the command line, is left to `demo.rs` and `run.rs`.

mod process;

mod error;

mod form;

mod asked;
mod elicitation;
mod permission;

mod given;
mod screen;

mod conversation;
mod hearing;
mod person;

mod run;

pub(super) use conversation::{Conversation, Settings};
pub(super) use error::ClientError;
pub(super) use given::{Given, Otherwise};
pub(super) use process::Process;
pub(crate) use run::HELP;
pub use run::run;
pub(super) use screen::Screen;
