//! The command line as clap types: the list of the subcommands, and the options of the log.
//! The arguments of a subcommand are beside the subcommand.

use std::path::PathBuf;

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};

#[cfg(feature = "journal")]
use super::history::HistoryArgs;
#[cfg(feature = "mcp")]
use super::mcp::McpArgs;
#[cfg(feature = "mock")]
use super::mock::{DemoArgs, MockAgentArgs, MockArgs, MockClientArgs};
#[cfg(feature = "tui")]
use super::next::TuiArgs;
#[cfg(feature = "notify")]
use super::notify::NotifyArgs;
use super::{
    arguments::{self, LazyArgs},
    attach::AttachArgs,
    bridge::{ProxyArgs, RunArgs},
    config::ConfigArgs,
    help,
    hook::HookArgs,
    inbox::{InboxArgs, OpenArgs},
    next::NextArgs,
    rules::RulesArgs,
    shell::{CompleteArgs, CompletionsArgs, ManArgs},
};
use crate::command::setup::args::{DoctorArgs, SetupArgs};

/// Make sure that every question of a coding agent gets exactly one answer
#[derive(Debug, Parser)]
#[command(name = "askbridge", version, after_help = help::TOP, max_term_width = 100)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,

    /// The options of the log.
    #[command(flatten)]
    pub log: LogArgs,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Start an agent, and stand between it and its client
    Run(LazyArgs<RunArgs>),
    /// Stand between an agent and its client, under an ACP conductor
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
    /// Deny what an agent asks permission for
    Deny(LazyArgs<DenyArgs>),
    /// Answer the oldest question that waits, field by field
    Next(LazyArgs<NextArgs>),
    /// Show all questions of this machine in full screen, and answer them there
    #[cfg(feature = "tui")]
    Tui(LazyArgs<TuiArgs>),
    /// Reject a question
    Reject(LazyArgs<RejectArgs>),
    /// Give a question more time
    Extend(LazyArgs<ExtendArgs>),
    /// Ask a question in a script or a hook, and wait for the answer
    Ask(LazyArgs<AskArgs>),
    /// Be the hook of an agent in a terminal: what it asks can be answered elsewhere as well
    Hook(LazyArgs<HookArgs>),
    /// Be an MCP server with a tool that asks the person, for agents that cannot ask by themselves
    #[cfg(feature = "mcp")]
    Mcp(LazyArgs<McpArgs>),
    /// Serve the open questions of all bridges over HTTP
    Inbox(LazyArgs<InboxArgs>),
    /// Answer in a browser: open the page of the inbox, and start the inbox if none runs
    Open(LazyArgs<OpenArgs>),
    /// Tell the person that a question waits, in the ways that are set; bridges start it by themselves
    #[cfg(feature = "notify")]
    Notify(LazyArgs<NotifyArgs>),
    /// Show what is set, where each value comes from, and change it
    Config(LazyArgs<ConfigArgs>),
    /// Show, check and try the rules that answer for you
    Rules(LazyArgs<RulesArgs>),
    /// Show what was asked and how it was settled, and check that nothing of it was changed
    #[cfg(feature = "journal")]
    History(LazyArgs<HistoryArgs>),
    /// Put askbridge between an editor and its agents, in the editor's settings
    Setup(LazyArgs<SetupArgs>),
    /// Check what works and what does not, and say what to do about it
    Doctor(LazyArgs<DoctorArgs>),
    /// Print the script that completes command lines in a shell
    Completions(LazyArgs<CompletionsArgs>),
    /// Write the man pages into a directory
    Man(LazyArgs<ManArgs>),
    /// Print how a command line can go on, for the scripts of `completions`
    #[command(hide = true)]
    Complete(LazyArgs<CompleteArgs>),
    /// Be an ACP agent without a model, for trying clients and for CI
    #[cfg(feature = "mock")]
    MockAgent(LazyArgs<MockAgentArgs>),
    /// Be an ACP client, for trying agents and for CI
    #[cfg(feature = "mock")]
    MockClient(LazyArgs<MockClientArgs>),
    /// Be an agent that does not ask over ACP, without a model
    #[cfg(feature = "mock")]
    Mock(LazyArgs<MockArgs>),
    /// Show in this terminal how a question is asked and answered
    #[cfg(feature = "mock")]
    Demo(LazyArgs<DemoArgs>),
}

/// Options of `askbridge list`.
#[derive(Debug, Args)]
#[command(after_help = help::LIST)]
pub struct ListArgs {
    /// Print JSON, with all that is asked: an object that has the open questions in `questions`
    #[arg(long)]
    pub json: bool,

    /// Keep the list up to date: on a terminal in place, elsewhere with a line for each change
    #[arg(long)]
    pub watch: bool,
}

/// Options of `askbridge status`.
#[derive(Debug, Args)]
#[command(after_help = help::STATUS)]
pub struct StatusArgs {
    /// Print JSON (schema: machine_status.schema.json)
    #[arg(long)]
    pub json: bool,
}

/// Options of `askbridge show`.
#[derive(Debug, Args)]
#[command(after_help = help::SHOW)]
pub struct ShowArgs {
    /// The question's ID
    pub id: String,

    /// Print the question as JSON, with all that is known of it
    #[arg(long)]
    pub json: bool,
}

/// Options of `askbridge answer`.
#[derive(Debug, Args)]
#[command(after_help = help::ANSWER)]
pub struct AnswerArgs {
    /// The question's ID
    pub id: String,

