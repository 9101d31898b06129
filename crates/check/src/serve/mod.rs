//! The agent of a client under test: the actions of a case, the client's messages, and the judgement of its answers.

pub(crate) mod action;
pub mod driver;
mod perform;
mod receive;
pub(crate) mod state;
