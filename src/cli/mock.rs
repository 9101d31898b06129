//! The command line of `mock-agent`, `mock-client` and `demo`, and its conversion into the mock's settings.
//! What the settings mean is left to `mock`.

use std::{
    ffi::OsString,
    io::{self, IsTerminal},
    path::PathBuf,
};

use clap::{Args, ValueEnum, builder::PossibleValue};

use crate::mock::{
    AgentSettings, ClientKind, ClientSettings, DemoSettings, Fallback, MockDialect, PermissionAnswer,
    behaviour, client, demo,
};

/// Options of `askbridge mock-agent`.
#[derive(Debug, Args)]
#[command(after_help = behaviour::HELP)]
pub struct MockAgentArgs {
    /// Ask as this agent does
    #[arg(long, value_name = "NAME", default_value = "sandboxagent")]
    pub dialect: MockDialect,

    /// Play the agent's part of a transcript instead of talking
    #[arg(long, value_name = "FILE")]
    pub script: Option<PathBuf>,

    /// Show on stderr every line that is read and written
    #[arg(long)]
    pub wire: bool,
}

impl MockAgentArgs {
    /// Returns the agent's settings.
    pub fn settings(&self) -> AgentSettings {
        AgentSettings { script: self.script.clone(), wire: self.wire, ..AgentSettings::new(self.dialect) }
    }
}

/// Options of `askbridge mock-client`.
#[derive(Debug, Args)]
#[command(after_help = client::HELP)]
pub struct MockClientArgs {
    /// Be a client of this kind
    #[arg(long, value_name = "NAME")]
    pub tier: ClientKind,

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

    /// Answer every permission at once with `allow` (once), `always`, `reject`, `cancel` (no option), `ignore`
    /// (never reply), or the id of an option, as `id:ID` where it is one of these words
    /// [default: as for a question]
    #[arg(long, value_name = "ANSWER")]
    pub permission: Option<PermissionAnswer>,

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

impl MockClientArgs {
    /// Returns the client's settings.
    pub fn settings(&self) -> ClientSettings {
        let fallback = match (self.reject, self.leave_open) {
            (true, _) => Fallback::Reject,
            (_, true) => Fallback::LeaveOpen,
            _ => Fallback::TakeFirst,
        };
        ClientSettings {
            answers: self.answer.clone(),
            fallback,
            permission: self.permission.clone(),
            timeout: self.timeout.map(|timeout| *timeout),
            wire: self.wire,
            ..ClientSettings::new(self.tier, self.prompt.clone(), self.agent.clone())
        }
    }
}

/// Options of `askbridge demo`.
#[derive(Debug, Args)]
#[command(after_help = demo::HELP)]
pub struct DemoArgs {
    /// How the mock agent asks
    #[arg(long, value_name = "NAME", default_value = "sandboxagent")]
    pub dialect: MockDialect,

    /// What kind of client shows the question
    #[arg(long, value_name = "NAME", default_value = "native")]
    pub tier: ClientKind,

    /// Give this answer instead of asking: an option's number, its value or its label, or a text
    /// (can be repeated, one for each field in turn; the last one is given to all that follow)
    #[arg(long, value_name = "VALUE")]
    pub answer: Vec<String>,

    /// Show every line as well, with its direction
    #[arg(long)]
    pub wire: bool,

    /// Show a permission alone; for others than this one, see the words of a prompt
    #[arg(long, conflicts_with = "prompt")]
    pub permission: bool,

    /// What to tell the mock agent; see `askbridge mock-agent --help` for the words that it knows
    #[arg(long, value_name = "TEXT")]
    pub prompt: Option<String>,

    /// Show the questions on the page as well, in a browser [default: at a terminal, where nothing else is set]
    #[arg(long, overrides_with = "no_page")]
    pub page: bool,

    /// Do not show the page
    #[arg(long)]
    pub no_page: bool,
}

impl DemoArgs {
    /// Returns the demo's settings.
    pub fn settings(&self) -> DemoSettings {
        DemoSettings {
            answers: self.answer.clone(),
            wire: self.wire,
            page: self.page || (!self.no_page && self.is_whole()),
            ..DemoSettings::new(self.dialect, self.tier, self.told())
        }
    }

    fn told(&self) -> Vec<String> {
        let told: &[&str] = match &self.prompt {
            Some(prompt) => &[prompt],
            None if self.permission => &[demo::PERMISSION],
            None if self.is_whole() => &[demo::QUESTION, demo::PERMISSION],
            None => &[demo::QUESTION],
        };
        told.iter().map(|prompt| (*prompt).to_owned()).collect()
    }

    /// Returns whether all is to be shown: a person is at the terminal, and asked for nothing in particular.
    fn is_whole(&self) -> bool {
        let is_default = self.prompt.is_none()
            && !self.permission
            && !self.wire
            && self.answer.is_empty()
            && self.dialect == MockDialect::Sandboxagent
            && self.tier == ClientKind::Native;
        is_default && io::stdin().is_terminal() && io::stdout().is_terminal()
    }
}

impl ValueEnum for MockDialect {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()).help(self.summary()))
    }
}

impl ValueEnum for ClientKind {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()).help(self.summary()))
    }
}
