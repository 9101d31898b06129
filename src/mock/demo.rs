//! The main job in one command: the real bridge around the mock agent, driven from this terminal.

use std::process::ExitCode;

use crate::{cli::DemoArgs, exit};

/// Runs the demonstration until the agent's turn has ended.
pub fn run(_args: &DemoArgs) -> ExitCode {
    ExitCode::from(exit::FAILED)
}
