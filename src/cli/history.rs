//! The options of `askbridge history`.

use clap::{Args, Subcommand};

use super::{help, values};
use crate::{command::HistoryOptions, journal::Filter};

/// Questions that are listed, unless those are lost or the person says how many.
const LISTED: usize = 50;

/// Options of `askbridge history`.
#[derive(Debug, Args)]
#[command(after_help = help::HISTORY, args_conflicts_with_subcommands = true)]
pub struct HistoryArgs {
    /// What to do [default: list questions, the latest first]
    #[command(subcommand)]
    pub action: Option<HistoryAction>,

    /// Those of this session
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,

    /// Those of this folder, and of folders in it
    #[arg(long, value_name = "FOLDER")]
    pub project: Option<String>,

    /// Those that this kind of responder (page, command_line, client, rule and others), or the responder or rule of this
    /// name, settled
    #[arg(long, value_name = "WHO")]
    pub by: Option<String>,

    /// Those that were settled at most so long ago
    #[arg(long, value_name = "TIME", value_parser = values::duration)]
    pub since: Option<humantime::Duration>,

    /// Those that were open when their bridge ended
    #[arg(long, conflicts_with = "by")]
    pub lost: bool,

    /// At most so many [default: 50, and all with --lost]
    #[arg(long, value_name = "COUNT")]
    pub limit: Option<usize>,

    /// Print JSON: the records, with what was decided and perhaps not delivered
    #[arg(long)]
    pub json: bool,
}

/// What `askbridge history` does.
#[derive(Debug, Subcommand)]
pub enum HistoryAction {
    /// Show a question, and how it ended
    Show {
        /// The question's ID
        id: String,

        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print everything as lines of JSON, oldest first
    Export,
    /// Remove what was settled long ago
    Prune {
        /// What was settled longer ago than this
        #[arg(long, value_name = "TIME", value_parser = values::span)]
        older_than: humantime::Duration,
    },
    /// Check that no settlement was changed, cut or left out
    Verify {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

impl HistoryArgs {
    /// Returns what to do.
    pub fn options(&self) -> HistoryOptions {
        match &self.action {
            None => HistoryOptions::List {
                filter: Filter {
                    session: self.session.clone(),
                    project: self.project.clone(),
                    by: self.by.clone(),
                    since: None,
                    unsettled: false,
                    limit: self.limit.or(Some(LISTED).filter(|_| !self.lost)),
                },
                since: self.since.map(Into::into),
                lost: self.lost,
                json: self.json,
            },
            Some(HistoryAction::Show { id, json }) => HistoryOptions::Show { id: id.clone(), json: *json },
            Some(HistoryAction::Export) => HistoryOptions::Export,
            Some(HistoryAction::Prune { older_than }) => HistoryOptions::Prune((*older_than).into()),
            Some(HistoryAction::Verify { json }) => HistoryOptions::Verify { json: *json },
        }
    }
}
