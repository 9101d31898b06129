//! The arguments of `askbridge setup`.

use std::path::PathBuf;

use clap::Args;

use crate::command::help;

/// Options of `askbridge setup`.
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = help::SETUP)]
pub struct SetupArgs {
    /// The editor whose settings are changed, or `claude` for Claude Code in a terminal [default: all editors that are
    /// installed]
    #[arg(value_parser = ["zed", "jetbrains", "vscode", "emacs", "neovim", "claude"], hide_possible_values = true)]
    pub client: Option<String>,

    /// The agent to start through askbridge [default: all]
    pub agent: Option<String>,

    /// Write without asking
    #[arg(long, short)]
    pub yes: bool,

    /// Only show the change
    #[arg(long, conflicts_with = "yes")]
    pub print: bool,

    /// Undo an earlier setup
    #[arg(long)]
    pub undo: bool,

    /// The settings file, if it is not in its usual place
    #[arg(long, value_name = "PATH", requires = "client")]
    pub file: Option<PathBuf>,
}
