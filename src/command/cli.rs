//! The command line as clap types: the list of the subcommands. The arguments of each are in its own file.

use clap::{Parser, Subcommand};

#[cfg(feature = "check")]
use super::check::CheckArgs;
#[cfg(feature = "fleet")]
use super::fleet::FleetArgs;
#[cfg(feature = "journal")]
use super::history::HistoryArgs;
#[cfg(feature = "mcp")]
use super::mcp::McpArgs;
#[cfg(feature = "mcp")]
use super::mcp_http::McpHttpArgs;
#[cfg(feature = "mock")]
use super::mock::{DemoArgs, MockAgentArgs, MockArgs, MockClientArgs};
#[cfg(feature = "notify")]
use super::notify::NotifyArgs;
#[cfg(feature = "tui")]
use super::tui::TuiArgs;
use super::{
    answer_args::AnswerArgs,
    arguments::{LazyArgs, LogArgs},
    ask::AskArgs,
    attach::AttachArgs,
    bridge::{ProxyArgs, RunArgs},
    config::ConfigArgs,
    dial::DialArgs,
    doctor::DoctorArgs,
    extend::{ExtendArgs, LaterArgs},
    help,
    hook::HookArgs,
    inbox::InboxArgs,
    list::ListArgs,
    machine::MachineCommandArgs,
    mcp_proxy::McpProxyArgs,
    next::NextArgs,
    open::OpenArgs,
    overview::OverviewArgs,
    permit::AllowArgs,
    rules::RulesArgs,
    setup::SetupArgs,
    shell::{CompleteArgs, CompletionsArgs, ManArgs},
    show::ShowArgs,
    status::StatusArgs,
    submit::RejectArgs,
    wait::WaitArgs,
};

/// Make sure that every question of a coding agent gets exactly one answer
#[derive(Debug, Parser)]
#[command(name = "askbridge", version, help_template = help::top(), max_term_width = 100)]
pub struct Cli {
    /// The subcommand.
    #[command(subcommand)]
    pub command: Command,

    /// The options of the log.
    #[command(flatten)]
    pub log: LogArgs,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Start an agent, and pass on what it and its client say (an editor runs this)
    Run(LazyArgs<RunArgs>),
    /// Run as a proxy under an ACP conductor
    Proxy(LazyArgs<ProxyArgs>),
    /// Answer agents that run in terminals, beside their own dialogs
    Attach(LazyArgs<AttachArgs>),
    /// List the open questions of all bridges on this machine
    List(LazyArgs<ListArgs>),
    /// Show which bridges run, with their agents and open questions
    Status(LazyArgs<StatusArgs>),
    /// Show one question, and how it can be answered
    Show(LazyArgs<ShowArgs>),
    /// Answer a question
    Answer(LazyArgs<AnswerArgs>),
    /// Allow what an agent asks permission for
    Allow(LazyArgs<AllowArgs>),
    /// Answer the first question that waits, field by field
    Next(LazyArgs<NextArgs>),
    /// Show all questions of this machine in full screen, and answer them there
    #[cfg(feature = "tui")]
    Tui(LazyArgs<TuiArgs>),
    /// Reject a question or a permission
    Reject(LazyArgs<RejectArgs>),
    /// Give a question more time
    Extend(LazyArgs<ExtendArgs>),
    /// Set a question aside until a time
    Later(LazyArgs<LaterArgs>),
    /// Ask a question in a script or a hook, and wait for the answer
    Ask(LazyArgs<AskArgs>),
    /// Wait for the answer to a question that the inbox keeps
    Wait(LazyArgs<WaitArgs>),
    /// Run as a Claude Code hook (the plugin calls this)
    Hook(LazyArgs<HookArgs>),
    /// Run an MCP server whose tool asks you a question
    #[cfg(feature = "mcp")]
    Mcp(LazyArgs<McpArgs>),
    /// Start an MCP server, and answer in your inbox what it asks (a host of MCP servers runs this)
    McpProxy(LazyArgs<McpProxyArgs>),
    /// Reach an MCP server over HTTP, for a host on stdio (`askbridge mcp-proxy --url` runs this)
    #[cfg(feature = "mcp")]
    #[command(hide = true)]
    McpHttp(LazyArgs<McpHttpArgs>),
    /// Serve the open questions of all bridges over HTTP
    Inbox(LazyArgs<InboxArgs>),
    /// Answer in a browser: open the page of the inbox, and start the inbox if none runs
    Open(LazyArgs<OpenArgs>),
    /// Notify you that a question waits (bridges call this)
    #[cfg(feature = "notify")]
    Notify(LazyArgs<NotifyArgs>),
    /// Show the settings and where each value comes from, and change them
    Config(LazyArgs<ConfigArgs>),
    /// Show, check and try the rules that answer for you
    Rules(LazyArgs<RulesArgs>),
    /// Show past questions and how they were settled, and verify that the journal was not changed
    #[cfg(feature = "journal")]
    History(LazyArgs<HistoryArgs>),
    /// Put askbridge between an editor and its agents, in the editor's settings
    Setup(LazyArgs<SetupArgs>),
    /// Add, connect, list and remove other machines, whose questions are shown here as well
    Machine(LazyArgs<MachineCommandArgs>),
    /// Machines over a NATS server: make credentials for it
    #[cfg(feature = "fleet")]
    Fleet(LazyArgs<FleetArgs>),
    /// Offer the questions of this machine to another one, on stdio (another askbridge runs this)
    #[command(hide = true)]
    Dial(LazyArgs<DialArgs>),
    /// Check what works and what does not, and say what to do about it
    Doctor(LazyArgs<DoctorArgs>),
    /// Print the script that completes command lines in a shell
    Completions(LazyArgs<CompletionsArgs>),
    /// Write the man pages into a directory
    Man(LazyArgs<ManArgs>),
    /// Print the completions of a command line, for the scripts of `completions`
    #[command(hide = true)]
    Complete(LazyArgs<CompleteArgs>),
    /// Show what waits, and what to type next: `askbridge` alone in a terminal
    #[command(hide = true)]
    Overview(LazyArgs<OverviewArgs>),
    /// Check an agent, a client or a bridge by conformance cases
    #[cfg(feature = "check")]
    Check(LazyArgs<CheckArgs>),
    /// Run a mock ACP agent, to try clients and for CI
    #[cfg(feature = "mock")]
    MockAgent(LazyArgs<MockAgentArgs>),
    /// Run a mock ACP client, to try agents and for CI
    #[cfg(feature = "mock")]
    MockClient(LazyArgs<MockClientArgs>),
    /// Run a mock of an agent that does not speak ACP
    #[cfg(feature = "mock")]
    Mock(LazyArgs<MockArgs>),
    /// Show in this terminal how a question is asked and answered
    #[cfg(feature = "mock")]
    Demo(LazyArgs<DemoArgs>),
}

impl Command {
    /// Returns whether the settings of the current project count for the command.
    pub fn is_of_a_project(&self) -> bool {
        matches!(self, Command::Run(_) | Command::Proxy(_) | Command::McpProxy(_) | Command::Hook(_))
    }

    /// Returns whether the command logs the mistakes in the settings. Commands whose output programs read do not, and
    /// `config`, `doctor` and `rules` print the mistakes themselves.
    pub fn names_problems(&self) -> bool {
        !matches!(
            self,
            Command::Completions(_)
                | Command::Complete(_)
                | Command::Config(_)
                | Command::Doctor(_)
                | Command::Man(_)
                | Command::Rules(_)
        )
    }
}
