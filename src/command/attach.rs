//! `askbridge attach`: answers agents that run in terminals, until a signal ends it.
//! How an agent is found and reached is left to `adapters`.

use std::{env, path::PathBuf};

use askbridge_adapters::{
    attach::{self, Finder, SharedInboxes},
    codex::attachment::CodexFinder,
    copilot::CopilotFinder,
    opencode::{Address, OpencodeFinder, Password},
};
use askbridge_os::{listeners::SharedListeners, signals::Signals};
use askbridge_settings::{Settings, keys};
use clap::{Args, Subcommand};

use super::{CommandError, Context, runner::say};

/// How long `askbridge attach` runs, and its exit codes.
const HELP: &str = "\
It runs until a signal ends it, and finds agents as they start. Their own dialogs
stay usable: the first answer counts. A question that is open when `attach` ends
stays open in its agent.

Exit codes:
  2        the command line was not understood
  125      the command itself failed
  128 + N  signal N ended it";

/// Options of `askbridge attach`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub struct AttachArgs {
    /// The agent; without one, all that are found.
    #[command(subcommand)]
    pub agent: Option<AttachAgent>,
}

/// An agent that can be attached to.
#[derive(Clone, Debug, Subcommand)]
pub enum AttachAgent {
    /// Codex, by the control socket of its app server
    Codex {
        /// The socket [default: app-server-control/app-server-control.sock in CODEX_HOME or ~/.codex]
        socket: Option<PathBuf>,
    },
    /// opencode, by its HTTP server: `opencode --port PORT`, or `opencode serve`
    Opencode {
        /// Where it listens, such as http://127.0.0.1:4096 or 4096 [default: all that listen on this machine]
        url: Option<Address>,
    },
    /// Copilot CLI, by the server of `copilot --ui-server --port PORT`
    Copilot {
        /// The port that it listens on, on this machine [default: all that listen there]
        port: Option<u16>,
    },
}

/// Attaches to agents until a signal arrives. Questions that are open by then stay open in their agents.
pub async fn attach(context: &Context, args: &AttachArgs, hosts: SharedInboxes) -> Result<u8, CommandError> {
    let settings = &context.settings;
    let finders = match &args.agent {
        Some(AttachAgent::Codex { socket: Some(socket) }) => {
            vec![Box::new(CodexFinder::at(socket.clone())) as Box<dyn Finder>]
        }
        Some(AttachAgent::Codex { socket: None }) => finders(settings, |kind| kind == "codex"),
        Some(AttachAgent::Opencode { url }) => {
            vec![opencode(settings, url.clone(), SharedListeners::default())]
        }
        Some(AttachAgent::Copilot { port }) => vec![copilot(settings, *port, SharedListeners::default())],
        None => finders(settings, |_| true),
    };
    // Signals are caught before a socket is bound, so that no signal leaves one behind.
    let mut signals = Signals::catch()?;
    let names: Vec<_> = finders.iter().map(|finder| finder.name()).collect();
    say(&format!("looking for {}; `askbridge list` shows what they ask", names.join(", ")));
    tokio::select! {
        never = attach::attach(finders, hosts) => match never {},
        code = signals.next() => Ok(code),
    }
}

/// Returns a finder for each kind of agent that is wanted.
pub(super) fn finders(settings: &Settings, is_wanted: impl Fn(&str) -> bool) -> Vec<Box<dyn Finder>> {
    let codex = CodexFinder::of_user().map(|finder| Box::new(finder) as Box<dyn Finder>);
    // Both finders look at the listening sockets of this machine, so they share what the last look found out.
    let listeners = SharedListeners::default();
    let all = codex
        .into_iter()
        .chain([opencode(settings, None, listeners.clone()), copilot(settings, None, listeners)]);
    all.filter(|finder| is_wanted(finder.name())).collect()
}

/// Returns the finder for opencode at this address, or on this machine. It reads the password from the variables of
/// opencode.
fn opencode(settings: &Settings, url: Option<Address>, listeners: SharedListeners) -> Box<dyn Finder> {
    let password = variable("OPENCODE_SERVER_PASSWORD")
        .map(|password| Password::new(variable("OPENCODE_SERVER_USERNAME"), password.into()));
    Box::new(OpencodeFinder::new(url, password, settings.get(&keys::INBOX_TRUSTED_SERVERS), listeners))
}

/// Returns the finder for Copilot at this port, or on this machine.
fn copilot(settings: &Settings, port: Option<u16>, listeners: SharedListeners) -> Box<dyn Finder> {
    let token = variable("COPILOT_CONNECTION_TOKEN").map(Into::into);
    Box::new(CopilotFinder::new(port, token, settings.get(&keys::INBOX_TRUSTED_SERVERS), listeners))
}

fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.is_empty())
}
