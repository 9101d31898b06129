//! One line of the current question, with what it belongs to. What is on it is left to `card.rs` and `field.rs`.

use ratatui::{style::Style, text::Line};

/// One line of a question on the screen.
#[derive(Clone, Debug, Default)]
pub(super) struct CardLine {
    /// The line.
    pub(super) line: Line<'static>,
    /// The row of the field that it belongs to.
    pub(super) row: Option<usize>,
    /// The column of the cursor of a text that is typed.
    pub(super) cursor: Option<u16>,
}

impl CardLine {
    pub(super) fn new(text: impl Into<String>, style: Style) -> Self {
        CardLine { line: Line::styled(text.into(), style), ..CardLine::default() }
    }
}
