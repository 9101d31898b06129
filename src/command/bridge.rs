//! The arguments of `askbridge run` and `askbridge proxy`. The settings say what an option that is not given defaults
//! to; the help shows those defaults.
//! What a bridge is made of is left to `compose`.

use std::{ffi::OsString, net::SocketAddr};

use clap::{Args, ValueEnum};

use super::{arguments, help, inbox::HttpArgs};
use crate::settings::kinds::{Timeout, address};

/// Options of every bridge, wherever it stands.
#[derive(Debug, Args)]
pub struct BridgeArgs {
    /// Reject a question that has no answer within this time, such as 90s, 10m or 500ms
    /// [default: never]
    #[arg(long, value_name = "DURATION", value_parser = arguments::limit)]
    pub timeout: Option<Timeout>,

    /// How the client is asked, whatever it says that it can show [default: auto]
    #[arg(long, value_name = "TIER")]
    pub client_questions: Option<ClientQuestions>,

    /// Where the agent's permission prompts can be answered [default: inbox]
    #[arg(long, value_name = "WHERE")]
    pub permissions: Option<Permissions>,

    /// What becomes of a question that no person can answer: with the settings as they are, one that the client does not
    /// show [default: wait]
    #[arg(long, value_name = "WHAT")]
    pub unattended: Option<Unattended>,

    /// Leave `initialize` as it is: then many agents do not ask at all
    #[arg(long, overrides_with = "promise")]
    pub no_promise: bool,

    /// Change `initialize`, whatever the settings say.
    #[arg(long, hide = true)]
    pub promise: bool,

    /// Do not announce in the chat a question that the client does not show
    #[arg(long, overrides_with = "chat_hint")]
    pub no_chat_hint: bool,

    /// Announce questions in the chat, whatever the settings say.
    #[arg(long, hide = true)]
    pub chat_hint: bool,

    /// Serve the open questions over HTTP as well, as `askbridge inbox` does for all bridges
    /// [default address: 127.0.0.1:8421]
    #[arg(
        long,
        value_name = "ADDRESS",
        num_args = 0..=1,
        default_missing_value = "127.0.0.1:8421",
        value_parser = address
    )]
    pub serve: Option<SocketAddr>,

    /// Do not serve over HTTP, whatever the settings say.
    #[arg(long, hide = true, overrides_with = "serve")]
    pub no_serve: bool,

    /// Do not open the inbox socket: only the client can answer
    #[arg(long, conflicts_with = "serve", overrides_with = "inbox")]
    pub no_inbox: bool,

    /// Open the inbox socket, whatever the settings say.
    #[arg(long, hide = true)]
    pub inbox: bool,

    /// Which requests are accepted over HTTP.
    #[command(flatten)]
    pub http: HttpArgs,
}

/// Options of `askbridge run`.
#[derive(Debug, Args)]
#[command(after_help = help::RUN)]
pub struct RunArgs {
    /// What the agent and its client speak on stdin and stdout
    #[arg(long, value_name = "PROTOCOL", default_value = "acp")]
    pub protocol: Protocol,

    /// How long the agent may take to end once the client is gone, before it gets SIGTERM [default: 10s]
    #[arg(long, value_name = "DURATION", value_parser = arguments::span)]
    pub grace: Option<humantime::Duration>,

    /// The agent's command and its arguments, taken as they are
    #[arg(last = true, required = true, value_name = "AGENT [ARGS]")]
    pub agent: Vec<OsString>,

    /// How questions are dealt with.
    #[command(flatten)]
    pub bridge: BridgeArgs,
}

/// What the agent and its client speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Protocol {
    /// The Agent Client Protocol.
    Acp,
    /// The stream-json of `claude -p`, with a host that answers permissions.
    Claude,
    /// The JSON lines of `codex app-server`.
    Codex,
}

/// How the client is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ClientQuestions {
    /// In the best way that it says it can show; in the next one where it cannot.
    Auto,
    /// By the extension `_sandboxagent/session/request_question`.
    Native,
    /// By a form, `elicitation/create`.
    Elicitation,
    /// By permission prompts, one field after the other.
    Permission,
    /// Not at all: others answer.
    None,
}

/// What becomes of a question that no person can answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Unattended {
    /// It waits.
    Wait,
    /// It is rejected.
    Reject,
    /// The agent is ended, and the exit code is 9.
    Fail,
}

/// Where permissions can be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Permissions {
    /// In the client, and by other responders like a question.
    Inbox,
    /// In the client alone.
    Client,
}

/// Options of `askbridge proxy`.
#[derive(Debug, Args)]
#[command(after_help = help::PROXY)]
pub struct ProxyArgs {
    /// How questions are dealt with.
    #[command(flatten)]
    pub bridge: BridgeArgs,
}
