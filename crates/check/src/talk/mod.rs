//! The client of an agent under test: the actions of a case, the agent's messages, and the client's answers.

pub(crate) mod action;
mod answer;
mod calls;
mod perform;
pub mod prompts;
mod receive;
mod services;
mod sessions;
pub(crate) mod state;
