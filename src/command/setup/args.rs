//! The arguments of `askbridge setup` and `askbridge doctor`.

use std::path::PathBuf;

use clap::Args;

use crate::command::{DoctorOptions, SetupOptions, help};

/// Options of `askbridge setup`.
#[derive(Debug, Args)]
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

    /// Take out what was put in
    #[arg(long)]
    pub undo: bool,

    /// The settings file, if it is not in its usual place
    #[arg(long, value_name = "PATH", requires = "client")]
    pub file: Option<PathBuf>,
}

impl SetupArgs {
    /// Returns what to change, and how.
    pub fn options(&self) -> SetupOptions {
        SetupOptions {
            client: self.client.clone(),
            agent: self.agent.clone(),
            file: self.file.clone(),
            yes: self.yes,
            print: self.print,
            undo: self.undo,
        }
    }
}

/// Options of `askbridge doctor`.
#[derive(Debug, Args)]
#[command(after_help = help::DOCTOR)]
pub struct DoctorArgs {
    /// Print JSON (schema: doctor_report.schema.json)
    #[arg(long)]
    pub json: bool,

    /// Send a test in each way in which you are told that a question waits
    #[cfg(feature = "notify")]
    #[arg(long)]
    pub notify: bool,
}

impl DoctorArgs {
    /// Returns what to print.
    pub fn options(&self) -> DoctorOptions {
        DoctorOptions {
            json: self.json,
            #[cfg(feature = "notify")]
            notify: self.notify,
        }
    }
}
