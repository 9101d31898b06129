//! The styles of the parts of the screen: colours, or without them (`NO_COLOR`) weight alone.

use ratatui::style::{Color, Modifier, Style};

use crate::present::subject::Tone;

/// The styles of the screen. Colours are those of the terminal's own palette, so that they suit its background.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Theme {
    /// Whether colours are shown.
    pub colour: bool,
}

impl Theme {
    fn coloured(self, colour: Color) -> Style {
        if self.colour { Style::new().fg(colour) } else { Style::new() }
    }

    /// Emphasis: headings, labels.
    pub fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// Side remarks.
    pub fn muted(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    /// Danger, and mistakes.
    pub fn danger(self) -> Style {
        self.coloured(Color::Red).add_modifier(Modifier::BOLD)
    }

    /// Success.
    pub fn good(self) -> Style {
        self.coloured(Color::Green)
    }

    /// Selected or added rows.
    pub fn accent(self) -> Style {
        self.coloured(Color::Cyan).add_modifier(Modifier::BOLD)
    }

    /// Deadlines that are close.
    pub fn warning(self) -> Style {
        self.coloured(Color::Yellow).add_modifier(Modifier::BOLD)
    }

    /// A part of a change.
    pub fn tone(self, tone: Tone) -> Style {
        match tone {
            Tone::Plain => Style::new(),
            Tone::Removed => self.coloured(Color::Red),
            Tone::RemovedWord => self.coloured(Color::Red).add_modifier(Modifier::REVERSED),
            Tone::Added => self.coloured(Color::Green),
            Tone::AddedWord => self.coloured(Color::Green).add_modifier(Modifier::REVERSED),
            Tone::Fold => self.muted(),
        }
    }

    /// The line with the cursor, in the part that keys act on or in the other one.
    pub fn selected(self, is_active: bool) -> Style {
        if is_active { Style::new().add_modifier(Modifier::REVERSED) } else { self.strong() }
    }
}
