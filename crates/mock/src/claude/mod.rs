//! Claude Code in a terminal, without a model: its dialog, its hooks and its transcript, as they were observed in
//! version 2.1.330.

pub mod call;
pub mod terminal;

pub use terminal::{ClaudeSettings, HELP, run};
