//! The command line of `mock`: the agents that do not ask over ACP, without a model.
//! What they do is left to `mock`.

use std::{env, path::PathBuf};

use clap::{Args, Subcommand};

use crate::mock::{
    claude::{self, ClaudeSettings},
    codex::server::{self, CodexDaemonSettings},
};

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
    /// Be Claude Code in a terminal with its hooks, with a keyboard on stdin
    #[command(after_help = claude::HELP)]
    ClaudeHook(ClaudeHookArgs),
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

/// Options of `askbridge mock claude-hook`.
#[derive(Clone, Debug, Args)]
pub struct ClaudeHookArgs {
    /// The `hooks.json` of a plugin
    pub hooks: PathBuf,

    /// Write the transcript of the session to this file
    #[arg(long, value_name = "PATH")]
    pub transcript: PathBuf,

    /// The ID of the session
    #[arg(long, value_name = "ID", default_value = "mock-session")]
    pub session: String,
}

impl ClaudeHookArgs {
    /// Returns the settings.
    pub fn settings(&self) -> ClaudeSettings {
        let ClaudeHookArgs { hooks, transcript, session } = self.clone();
        ClaudeSettings { hooks, transcript, session }
    }
}
