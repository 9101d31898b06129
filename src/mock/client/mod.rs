//! A client without a person's patience: it is asked, and answers as its tier can.
//! Who answers is a person in `demo.rs`, and what was typed on the command line in `run.rs`.

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
