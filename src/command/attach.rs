//! `askbridge attach`: answers agents that run in terminals, until a signal ends it.
//! How agents are found and reached is left to `adapters`.

use std::path::PathBuf;

use askbridge_os::signals::Signals;
use clap::{Args, Subcommand};

use super::{CommandError, help, runner::say};
use crate::adapters::{
    attach::{self, Finder, SharedInboxes},
    opencode::Address,
};

/// Options of `askbridge attach`.
#[derive(Debug, Args)]
#[command(after_help = help::ATTACH)]
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

/// Attaches to the agents that these find. What is open in them when a signal comes stays open there.
pub async fn attach(finders: Vec<Box<dyn Finder>>, hosts: SharedInboxes) -> Result<u8, CommandError> {
    // Signals are caught before a socket is bound, so that no signal leaves one behind.
    let mut signals = Signals::catch()?;
    let names: Vec<_> = finders.iter().map(|finder| finder.name()).collect();
    say(&format!("looking for {}; `askbridge list` shows what they ask", names.join(", ")));
    tokio::select! {
        never = attach::attach(finders, hosts) => match never {},
        code = signals.next() => Ok(code),
    }
}
