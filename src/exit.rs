//! The exit codes of the program, each with its meaning.
//! Which one ends a run is decided where the run ends; `main.rs` only returns it.

use std::process::{ExitCode, ExitStatus};

/// Everything went well, where no agent's code stands in its place.
pub const OK: u8 = 0;
/// The command line was not understood (clap's own code).
pub const USAGE: u8 = 2;
/// The bridge itself failed, as `env` and `timeout` say it.
pub const FAILED: u8 = 125;
/// The agent's command was found and could not be executed.
pub const NOT_EXECUTABLE: u8 = 126;
/// The agent's command was not found.
pub const NOT_FOUND: u8 = 127;

/// The exit codes, for `--help`.
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

/// Our exit code for an agent that ended with this status: its own, or 128 + n for signal n.
pub fn of_agent(status: ExitStatus) -> ExitCode {
    use std::os::unix::process::ExitStatusExt;
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal));
    ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(FAILED))
}
