//! The agent of a client under test: what a case lets it do, what it hears, and what it makes of the client's answers.

pub(crate) mod action;
pub mod driver;
mod hear;
mod perform;
pub(crate) mod state;
