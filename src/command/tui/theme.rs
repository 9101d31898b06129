//! The styles of the parts of the screen: colours, or without them (`NO_COLOR`) weight alone.

use anstyle::{AnsiColor, Effects};
use ratatui::style::{Color, Modifier, Style};

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

    /// A style that is meant for any terminal.
    pub fn look(self, look: anstyle::Style) -> Style {
        let effects = [
            (Effects::BOLD, Modifier::BOLD),
            (Effects::DIMMED, Modifier::DIM),
            (Effects::ITALIC, Modifier::ITALIC),
            (Effects::UNDERLINE, Modifier::UNDERLINED),
            (Effects::STRIKETHROUGH, Modifier::CROSSED_OUT),
            (Effects::INVERT, Modifier::REVERSED),
        ];
        let colour = match look.get_fg_color() {
            Some(anstyle::Color::Ansi(AnsiColor::Red)) => self.coloured(Color::Red),
            Some(anstyle::Color::Ansi(AnsiColor::Green)) => self.coloured(Color::Green),
            Some(anstyle::Color::Ansi(AnsiColor::Cyan)) => self.coloured(Color::Cyan),
            Some(anstyle::Color::Ansi(AnsiColor::Yellow)) => self.coloured(Color::Yellow),
            Some(anstyle::Color::Ansi(AnsiColor::Magenta)) => self.coloured(Color::Magenta),
            _ => Style::new(),
        };
        let has = effects.into_iter().filter(|(effect, _)| look.get_effects().contains(*effect));
        has.fold(colour, |style, (_, modifier)| style.add_modifier(modifier))
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

    /// The line with the cursor, in the part that keys act on or in the other one.
    pub fn selected(self, is_active: bool) -> Style {
        if is_active { Style::new().add_modifier(Modifier::REVERSED) } else { self.strong() }
    }
}
