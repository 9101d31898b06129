//! The exit codes of the program, each with its meaning.
//! Which one ends a run is decided where the run ends; `main.rs` only returns it.

use std::process::{ExitCode, ExitStatus};

/// Everything went well, where no agent's code stands in its place.
pub const OK: u8 = 0;
/// What was asked was rejected.
pub const REJECTED: u8 = 1;
/// The command line was not understood (clap's own code).
pub const USAGE: u8 = 2;
/// There is no such question, or it is not said which one is meant.
pub const NO_QUESTION: u8 = 3;
/// The question is settled already, in another way.
pub const SETTLED: u8 = 4;
/// What was given does not fit the question.
pub const DOES_NOT_FIT: u8 = 5;
/// The bridge cannot be asked, or is gone and nobody knows whether the agent was told.
pub const BRIDGE_GONE: u8 = 6;
/// Nobody answered in time, as `timeout` says it.
pub const TIMED_OUT: u8 = 124;
/// The bridge or the command itself failed, as `env` and `timeout` say it.
pub const FAILED: u8 = 125;
/// The agent's command was found and could not be executed.
pub const NOT_EXECUTABLE: u8 = 126;
/// The agent's command was not found.
pub const NOT_FOUND: u8 = 127;

/// Our exit code for an agent that ended with this status: its own, or 128 + n for signal n.
pub fn of_agent(status: ExitStatus) -> ExitCode {
    use std::os::unix::process::ExitStatusExt;
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(FAILED))
}
