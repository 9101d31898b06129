//! The arguments of the commands that need a terminal.

use clap::Args;

use super::help;
#[cfg(feature = "tui")]
use crate::tui::TuiOptions;

/// Options of `askbridge next`.
#[derive(Debug, Args)]
#[command(after_help = help::NEXT)]
pub struct NextArgs {}

/// Options of `askbridge tui`.
#[cfg(feature = "tui")]
#[derive(Debug, Args)]
#[command(after_help = help::TUI)]
pub struct TuiArgs {
    /// Take clicks and the wheel of the mouse; hold Shift to select text then
    #[arg(long)]
    pub mouse: bool,
}

#[cfg(feature = "tui")]
impl TuiArgs {
    /// Returns how the inbox is shown.
    pub fn options(&self) -> TuiOptions {
        TuiOptions { mouse: self.mouse }
    }
}
