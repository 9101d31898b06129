//! The arguments of `askbridge setup`.

use std::path::PathBuf;

use clap::Args;
use clap_complete::engine::ArgValueCandidates;

use super::target::{candidates, known};
use crate::command::help;

/// Options of `askbridge setup`.
#[derive(Clone, Debug, Default, Args)]
#[command(after_help = help::SETUP)]
pub struct SetupArgs {
    /// The editor whose settings are changed, or the agent that you run in a terminal [default: all that are installed]
    #[arg(value_name = "EDITOR|AGENT", value_parser = known, add = ArgValueCandidates::new(candidates))]
    pub client: Option<String>,

    /// The agent to start through askbridge in that editor [default: all]
    pub agent: Option<String>,

    /// Write without asking
    #[arg(long, short)]
    pub yes: bool,

    /// Only show the change, even for an editor or agent that is not installed
    #[arg(long, conflicts_with = "yes")]
    pub print: bool,

    /// Undo an earlier setup
    #[arg(long)]
    pub undo: bool,

    /// The settings file, if it is not in its usual place
    #[arg(long, value_name = "PATH", requires = "client")]
    pub file: Option<PathBuf>,
}
