//! How parts of the screen look: by colours, or without them by weight alone (`NO_COLOR`).

use ratatui::style::{Color, Modifier, Style};

/// The looks of the screen. Colours are those of the terminal's own palette, so that they suit its background.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Theme {
    /// Whether colours are shown.
    pub colour: bool,
}

impl Theme {
    fn coloured(self, colour: Color) -> Style {
        if self.colour { Style::new().fg(colour) } else { Style::new() }
    }

    /// What stands out: headings, labels.
    pub fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// What is said beside.
    pub fn muted(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    /// What can do harm, or is wrong.
    pub fn danger(self) -> Style {
        self.coloured(Color::Red).add_modifier(Modifier::BOLD)
    }

    /// What is well.
    pub fn good(self) -> Style {
        self.coloured(Color::Green)
    }

    /// What is added or chosen.
    pub fn accent(self) -> Style {
        self.coloured(Color::Cyan).add_modifier(Modifier::BOLD)
    }

    /// What needs the person soon.
    pub fn warning(self) -> Style {
        self.coloured(Color::Yellow).add_modifier(Modifier::BOLD)
    }

    /// What a change adds.
    pub fn added(self) -> Style {
        self.coloured(Color::Green)
    }

    /// What a change removes.
    pub fn removed(self) -> Style {
        self.coloured(Color::Red)
    }

    /// The line with the cursor, in the part that keys act on or in the other one.
    pub fn selected(self, is_active: bool) -> Style {
        if is_active { Style::new().add_modifier(Modifier::REVERSED) } else { self.strong() }
    }
}
