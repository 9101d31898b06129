//! The resolved settings of each module as plain values, from the command line, the environment and the files. Reading
//! them is left to `cli` and `layers.rs`, using them to the modules.

use std::{ffi::OsString, net::SocketAddr, path::PathBuf, time::Duration};

use askbridge_core::{acp, engine, mcp, question::Guarding};

/// The settings of `askbridge run`: a bridge that starts its agent.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSettings {
    /// The agent's command and its arguments.
    pub agent: Vec<OsString>,
    /// The protocol of the agent and its client.
    pub protocol: Protocol,
    /// How long the agent may take to end after the client is gone, before it gets SIGTERM.
    pub grace: Duration,
    /// How the bridge handles questions.
    pub bridge: BridgeSettings,
    /// How responders reach the questions.
    pub inbox: InboxSettings,
}

/// The protocol of an agent and its client on stdin and stdout.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// The Agent Client Protocol.
    #[default]
    Acp,
    /// The control protocol of Claude Code.
    Claude,
    /// The protocol of Codex' app-server.
    Codex,
}

/// The settings of `askbridge mcp-proxy`: a bridge that starts an MCP server for its host.
#[derive(Clone, Debug, PartialEq)]
pub struct McpProxySettings {
    /// The server's command and its arguments.
    pub server: Vec<OsString>,
    /// The name by which the user knows the server.
    pub name: Option<String>,
    /// Who is asked what the server asks.
    pub elicitation: mcp::Elicitation,
    /// How the session may begin.
    pub session: mcp::Session,
    /// The tools whose calls the user wants to allow.
    pub gated: Vec<mcp::ToolName>,
    /// How long the server may take to end after the host is gone, before it gets SIGTERM.
    pub grace: Duration,
    /// How the bridge handles questions.
    pub bridge: BridgeSettings,
    /// How responders reach the questions.
    pub inbox: InboxSettings,
}

/// The settings of `askbridge proxy`: a bridge that a conductor starts.
#[derive(Clone, Debug, PartialEq)]
pub struct ProxySettings {
    /// How the bridge handles questions.
    pub bridge: BridgeSettings,
    /// How responders reach the questions.
    pub inbox: InboxSettings,
}

/// How a bridge handles questions.
#[derive(Clone, Debug, PartialEq)]
pub struct BridgeSettings {
    /// After this time, a question without an answer is rejected. `None` keeps it open.
    pub timeout: Option<Duration>,
    /// Whether the command line sets the timeout. Changes of the settings then do not apply.
    pub timeout_is_fixed: bool,
    /// How questions are shown to the client, regardless of its capabilities. `None` uses the best way that it
    /// advertises.
    pub tier: Option<acp::Tier>,
    /// Whether `initialize` is rewritten, so that agents learn that questions can be shown.
    pub advertise: bool,
    /// Whether a question that the client does not show is announced in the chat.
    pub chat_hint: bool,
    /// Whether responders other than the client may answer permissions.
    pub permissions: bool,
    /// The file of the project, if only this file leaves permissions to the client.
    pub permissions_left_by: Option<PathBuf>,
}

impl BridgeSettings {
    /// Returns the configuration of the core. `grace` is the time that the agent has to end. The name of the bridge
    /// stays at its default, because only the composition root knows it.
    pub fn core(&self, grace: Duration) -> acp::Config {
        let BridgeSettings { timeout, tier, advertise, chat_hint, permissions, .. } = *self;
        let mut config = acp::Config { tier, advertise, chat_hint, ..acp::Config::default() };
        let common = &mut config.common;
        (common.timeout, common.grace, common.permissions) = (timeout, grace, permissions);
        config
    }
}

impl McpProxySettings {
    /// Returns the configuration of the core of an MCP bridge around the common part.
    pub fn core(&self, common: engine::Config) -> mcp::Config {
        mcp::Config {
            common,
            elicitation: self.elicitation,
            session: self.session,
            server: self.name.clone(),
            gated: self.gated.clone(),
        }
    }
}

/// How responders other than the client reach a bridge's questions.
#[derive(Clone, Debug, PartialEq)]
pub struct InboxSettings {
    /// Opens no socket: only the client can answer.
    pub no_inbox: bool,
    /// Serves the questions over HTTP as well.
    pub serve: Option<ServeSettings>,
    /// The part of the questions that is kept beyond the process. `None` keeps nothing.
    pub journal: Option<JournalSettings>,
    /// What it takes to allow a permission.
    pub guarding: Guarding,
    /// The action for unattended questions, by the settings at the start.
    pub unattended: UnattendedSettings,
    /// Whether the command line sets that action. Changes of the settings then do not apply.
    pub unattended_is_fixed: bool,
}

/// The part of the questions that the user's journal keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JournalSettings {
    /// Whether texts are kept. Without them, no answer survives its process.
    pub texts: bool,
    /// Whether what led to a question is kept with it, where texts are.
    pub context: bool,
    /// How long settled questions are kept.
    pub keep: Duration,
    /// The size beyond which the oldest settled questions are removed, in bytes.
    pub size: u64,
}

/// The action for unattended questions, and its conditions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UnattendedSettings {
    /// The action.
    pub then: UnattendedAction,
    /// When no person can answer.
    pub when: UnattendedConditions,
}

/// The action for a question that no user can answer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UnattendedAction {
    /// It waits.
    #[default]
    Wait,
    /// It is rejected.
    Reject,
    /// The agent is ended, with an exit code of its own.
    Fail,
}

/// When nobody can answer: all conditions that are `true` here must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnattendedConditions {
    /// The client does not show the question.
    pub no_client: bool,
    /// The bridge has no terminal.
    pub no_terminal: bool,
    /// The variable `CI` is set, and is not `false`.
    pub ci: bool,
}

impl Default for UnattendedConditions {
    fn default() -> Self {
        UnattendedConditions { no_client: true, no_terminal: false, ci: false }
    }
}

/// Where questions are served over HTTP, and to whom.
#[derive(Clone, Debug, PartialEq)]
pub struct ServeSettings {
    /// The address to listen on. Port 0 takes any free port.
    pub address: SocketAddr,
    /// Which requests are accepted.
    pub http: HttpSettings,
}

/// Which HTTP requests are accepted, and when what a person sends by the page is submitted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HttpSettings {
    /// The file with the token that every request has to show. `None` takes the one in the folder of the sockets.
    pub token_file: Option<PathBuf>,
    /// Host names, beside the address itself, under which requests are answered.
    pub allowed_hosts: Vec<String>,
    /// The origins of other sites whose pages may send requests, as browsers send them.
    pub allowed_origins: Vec<String>,
    /// How long what a person sends can be taken back.
    pub undo: Duration,
}
