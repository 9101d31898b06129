//! The command line of `attach`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::help;

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
}
