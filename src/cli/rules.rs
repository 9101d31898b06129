//! The options of `askbridge rules`.

use clap::{Args, Subcommand};

use super::{help, values};
use crate::command::RulesOptions;

/// Options of `askbridge rules`.
#[derive(Debug, Args)]
#[command(after_help = help::RULES)]
pub struct RulesArgs {
    /// What to do with the rules.
    #[command(subcommand)]
    pub action: RulesAction,
}

/// What `askbridge rules` does.
#[derive(Debug, Subcommand)]
pub enum RulesAction {
    /// List the rules in their order
    List,
    /// Name each mistake with its place
    Check,
    /// Say what the rules would do with a question, and why; nothing is done
    Try {
        /// The question's ID; it may be settled already
        #[arg(required_unless_present = "history")]
        id: Option<String>,

        /// Say it of all questions of the journal
        #[arg(long, conflicts_with = "id")]
        history: bool,

        /// With --history: of those that were settled at most so long ago
        #[arg(long, value_name = "TIME", value_parser = values::duration, requires = "history")]
        since: Option<humantime::Duration>,
    },
    /// Apply the rules to what is open now, after showing what that does
    Apply {
        /// The question's ID [default: all that is open]
        id: Option<String>,
        /// Do it without asking
        #[arg(long)]
        yes: bool,
    },
}

impl RulesArgs {
    /// Returns what to do.
    pub fn options(&self) -> RulesOptions {
        match &self.action {
            RulesAction::List => RulesOptions::List,
            RulesAction::Check => RulesOptions::Check,
            RulesAction::Try { id: Some(id), .. } => RulesOptions::Try(id.clone()),
            RulesAction::Try { id: None, since, .. } => RulesOptions::TryHistory(since.map(Into::into)),
            RulesAction::Apply { id, yes } => RulesOptions::Apply { id: id.clone(), yes: *yes },
        }
    }
}
