//! The client of an agent under test: the actions of a case, the agent's messages, and the client's answers.

pub(crate) mod action;
mod answer;
mod hear;
mod perform;
pub mod prompts;
pub(crate) mod state;
