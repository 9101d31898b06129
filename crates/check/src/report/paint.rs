//! Colours, the width of the terminal, and lines of text.

use std::fmt::Write;

use anstyle::{AnsiColor, Style};

pub(super) const GREEN: Style = AnsiColor::Green.on_default().bold();
pub(super) const RED: Style = AnsiColor::Red.on_default().bold();
pub(super) const YELLOW: Style = AnsiColor::Yellow.on_default().bold();
pub(super) const PLAIN: Style = Style::new();
pub(super) const DIM: Style = Style::new().dimmed();
pub(super) const BOLD: Style = Style::new().bold();

/// How a text is shown.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paint {
    pub(super) is_coloured: bool,
    /// The columns of the terminal, if the output is one.
    pub(super) columns: Option<usize>,
}

impl Paint {
    /// Returns a text in this style, if colours are wanted.
    pub(super) fn text(self, style: Style, text: &str) -> String {
        if self.is_coloured { painted(style, text) } else { text.to_owned() }
    }
}

pub(super) fn painted(style: Style, text: &str) -> String {
    format!("{style}{text}{style:#}")
}

/// Adds a line.
pub(super) fn put(text: &mut String, line: &str) {
    // A string takes all.
    writeln!(text, "{line}").unwrap_or_default();
}
