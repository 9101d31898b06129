//! The client of an agent under test: what a case lets it do, what it hears, and how it answers.

pub(crate) mod action;
mod answer;
mod hear;
mod perform;
pub mod prompts;
pub(crate) mod state;
