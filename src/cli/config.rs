//! The options of `askbridge config`.

use clap::{Args, Subcommand};
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};

use super::help;
use crate::{command::ConfigOptions, settings::keys};

/// Options of `askbridge config`.
#[derive(Debug, Args)]
#[command(after_help = help::CONFIG, args_conflicts_with_subcommands = true)]
pub struct ConfigArgs {
    /// Show behind each value where it comes from
    #[arg(long)]
    pub origin: bool,

    /// Print JSON: every value with where it comes from, and what is wrong
    #[arg(long)]
    pub json: bool,

    /// What to do instead of showing all.
    #[command(subcommand)]
    pub action: Option<ConfigAction>,
}

/// What `askbridge config` does.
#[derive(Debug, Subcommand)]
pub enum ConfigAction {
    /// Print the value of a setting
    Get {
        /// The setting, such as notify.delay
        #[arg(add = ArgValueCandidates::new(candidates))]
        key: String,
    },
    /// Set a value in your own file, and leave everything else in it as it is
    Set {
        /// The setting, such as notify.delay
        #[arg(add = ArgValueCandidates::new(candidates))]
        key: String,
        /// The value; several are the entries of a list, such as a program and its arguments
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true)]
        value: Vec<String>,
    },
    /// Take a setting out of your own file
    Unset {
        /// The setting, such as notify.delay
        #[arg(add = ArgValueCandidates::new(candidates))]
        key: String,
    },
    /// Print where your own file is
    Path,
    /// Open your own file in $VISUAL or $EDITOR, and check it afterwards
    Edit,
}

/// Returns the names of the settings, for shells.
fn candidates() -> Vec<CompletionCandidate> {
    let candidate = |key: &&dyn crate::settings::AnyKey| {
        CompletionCandidate::new(key.path()).help(Some(key.about().to_owned().into()))
    };
    keys::ALL.iter().map(candidate).collect()
}

impl ConfigArgs {
    /// Returns what to do.
    pub fn options(&self) -> ConfigOptions {
        match &self.action {
            None => ConfigOptions::Show { origin: self.origin, json: self.json },
            Some(ConfigAction::Get { key }) => ConfigOptions::Get(key.clone()),
            Some(ConfigAction::Set { key, value }) => ConfigOptions::Set(key.clone(), value.clone()),
            Some(ConfigAction::Unset { key }) => ConfigOptions::Unset(key.clone()),
            Some(ConfigAction::Path) => ConfigOptions::Path,
            Some(ConfigAction::Edit) => ConfigOptions::Edit,
        }
    }
}
