//! How a terminal draws attention to itself: a bell, its title, and its own notification where it is known to have
//! one.
//! When that happens is left to `notify` and to `command/tui`.

use askbridge_os::terminal::{cut, printable_line};

/// The most columns of a notification's text.
const TEXT: usize = 120;

/// The kind of the terminal, as far as the environment tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TerminalKind {
    /// Notifies by OSC 9: iTerm2 and others.
    Osc9,
    /// Notifies by OSC 777: urxvt, foot, WezTerm, Ghostty.
    Osc777,
    /// Notifies by OSC 99: kitty.
    Osc99,
    /// Has a bell and a title.
    Other,
    /// Has only a bell, and prints other sequences as text: the Linux console, dumb terminals.
    Plain,
}

impl TerminalKind {
    /// Determines the kind of the terminal from its environment variables.
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        let term = variable("TERM").unwrap_or_default();
        let is_inside = variable("TMUX").is_some() || variable("STY").is_some();
        let program = variable("TERM_PROGRAM").unwrap_or_default();
        match (&*term, &*program) {
            ("" | "dumb" | "linux", _) => TerminalKind::Plain,
            // Within tmux or screen, the variables of the outer terminal may be inherited, but its sequences do not
            // pass.
            _ if is_inside => TerminalKind::Other,
            (_, "iTerm.app") => TerminalKind::Osc9,
            (_, "WezTerm" | "ghostty") => TerminalKind::Osc777,
            ("xterm-kitty", _) => TerminalKind::Osc99,
            ("foot" | "foot-extra" | "xterm-ghostty" | "rxvt-unicode" | "rxvt-unicode-256color", _) => {
                TerminalKind::Osc777
            }
            _ => TerminalKind::Other,
        }
    }

    /// Returns whether the terminal can report keys with modifiers, such as Ctrl+Enter, if it is asked to.
    pub fn tells_modifiers(self) -> bool {
        matches!(self, TerminalKind::Osc9 | TerminalKind::Osc777 | TerminalKind::Osc99)
    }

    /// Returns the bytes that notify the user that something waits.
    pub fn tell(self, text: &str) -> String {
        // A printable text has no control characters, so it cannot end the sequence (I10). A semicolon would end a
        // parameter.
        let text = cut(&printable_line(text), TEXT).replace(';', ",");
        let own = match self {
            TerminalKind::Osc9 => format!("\x1b]9;askbridge: {text}\x07"),
            TerminalKind::Osc777 => format!("\x1b]777;notify;askbridge;{text}\x07"),
            TerminalKind::Osc99 => format!("\x1b]99;;askbridge: {text}\x1b\\"),
            TerminalKind::Other | TerminalKind::Plain => String::new(),
        };
        own + "\x07"
    }

    /// Returns the bytes that set the title for so many open questions.
    pub fn title(self, open: usize) -> String {
        match (self, open) {
            (TerminalKind::Plain, _) => String::new(),
            (_, 0) => "\x1b]2;askbridge\x07".to_owned(),
            (_, open) => format!("\x1b]2;({open}) askbridge\x07"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(variables: &[(&str, &str)]) -> TerminalKind {
        TerminalKind::of(|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn a_terminal_is_told_only_what_it_knows() {
        for (variables, expected) in [
            (&[("TERM", "xterm-kitty")][..], TerminalKind::Osc99),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "iTerm.app")], TerminalKind::Osc9),
            (&[("TERM", "xterm-256color"), ("TERM_PROGRAM", "WezTerm")], TerminalKind::Osc777),
            (&[("TERM", "foot")], TerminalKind::Osc777),
            (&[("TERM", "tmux-256color"), ("TERM_PROGRAM", "tmux"), ("TMUX", "x")], TerminalKind::Other),
            (&[("TERM", "xterm-kitty"), ("TMUX", "x")], TerminalKind::Other),
            (&[("TERM", "linux")], TerminalKind::Plain),
            (&[], TerminalKind::Plain),
            (&[("TERM", "xterm-256color")], TerminalKind::Other),
        ] {
            assert_eq!(known(variables), expected, "{variables:?}");
        }
    }

    #[test]
    fn text_of_an_agent_cannot_end_the_sequence() {
        for known in [
            TerminalKind::Osc9,
            TerminalKind::Osc777,
            TerminalKind::Osc99,
            TerminalKind::Other,
            TerminalKind::Plain,
        ] {
            let told = known.tell("a\x07b\x1b\\c\u{9c}d;e\n");
            let body = told.trim_end_matches('\x07').trim_start_matches("\x1b]").trim_end_matches("\x1b\\");
            assert!(!body.chars().any(char::is_control), "{told:?}");
            assert!(told.ends_with('\x07'), "{told:?}");
        }
        assert_eq!(TerminalKind::Other.tell("x"), "\x07");
        assert_eq!(TerminalKind::Other.title(3), "\x1b]2;(3) askbridge\x07");
    }
}
