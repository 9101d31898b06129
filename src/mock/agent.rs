//! A deterministic ACP agent.
//! What it does is chosen by words in the prompt.

use std::process::ExitCode;

use crate::{cli::MockAgentArgs, exit};

/// The words that choose a behaviour, for `--help`.
pub const HELP: &str = "";

/// Runs the agent on our stdin and stdout until stdin ends.
pub fn run(_args: &MockAgentArgs) -> ExitCode {
    ExitCode::from(exit::FAILED)
}
