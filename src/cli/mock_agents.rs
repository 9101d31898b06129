//! The command line of `mock`: the agents that do not ask over ACP, without a model.
//! What they do is left to `mock`.

use std::{env, path::PathBuf};

use clap::{Args, Subcommand};

use crate::mock::{
    claude::{self, ClaudeSettings},
    codex::server::{self, CodexDaemonSettings},
    copilot::server::{self as copilot, CopilotSettings},
    opencode::server::{self as opencode, OpencodeSettings},
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
    /// Be opencode with its HTTP server, with a keyboard on stdin
    #[command(after_help = opencode::HELP)]
    Opencode(PortArgs),
    /// Be Copilot CLI with its server, with a keyboard on stdin
    #[command(after_help = copilot::HELP)]
    Copilot(PortArgs),
}

/// Options of `askbridge mock opencode` and `askbridge mock copilot`.
#[derive(Clone, Debug, Args)]
pub struct PortArgs {
    /// Listen on this port of this machine; 0 takes one that is free
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub port: u16,

    /// What Copilot itself has to be told to have a server; it changes nothing here
    #[arg(long, hide = true)]
    pub ui_server: bool,
}

impl PortArgs {
    /// Returns the settings of the mock opencode.
    pub fn opencode(&self) -> OpencodeSettings {
        let password = env::var("OPENCODE_SERVER_PASSWORD").ok().filter(|password| !password.is_empty());
        OpencodeSettings { port: self.port, cwd: env::current_dir().unwrap_or_default(), password }
    }

    /// Returns the settings of the mock Copilot.
    pub fn copilot(&self) -> CopilotSettings {
        let token = env::var("COPILOT_CONNECTION_TOKEN").ok().filter(|token| !token.is_empty());
        CopilotSettings { port: self.port, cwd: env::current_dir().unwrap_or_default(), token }
    }
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
