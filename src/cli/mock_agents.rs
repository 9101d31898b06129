//! The command line of `mock`: the agents that do not ask over ACP, without a model.
//! What they do is left to `mock`.

use std::{env, path::PathBuf};

use clap::{Args, Subcommand};

use crate::mock::codex::server::{self, CodexDaemonSettings};

/// Options of `askbridge mock`.
#[derive(Debug, Args)]
pub struct MockArgs {
    /// What to be.
    #[command(subcommand)]
    pub what: MockWhat,
}

/// An agent without a model.
#[derive(Clone, Debug, Subcommand)]
pub enum MockWhat {
    /// Be the app server of Codex, with a keyboard on stdin
    #[command(after_help = server::HELP)]
    CodexDaemon(CodexDaemonArgs),
}

/// Options of `askbridge mock codex-daemon`.
#[derive(Clone, Debug, Args)]
pub struct CodexDaemonArgs {
    /// Listen on this socket [default: where Codex has it]
    #[arg(long, value_name = "PATH")]
    pub socket: Option<PathBuf>,
}

impl CodexDaemonArgs {
    /// Returns the settings.
    pub fn settings(&self) -> CodexDaemonSettings {
        CodexDaemonSettings { socket: self.socket.clone(), cwd: env::current_dir().unwrap_or_default() }
    }
}
