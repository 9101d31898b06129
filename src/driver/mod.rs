//! The shell around the engine.

use std::process::ExitCode;

use crate::{cli::RunArgs, exit};

/// Runs the bridge.
pub fn run(_args: &RunArgs) -> ExitCode {
    ExitCode::from(exit::FAILED)
}
