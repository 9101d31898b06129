//! The arguments of `askbridge notify`.

use std::path::PathBuf;

use clap::Args;

use super::help;
use crate::command::NotifyOptions;

/// Options of `askbridge notify`.
#[derive(Debug, Args)]
#[command(after_help = help::NOTIFY)]
pub struct NotifyArgs {
    /// The question's ID
    pub id: String,

    /// Tell at once: without the delay, in quiet hours, and while you are there
    #[arg(long)]
    pub now: bool,

    /// Say on stderr only what fails: a bridge reads it
    #[arg(long, hide = true)]
    pub background: bool,

    /// The terminal of the bridge
    #[arg(long, hide = true, value_name = "PATH")]
    pub terminal: Option<PathBuf>,
}

impl NotifyArgs {
    /// Returns which question is told, and how.
    pub fn options(&self) -> NotifyOptions {
        NotifyOptions {
            id: self.id.clone(),
            now: self.now,
            background: self.background,
            terminal: self.terminal.clone(),
        }
    }
}
