//! Claude Code in a terminal, without a model: its dialog, its hooks, its transcript. As version 2.1.330 was seen to do it.

pub mod call;
pub mod terminal;

pub use terminal::{ClaudeSettings, HELP, run};
