//! `askbridge mock-agent`, `mock-client`, `mock` and `demo`: their arguments.
//! The meaning of the settings is left to the crate of the mocks.

use std::{
    env,
    ffi::OsString,
    io::{self, IsTerminal},
    path::PathBuf,
    process::ExitCode,
};

use askbridge_mock::{
    AgentFault, AgentSettings, ClientKind, ClientSettings, DemoSettings, Fallback, Manner, MockDialect,
    PermissionAnswer, REACTION, behaviour,
    claude::{self, ClaudeSettings},
    client,
    codex::server::{self, CodexDaemonSettings},
    copilot::{server as copilot, server::CopilotSettings},
    demo,
    opencode::{server as opencode, server::OpencodeSettings},
    relay::{self, RelayFault, RelaySettings},
};
use askbridge_os::exit;
use clap::{
    Args, Subcommand,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};

use super::runner::say;

/// Options of `askbridge mock-agent`.
#[derive(Debug, Args)]
#[command(after_help = behaviour::HELP)]
pub struct MockAgentArgs {
    /// Ask in the dialect of this agent
    #[arg(long, value_name = "NAME", default_value = "sandboxagent", value_parser = dialect())]
    pub dialect: MockDialect,

    /// Play the agent's part of a transcript instead of talking
    #[arg(long, value_name = "FILE")]
    pub script: Option<PathBuf>,

    /// Show on stderr every line that is read and written
    #[arg(long)]
    pub wire: bool,

    /// Break this rule of `askbridge check agent`
    #[arg(long, value_name = "NAME", value_parser = agent_fault(), conflicts_with = "script")]
    pub fault: Option<AgentFault>,
}

impl MockAgentArgs {
    /// Returns the agent's settings.
    pub fn settings(&self) -> AgentSettings {
        let (script, wire, fault) = (self.script.clone(), self.wire, self.fault);
        AgentSettings { script, wire, fault, ..AgentSettings::new(self.dialect) }
    }
}

/// Options of `askbridge mock-client`.
#[derive(Debug, Args)]
#[command(after_help = client::HELP)]
pub struct MockClientArgs {
    /// Behave as a client of this kind
    #[arg(long, value_name = "NAME", value_parser = client_kind())]
    pub tier: ClientKind,

    /// Give this answer: an option's number, its value, its name or its label, or a text
    /// [default: the first option, the text `text`, the number 1, or yes]
    /// (can be repeated, one for each field in turn; the last one is used for all that follow)
    #[arg(long, value_name = "VALUE")]
    pub answer: Vec<String>,

    /// Reject everything that is asked
    #[arg(long, conflicts_with = "answer")]
    pub reject: bool,

    /// Leave questions open until the agent withdraws them
    #[arg(long, conflicts_with_all = ["answer", "reject"])]
    pub leave_open: bool,

    /// Answer every permission at once with `allow` (once), `always`, `reject`, `cancel` (no option), `ignore`
    /// (never reply), or the id of an option, as `id:ID` where it is one of these words
    /// [default: as for a question]
    #[arg(long, value_name = "ANSWER")]
    pub permission: Option<PermissionAnswer>,

    /// Reply as this kind of client does, without a person
    #[arg(long, value_name = "NAME", value_parser = manner(), conflicts_with = "permission")]
    pub manner: Option<Manner>,

    /// How long the person takes to refuse something, from when it came; a faster client is taken for one that refuses
    /// by itself [default: 1s]
    #[arg(long, value_name = "DURATION")]
    pub reaction: Option<humantime::Duration>,

    /// The prompt for the agent
    #[arg(long, value_name = "TEXT", default_value = "Please ask me a question.")]
    pub prompt: String,

    /// How long the turn may take, from the start, such as 90s, 10m or 500ms [default: for ever]
    #[arg(long, value_name = "DURATION")]
    pub timeout: Option<humantime::Duration>,

    /// Show every line as well, with its direction
    #[arg(long)]
    pub wire: bool,

    /// The agent's command and its arguments, unchanged
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
            manner: self.manner,
            reaction: self.reaction.map_or(REACTION, |reaction| *reaction),
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
    #[arg(long, value_name = "NAME", default_value = "sandboxagent", value_parser = dialect())]
    pub dialect: MockDialect,

    /// The kind of client that shows the question
    #[arg(long, value_name = "NAME", default_value = "native", value_parser = client_kind())]
    pub tier: ClientKind,

    /// Give this answer instead of asking: an option's number, its value or its label, or a text
    /// (can be repeated, one for each field in turn; the last one is used for all that follow)
    #[arg(long, value_name = "VALUE")]
    pub answer: Vec<String>,

    /// Show every line as well, with its direction
    #[arg(long)]
    pub wire: bool,

    /// Show only a permission; the words of a prompt select other permissions
    #[arg(long, conflicts_with = "prompt")]
    pub permission: bool,

