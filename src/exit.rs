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

/// The exit codes of the bridge, for `--help`.
pub const HELP: &str = "\
Exit codes of `askbridge run`:
  the agent's own   the agent ended by itself, or because it was asked to
  128 + N           signal N ended the agent
  2                 the command line was not understood
  125               the bridge itself failed
  126               the agent's command could not be executed
  127               the agent's command was not found";

/// How a component is started, and its exit codes, for `proxy --help`.
pub const PROXY_HELP: &str = "\
The conductor starts it:
  agent-client-protocol-conductor agent \"askbridge proxy\" \"AGENT ARGS\"

Exit codes of `askbridge proxy`:
  0     the conductor left, or a signal told us to end
  2     the command line was not understood, or there is no conductor: `initialize` came
  125   the bridge itself failed";

/// The exit codes of what answers, for `--help`.
pub const ANSWER_HELP: &str = "\
An ID may be shortened: k3f9q2-1 to k3-1, and for `show` to k3 while only one question of that \
bridge is open. To answer, reject or extend it takes the number: the next question is another one.

Exit codes:
  0    done; or it was done before, in the same way
  2    the command line was not understood
  3    there is no such question, or it is not said which one is meant
  4    the question is settled already, in another way
  5    it does not fit the question
  6    the bridge cannot be asked, or it is not known whether the agent was told
  125  the command itself failed";

/// The exit codes of what asks, for `--help`.
pub const ASK_HELP: &str = "\
Prints the answer, one value a line. The question is found like an agent's, and withdrawn when this \
command is interrupted.

Exit codes:
  0        the question was answered
  1        it was rejected
  2        the command line was not understood
  124      nobody answered in time
  125      it could not be asked
  128 + N  signal N interrupted the command";

/// Our exit code for an agent that ended with this status: its own, or 128 + n for signal n.
pub fn of_agent(status: ExitStatus) -> ExitCode {
    use std::os::unix::process::ExitStatusExt;
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(FAILED))
}
