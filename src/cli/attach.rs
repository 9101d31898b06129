//! The command line of `attach`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::help;
use crate::origin::opencode::Address;

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
