//! The arguments of `askbridge run` and `askbridge proxy`. The settings say what an option that is not given defaults
//! to; the help shows those defaults.
//! Building a bridge is left to `compose`.

use std::{ffi::OsString, net::SocketAddr};

use askbridge_settings::{
    Key, Settings,
    addresses::address,
    keys,
    kinds::Timeout,
    resolved::{
        BridgeSettings, InboxSettings, Protocol, ProxySettings, RunSettings, ServeSettings, UnattendedAction,
        UnattendedSettings,
    },
    words::{ClientQuestions, Permissions},
};
use clap::Args;

use super::{
    arguments::{self, of_setting, with_default},
    inbox::HttpArgs,
};

/// Options of every bridge: how long its questions wait, and who reaches them.
#[derive(Debug, Args)]
pub struct QuestionArgs {
    /// The setting `bridge.timeout`.
    #[arg(
        long,
        value_name = "DURATION",
        value_parser = arguments::limit,
        help = with_default(
            "Reject a question that has no answer within this time, such as 90s, 10m or 500ms",
            &keys::BRIDGE_TIMEOUT
        )
    )]
    pub timeout: Option<Timeout>,

    /// The setting `unattended.then`.
    #[arg(
        long,
        value_name = "WHAT",
        value_parser = arguments::word::<UnattendedAction>(),
        help = with_default(
            "What to do with questions that nobody can answer; by default, those that the client does not show",
            &keys::UNATTENDED_THEN
        )
    )]
    pub unattended: Option<UnattendedAction>,

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

    /// Do not serve over HTTP, even if the settings enable it.
    #[arg(long, hide = true, overrides_with = "serve")]
    pub no_serve: bool,

    /// Do not open the inbox socket: only the client can answer
    #[arg(long, conflicts_with = "serve", overrides_with = "inbox")]
    pub no_inbox: bool,

    /// Open the inbox socket, even if the settings disable it.
    #[arg(long, hide = true)]
    pub inbox: bool,

    /// Which requests are accepted over HTTP.
    #[command(flatten)]
    pub http: HttpArgs,
}

/// Options that `run` and `proxy` share.
#[derive(Debug, Args)]
pub struct BridgeArgs {
    /// The setting `bridge.client-questions`.
    #[arg(
        long,
        value_name = "TIER",
        value_parser = arguments::word::<ClientQuestions>(),
        help = of_setting(&keys::BRIDGE_CLIENT_QUESTIONS)
    )]
    pub client_questions: Option<ClientQuestions>,

    /// The setting `bridge.permissions`.
    #[arg(
        long,
        value_name = "WHERE",
        value_parser = arguments::word::<Permissions>(),
        help = with_default("Where the agent's permission prompts can be answered", &keys::BRIDGE_PERMISSIONS)
    )]
    pub permissions: Option<Permissions>,

    /// Forward `initialize` unchanged: many agents do not ask at all then
    #[arg(long, overrides_with = "promise")]
    pub no_promise: bool,

    /// Change `initialize`, even if the settings disable that.
    #[arg(long, hide = true)]
    pub promise: bool,

    /// Do not announce in the chat a question that the client does not show
    #[arg(long, overrides_with = "chat_hint")]
    pub no_chat_hint: bool,

    /// Announce questions in the chat, even if the settings disable that.
    #[arg(long, hide = true)]
    pub chat_hint: bool,

    /// The options of every bridge.
    #[command(flatten)]
    pub questions: QuestionArgs,
}

/// The exit codes of `askbridge run`.
const RUN_HELP: &str = "\
Options for all bridges belong in the settings: see `askbridge config --help`.

Exit codes of `askbridge run`:
  the agent's own   the agent ended by itself, or because it was asked to
  128 + N           signal N ended the agent
  2                 the command line was not understood
  9                 with `--unattended fail`: no person could answer a question
  125               the bridge itself failed
  126               the agent's command could not be executed
  127               the agent's command was not found";

/// Options of `askbridge run`.
#[derive(Debug, Args)]
#[command(after_help = RUN_HELP)]
pub struct RunArgs {
    /// The protocol of the agent and its client on stdin and stdout
    #[arg(long, value_name = "PROTOCOL", default_value = "acp", value_parser = arguments::word::<Protocol>())]
    pub protocol: Protocol,

    /// The setting `bridge.grace`.
    #[arg(long, value_name = "DURATION", value_parser = arguments::span, help = of_setting(&keys::BRIDGE_GRACE))]
    pub grace: Option<humantime::Duration>,

    /// The agent's command and its arguments, unchanged
    #[arg(last = true, required = true, value_name = "AGENT [ARGS]")]
    pub agent: Vec<OsString>,

