//! The exit codes of the program, each with its meaning.
//! Which one ends a run is decided where the run ends; `main.rs` only returns it.

use std::process::{ExitCode, ExitStatus};

/// Success, where no agent's code takes its place.
pub const OK: u8 = 0;
/// The question was rejected; with `ask --confirm`, it was answered with no.
pub const REJECTED: u8 = 1;
/// With `config get`, the setting has no value; with `config edit`, the file has mistakes.
pub const NOT_SET: u8 = 1;
/// `doctor` found something that does not work, or the journal was changed.
pub const PROBLEM: u8 = 1;
/// Nothing was written: the person declined what `setup` would change, or could not be asked.
pub const NOT_DONE: u8 = 1;
/// The command line was not understood (clap's own code).
pub const USAGE: u8 = 2;
/// No such question, or the ID is ambiguous.
pub const NO_QUESTION: u8 = 3;
/// The question is settled already, in another way.
pub const SETTLED: u8 = 4;
/// The answer does not fit the question.
pub const DOES_NOT_FIT: u8 = 5;
/// A bridge cannot be asked, or disappeared before it was known whether the agent got the answer. With `list`, `status` and
/// `next`: the output is incomplete.
pub const BRIDGE_GONE: u8 = 6;
/// With `ask --confirm`, the question was rejected, since 1 means that it was answered with no.
pub const UNCONFIRMED: u8 = 7;
/// The agent that asked cannot answer itself.
pub const OWN_AGENT: u8 = 8;
/// No person could answer a question, and `--unattended fail` ended the agent.
pub const UNATTENDED: u8 = 9;
/// No answer in time; `timeout` uses the same code.
pub const TIMED_OUT: u8 = 124;
/// The person left the question open, by Ctrl-C for example; shells use the same code for Ctrl-C.
pub const LEFT_OPEN: u8 = 130;
/// The bridge or the command itself failed; `env` and `timeout` use the same code.
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