    /// The prompt for the mock agent; see `askbridge mock-agent --help` for the words that it knows
    #[arg(long, value_name = "TEXT")]
    pub prompt: Option<String>,

    /// Show the questions on the page as well, in a browser [default: at a terminal, unless another option says what to
    /// show]
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

    /// Returns whether to show everything: a person is at the terminal, and no option says what to show.
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

fn dialect() -> impl TypedValueParser<Value = MockDialect> {
    let values = MockDialect::ALL.map(|it| PossibleValue::new(it.name()).help(it.summary()));
    let named =
        |name: String| MockDialect::ALL.into_iter().find(|it| it.name() == name).ok_or("not a dialect");
    PossibleValuesParser::new(values).try_map(named)
}

fn client_kind() -> impl TypedValueParser<Value = ClientKind> {
    let values = ClientKind::ALL.map(|it| PossibleValue::new(it.name()).help(it.summary()));
    let named =
        |name: String| ClientKind::ALL.into_iter().find(|it| it.name() == name).ok_or("not a kind of client");
    PossibleValuesParser::new(values).try_map(named)
}

fn manner() -> impl TypedValueParser<Value = Manner> {
    let values = Manner::ALL.map(|it| PossibleValue::new(it.name()).help(it.summary()));
    let named = |name: String| Manner::ALL.into_iter().find(|it| it.name() == name).ok_or("not a manner");
    PossibleValuesParser::new(values).try_map(named)
}

/// Options of `askbridge mock`.
#[derive(Debug, Args)]
pub struct MockArgs {
    /// The agent to mock.
    #[command(subcommand)]
    pub what: MockWhat,
}

/// An agent without a model.
#[derive(Clone, Debug, Subcommand)]
pub enum MockWhat {
    /// Claude Code in a terminal with its hooks; stdin is its keyboard
    #[command(after_help = claude::HELP)]
    ClaudeHook(ClaudeHookArgs),
    /// The app server of Codex; stdin is its keyboard
    #[command(after_help = server::HELP)]
    CodexDaemon(CodexDaemonArgs),
    /// opencode with its HTTP server; stdin is its keyboard
    #[command(after_help = opencode::HELP)]
    Opencode(PortArgs),
    /// Copilot CLI with its server; stdin is its keyboard
    #[command(after_help = copilot::HELP)]
    Copilot(PortArgs),
    /// Be a bridge that passes everything on, or breaks one rule of `askbridge check bridge`
    Bridge(RelayArgs),
}

impl MockWhat {
    /// Runs the mock, and returns its exit code.
    pub fn run(&self) -> ExitCode {
        let failed = |error: io::Error| {
            say(&error.to_string());
            ExitCode::from(exit::FAILED)
        };
        match self {
            MockWhat::ClaudeHook(args) => claude::run(&args.settings()).unwrap_or_else(failed),
            MockWhat::CodexDaemon(args) => server::run(&args.settings()),
            MockWhat::Opencode(args) => opencode::run(&args.opencode()),
            MockWhat::Copilot(args) => copilot::run(&args.copilot()),
            MockWhat::Bridge(args) => relay::run(&args.settings()).unwrap_or_else(failed),
        }
    }
}

/// Options of `askbridge mock opencode` and `askbridge mock copilot`.
#[derive(Clone, Debug, Args)]
pub struct PortArgs {
    /// Listen on this port of this machine; 0 takes one that is free
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub port: u16,

    /// The option with which Copilot itself starts a server; it changes nothing here
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

/// Options of `askbridge mock bridge`.
#[derive(Clone, Debug, Args)]
pub struct RelayArgs {
    /// Break this rule
    #[arg(long, value_name = "NAME", value_parser = relay_fault())]
    pub fault: Option<RelayFault>,

    /// The agent's command and its arguments
    #[arg(last = true, required = true, value_name = "AGENT [ARGS]")]
    pub agent: Vec<OsString>,
}

impl RelayArgs {
    /// Returns the settings.
    pub fn settings(&self) -> RelaySettings {
        RelaySettings { fault: self.fault, agent: self.agent.clone() }
    }
}

fn agent_fault() -> impl TypedValueParser<Value = AgentFault> {
    let values = AgentFault::ALL.iter().map(|fault| PossibleValue::new(fault.name()).help(fault.summary()));
    let named = |name: String| AgentFault::named(&name).ok_or("not a fault");
    PossibleValuesParser::new(values).try_map(named)
}

fn relay_fault() -> impl TypedValueParser<Value = RelayFault> {
    let values = RelayFault::ALL.iter().map(|fault| PossibleValue::new(fault.name()).help(fault.summary()));
    let named = |name: String| RelayFault::named(&name).ok_or("not a fault");
    PossibleValuesParser::new(values).try_map(named)
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