    /// The options that `run` and `proxy` share.
    #[command(flatten)]
    pub bridge: BridgeArgs,
}

/// How a conductor starts `askbridge proxy`, and its exit codes.
const PROXY_HELP: &str = "\
The conductor starts it:
  agent-client-protocol-conductor agent \"askbridge proxy\" \"AGENT ARGS\"

Exit codes of `askbridge proxy`:
  0    the conductor closed stdin, or a signal ended the proxy
  2    the command line was not understood, or the peer is no conductor, but a
       client that sent `initialize`
  125  the bridge itself failed";

/// Options of `askbridge proxy`.
#[derive(Debug, Args)]
#[command(after_help = PROXY_HELP)]
pub struct ProxyArgs {
    /// The options that `run` and `proxy` share.
    #[command(flatten)]
    pub bridge: BridgeArgs,
}

impl RunArgs {
    /// Returns the settings of this bridge.
    pub fn settings(&self, settings: &Settings) -> RunSettings {
        RunSettings {
            agent: self.agent.clone(),
            protocol: self.protocol,
            grace: self.grace.map_or_else(|| settings.get(&keys::BRIDGE_GRACE), Into::into),
            bridge: self.bridge.settings(settings),
            inbox: self.bridge.questions.inbox(settings),
        }
    }
}

impl ProxyArgs {
    /// Returns the settings of this bridge.
    pub fn settings(&self, settings: &Settings) -> ProxySettings {
        ProxySettings { bridge: self.bridge.settings(settings), inbox: self.bridge.questions.inbox(settings) }
    }
}

/// Returns the value that one of two opposite options selects, or the value of the setting if neither option is given.
fn flag(yes: bool, no: bool, settings: &Settings, key: &Key<bool>) -> bool {
    match (yes, no) {
        (true, _) => true,
        (_, true) => false,
        (false, false) => settings.get(key),
    }
}

impl QuestionArgs {
    /// Returns how the bridge of a protocol that has no options of its own handles questions.
    pub(super) fn settings(&self, settings: &Settings) -> BridgeSettings {
        BridgeSettings {
            timeout: self.timeout.unwrap_or_else(|| settings.get(&keys::BRIDGE_TIMEOUT)).0,
            timeout_is_fixed: self.timeout.is_some(),
            tier: None,
            advertise: settings.get(&keys::BRIDGE_PROMISE),
            chat_hint: false,
            permissions: true,
            permissions_left_by: None,
        }
    }

    /// Returns how responders reach the questions.
    pub(super) fn inbox(&self, settings: &Settings) -> InboxSettings {
        let set = || if self.no_serve { None } else { settings.get(&keys::BRIDGE_SERVE).0 };
        let address = self.serve.or_else(set);
        // `--serve` needs the socket, even if the settings disable it.
        let is_open = flag(self.inbox || self.serve.is_some(), self.no_inbox, settings, &keys::BRIDGE_INBOX);
        // The server shows the inbox. Without an inbox, there is no server.
        let serve = address.filter(|_| is_open);
        let serve = serve.map(|address| ServeSettings { address, http: self.http.settings(settings) });
        let unattended = settings.unattended();
        let then = self.unattended.unwrap_or(unattended.then);
        InboxSettings {
            no_inbox: !is_open,
            serve,
            journal: settings.journal(),
            guarding: settings.guarding(),
            unattended: UnattendedSettings { then, ..unattended },
            unattended_is_fixed: self.unattended.is_some(),
        }
    }
}

impl BridgeArgs {
    pub(super) fn settings(&self, settings: &Settings) -> BridgeSettings {
        let ClientQuestions(tier) =
            self.client_questions.unwrap_or_else(|| settings.get(&keys::BRIDGE_CLIENT_QUESTIONS));
        let permissions = self.permissions.unwrap_or_else(|| settings.get(&keys::BRIDGE_PERMISSIONS));
        BridgeSettings {
            tier,
            advertise: flag(self.promise, self.no_promise, settings, &keys::BRIDGE_PROMISE),
            chat_hint: flag(self.chat_hint, self.no_chat_hint, settings, &keys::BRIDGE_CHAT_HINT),
            permissions: permissions == Permissions::Inbox,
            // A hostile repository could keep its permissions out of the inbox: the journal notes whose settings did
            // so.
            permissions_left_by: self
                .permissions
                .is_none()
                .then(|| settings.narrowed_by(&keys::BRIDGE_PERMISSIONS))
                .flatten(),
            ..self.questions.settings(settings)
        }
    }
}