    /// The answer to each field in turn [default: asks field by field at a terminal]: the number, label or value of an option, a text, a number, yes or no; several
    /// options are separated by commas, or given one by one where there is one field; "" leaves a field out; `-` reads
    /// stdin
    #[arg(value_name = "VALUE", allow_negative_numbers = true)]
    pub values: Vec<String>,

    /// The answer to the field with this name (can be repeated: several options of one field add up)
    #[arg(long, value_name = "NAME=VALUE")]
    pub field: Vec<String>,

    /// A text of your own, as it is, even if it looks like an option: alone where there is one field, otherwise behind
    /// the field's name (can be repeated)
    #[arg(long, value_name = "[NAME=]TEXT", allow_hyphen_values = true)]
    pub text: Vec<String>,

    /// A note on the field with this name, or on the first field (can be repeated, once for each field)
    #[arg(long, value_name = "[NAME=]TEXT", allow_negative_numbers = true)]
    pub note: Vec<String>,

    /// The answer that the same question had before, as `askbridge show` prints it
    #[arg(long, conflicts_with_all = ["values", "field", "text", "note"])]
    pub again: bool,
}

/// Options of `askbridge allow`.
#[derive(Debug, Args)]
#[command(after_help = help::ANSWER)]
pub struct AllowArgs {
    /// The permission's ID
    pub id: String,

    /// Allow it from now on, as far as the agent means that
    #[arg(long)]
    pub always: bool,
}

/// Options of `askbridge deny`.
#[derive(Debug, Args)]
#[command(after_help = help::ANSWER)]
pub struct DenyArgs {
    /// The permission's ID
    pub id: String,

    /// The reason, in your own words: agents that have a place for it are told [default: asked at a terminal]
    #[arg(long, value_name = "TEXT", allow_negative_numbers = true)]
    pub reason: Option<String>,
}

/// Options of `askbridge reject`.
#[derive(Debug, Args)]
#[command(after_help = help::ANSWER)]
pub struct RejectArgs {
    /// The question's ID
    pub id: String,

    /// The reason, in your own words: it is shown with the outcome
    #[arg(long, value_name = "TEXT", allow_negative_numbers = true)]
    pub reason: Option<String>,
}

/// Options of `askbridge extend`.
#[derive(Debug, Args)]
#[command(after_help = help::ANSWER)]
pub struct ExtendArgs {
    /// The question's ID
    pub id: String,

    /// How much more time it gets, such as 90s, 10m or 2h
    #[arg(value_parser = arguments::duration)]
    pub duration: humantime::Duration,
}

/// Options of `askbridge ask`.
#[derive(Debug, Args)]
#[command(after_help = help::ASK, group = ArgGroup::new("asked").required(true))]
pub struct AskArgs {
    /// What is asked
    #[arg(value_name = "QUESTION", group = "asked", value_parser = arguments::text)]
    pub text: Option<String>,

    /// What is asked, where it begins with a dash
    #[arg(long, value_name = "TEXT", group = "asked", value_parser = arguments::text, allow_hyphen_values = true)]
    pub question: Option<String>,

    /// Ask for a yes or a no, and exit with 0 or 1
    #[arg(long, value_name = "TEXT", group = "asked", value_parser = arguments::text, conflicts_with = "option")]
    pub confirm: Option<String>,

    /// An option, and what the person sees instead of its value; `\=` is a `=` in the value (can be repeated)
    /// [default: a free text]
    #[arg(long, value_name = "VALUE[=LABEL]", value_parser = arguments::text, allow_negative_numbers = true)]
    pub option: Vec<String>,

    /// Let several options be chosen
    #[arg(long, requires = "option")]
    pub many: bool,

    /// Take a text that is no option as well
    #[arg(long, visible_alias = "free", requires = "option")]
    pub other: bool,

    /// Read the whole question from a file, or from stdin if it is `-`, as JSON: the parameters of
    /// `_sandboxagent/session/request_question`, such as {"prompt": "Deploy?", "options": ["yes", "no"]}
    #[arg(long, value_name = "FILE", group = "asked", conflicts_with_all = ["option", "many", "other"])]
    pub form: Option<PathBuf>,

    /// How long to wait, such as 90s, 10m or 500ms [default: as long as it takes]
    #[arg(long, value_name = "DURATION", value_parser = arguments::timeout)]
    pub timeout: Option<humantime::Duration>,

    /// The name that `list` shows as the one that asks
    #[arg(long, value_name = "NAME", default_value = "askbridge ask", value_parser = arguments::text)]
    pub agent: String,

    /// Print how the question ended, as JSON: its `outcome`, and `by` which responder
    #[arg(long)]
    pub json: bool,
}

/// Options that say where the log goes.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Logging")]
pub struct LogArgs {
    /// Minimum log level [default: warn]
    #[arg(long, global = true, hide = true, value_name = "LEVEL")]
    pub log: Option<LogLevel>,

    /// Append the log to this file instead of writing it to stderr
    #[arg(long, global = true, hide = true, value_name = "PATH")]
    pub log_file: Option<PathBuf>,

    /// How a log line is written [default: text]
    #[arg(long, global = true, hide = true, value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,
}

/// How much is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogLevel {
    /// No lines.
    Off,
    /// Problems that ended the bridge.
    Error,
    /// Problems that did not stop the bridge.
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
