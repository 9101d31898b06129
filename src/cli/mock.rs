//! What may be typed for the mocks and the demo.
//! Decides nothing: who is handed these arguments decides.

use std::{ffi::OsString, path::PathBuf};

use clap::{Args, ValueEnum};

/// Options of `askbridge mock-agent`.
#[derive(Debug, Args)]
#[command(after_help = crate::mock::behaviour::HELP)]
pub struct MockAgentArgs {
    /// Ask as this agent does
    #[arg(long, value_name = "NAME", default_value = "sandboxagent")]
    pub dialect: Dialect,

    /// Play the agent's part of a transcript instead of talking
    #[arg(long, value_name = "FILE")]
    pub script: Option<PathBuf>,

    /// Show on stderr every line that is read and written
    #[arg(long)]
    pub wire: bool,
}

/// Options of `askbridge mock-client`.
#[derive(Debug, Args)]
#[command(after_help = crate::mock::client::HELP)]
pub struct MockClientArgs {
    /// Be a client of this kind
    #[arg(long, value_name = "NAME")]
    pub tier: Tier,

    /// Give this answer: an option's number, its value, its name or its label, or a text
    /// [default: the first option, the text `text`, the number 1, or yes]
    /// (can be repeated, one for each field in turn; the last one is given to all that follow)
    #[arg(long, value_name = "VALUE")]
    pub answer: Vec<String>,

    /// Reject everything that is asked
    #[arg(long, conflicts_with = "answer")]
    pub reject: bool,

    /// Leave open what is asked, until it is taken back
    #[arg(long, conflicts_with_all = ["answer", "reject"])]
    pub leave_open: bool,

    /// What to tell the agent
    #[arg(long, value_name = "TEXT", default_value = "Please ask me a question.")]
    pub prompt: String,

    /// How long the turn may take, from the start, such as 90s, 10m or 500ms [default: for ever]
    #[arg(long, value_name = "DURATION")]
    pub timeout: Option<humantime::Duration>,

    /// Show every line as well, with its direction
    #[arg(long)]
    pub wire: bool,

    /// The agent's command and its arguments, taken as they are
    #[arg(last = true, required = true, value_name = "AGENT [ARGS]")]
    pub agent: Vec<OsString>,
}

/// Options of `askbridge demo`.
#[derive(Debug, Args)]
#[command(after_help = crate::mock::demo::HELP)]
pub struct DemoArgs {
    /// How the mock agent asks
    #[arg(long, value_name = "NAME", default_value = "sandboxagent")]
    pub dialect: Dialect,

    /// What kind of client shows the question
    #[arg(long, value_name = "NAME", default_value = "native")]
    pub tier: Tier,

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

/// How a mock agent asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Dialect {
    /// `_sandboxagent/session/request_question`
    Sandboxagent,
    /// Claude: a form, with a second property for each field's own text
    Claude,
    /// Codex: a form that names the question in its titles, with notes
    Codex,
    /// Codex, working on meanwhile: the question is withdrawn at the end of the turn
    CodexAsync,
    /// Kimi: a form without texts, or the next one where the client promised no forms
    Kimi,
    /// Kimi without forms: one permission request for the first field
    KimiPermission,
    /// oh-my-pi: a form with recommended options
    OhMyPi,
    /// Devin: a form that allows other texts than its options
    Devin,
    /// A plain form of the standard; `fields` has every type of property
    Form,
    /// The same under its first name, `session/elicitation`
    Historic,
    /// Qwen: a permission request, answered beside its outcome
    Qwen,
    /// pi-acp: a permission request whose options are the choices
    Pi,
    /// `cursor/ask_question`, which names no session
    Cursor,
    /// Grok: `_x.ai/ask_user_question`
    Grok,
    /// Kiro: `_kiro/userInput`
    Kiro,
}

/// What a mock client can show, and what it does with what it does not know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Tier {
    /// Knows `_sandboxagent/session/request_question`, and permission requests
    Native,
    /// Knows forms, `elicitation/create`, and permission requests
    Forms,
    /// Knows permission requests only, and answers all others with an error
    Permission,
    /// Knows permission requests only, and never replies to others
    Silent,
    /// Approves of every permission request at once, and asks nobody
    Approve,
}
