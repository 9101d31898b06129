//! What may be typed on the command line, as clap types.
//! Decides nothing: who is handed these arguments decides.

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::exit;

/// Catch the questions that a coding agent asks over ACP, and give it exactly one answer
#[derive(Debug, Parser)]
#[command(name = "askbridge", version, after_help = exit::HELP, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,

    /// Where the log goes, and how much of it.
    #[command(flatten)]
    pub log: LogArgs,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Start an agent and stand between it and the client on our stdin and stdout
    Run(RunArgs),
    /// Stand between an agent and its client as a component under an ACP conductor
    Proxy(ProxyArgs),
    /// Be a deterministic ACP agent, for trying clients and for CI
    MockAgent(MockAgentArgs),
    /// Show a question being asked and answered: the bridge around the mock agent, in this terminal
    Demo(DemoArgs),
}

/// Options of every bridge, wherever it stands.
#[derive(Debug, Args)]
pub struct BridgeArgs {
    /// Reject a question that nobody answered within this time, such as 90s, 10m or 500ms
    /// [default: never]
    #[arg(long, value_name = "DURATION")]
    pub timeout: Option<humantime::Duration>,
}

/// Options of `askbridge run`.
#[derive(Debug, Args)]
#[command(after_help = exit::HELP)]
pub struct RunArgs {
    /// How questions are dealt with.
    #[command(flatten)]
    pub bridge: BridgeArgs,

    /// How long the agent may take to end once the client is gone, before it gets SIGTERM
    #[arg(long, value_name = "DURATION", default_value = "10s")]
    pub grace: humantime::Duration,

    /// The agent's command and its arguments, taken as they are
    #[arg(last = true, required = true, value_name = "AGENT [ARGS]")]
    pub agent: Vec<OsString>,
}

/// Options of `askbridge proxy`.
#[derive(Debug, Args)]
#[command(after_help = exit::PROXY_HELP)]
pub struct ProxyArgs {
    /// How questions are dealt with.
    #[command(flatten)]
    pub bridge: BridgeArgs,
}

/// Options of `askbridge mock-agent`.
#[derive(Debug, Args)]
#[command(after_help = crate::mock::behaviour::HELP)]
pub struct MockAgentArgs {
    /// Play the agent's part of a transcript instead of talking
    #[arg(long, value_name = "FILE")]
    pub script: Option<PathBuf>,

    /// Show on stderr every line that is read and written
    #[arg(long)]
    pub wire: bool,
}

/// Options of `askbridge demo`.
#[derive(Debug, Args)]
#[command(after_help = crate::mock::demo::HELP)]
pub struct DemoArgs {
    /// Give this answer instead of asking: an option's number, its value or its label, or a text
    /// (can be repeated, one for each field in turn; the last one is given to all that follow)
    #[arg(long, value_name = "VALUE")]
    pub answer: Vec<String>,

    /// Show every line as well, with its direction
    #[arg(long)]
    pub wire: bool,

    /// What to tell the mock agent; see `askbridge mock-agent --help` for the words that it knows
    #[arg(long, value_name = "TEXT", default_value = "Please ask me a question.")]
    pub prompt: String,
}

/// Options that say where the log goes.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Logging")]
pub struct LogArgs {
    /// Log this level and what is worse
    #[arg(long, global = true, value_name = "LEVEL", default_value = "warn")]
    pub log: LogLevel,

    /// Append the log to this file instead of writing it to stderr
    #[arg(long, global = true, value_name = "PATH")]
    pub log_file: Option<PathBuf>,

    /// How a log line is written
    #[arg(long, global = true, value_name = "FORMAT", default_value = "text")]
    pub log_format: LogFormat,
}

/// How much is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogLevel {
    /// Nothing.
    Off,
    /// What ended the bridge.
    Error,
    /// What went wrong, but was survived.
    Warn,
    /// Questions as they open and settle, without their text.
    Info,
    /// Each intercepted line, without its text.
    Debug,
    /// The intercepted lines themselves, prompts and answers included.
    Trace,
}

/// How a log line is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}
