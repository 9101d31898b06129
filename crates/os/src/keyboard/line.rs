//! A line that a person types, as it grows: what each stroke does to it, and what is shown of that. The cursor only moves
//! back over characters that are removed.
//! Pure. Where strokes come from is left to `strokes.rs`, and when they count to `taken.rs`.

use super::strokes::Stroke;
use crate::{
    limits,
    terminal::{printable, printable_line, width},
};

/// What a prompt takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Takes {
    /// Whether a paste may have line breaks. They are a part of the text then.
    pub lines: bool,
    /// Whether what is typed is not shown.
    pub secret: bool,
}

/// What a person gave at a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A line, or a text with line breaks where the prompt takes those.
    Text {
        /// The text.
        text: String,
        /// Whether a part of it was pasted.
        is_pasted: bool,
    },
    /// This many lines were pasted where the prompt takes one. Nothing of them was taken.
    Lines(usize),
    /// The text is too long. Nothing of it was taken.
    TooLong,
    /// The person threw a text of several lines away.
    Cleared,
    /// The end of the input.
    End,
}

/// A line that is typed.
#[derive(Debug, Default)]
pub(super) struct Line {
    takes: Takes,
    text: String,
    is_pasted: bool,
}

impl Line {
    pub(super) fn new(takes: Takes) -> Self {
        Line { takes, ..Line::default() }
    }

    /// Returns what is shown of the text.
    pub(super) fn shown(&self) -> String {
        if self.takes.secret { String::new() } else { shown(&self.text) }
    }

    /// Takes a stroke. Returns what the terminal shows next, and the entry if the stroke ends it.
    pub(super) fn take(&mut self, stroke: Stroke) -> (String, Option<Entry>) {
        match stroke {
            Stroke::Char(c) => self.insert(c.encode_utf8(&mut [0; 4])),
            Stroke::Paste(paste) => self.paste(&paste),
            Stroke::TooLong => ("\n".to_owned(), Some(Entry::TooLong)),
            Stroke::Enter => {
                let (text, is_pasted) = (std::mem::take(&mut self.text), self.is_pasted);
                ("\n".to_owned(), Some(Entry::Text { text, is_pasted }))
            }
            Stroke::Backspace => (self.remove(1), None),
            Stroke::Word => {
                let word = self.text.trim_end_matches(' ').rsplit([' ', '\n']).next().unwrap_or_default();
                let spaces = self.text.len() - self.text.trim_end_matches(' ').len();
                (self.remove(word.chars().count() + spaces), None)
            }
            Stroke::Clear if self.text.contains('\n') => ("\n".to_owned(), Some(Entry::Cleared)),
            Stroke::Clear => (self.remove(usize::MAX), None),
            Stroke::End if self.text.is_empty() => (String::new(), Some(Entry::End)),
            // Only an empty line is an end: a slip must not throw a text away.
            Stroke::End | Stroke::Nothing => (String::new(), None),
        }
    }

    fn insert(&mut self, text: &str) -> (String, Option<Entry>) {
        if self.text.len() + text.len() > limits::TYPED {
            return ("\n".to_owned(), Some(Entry::TooLong));
        }
        self.text += text;
        (if self.takes.secret { String::new() } else { shown(text) }, None)
    }

    fn paste(&mut self, paste: &str) -> (String, Option<Entry>) {
        // Whoever copies a whole line copies the line break behind it, too.
        let paste = paste.strip_suffix('\n').unwrap_or(paste);
        let lines = paste.split('\n').count();
        if lines > 1 && !self.takes.lines {
            return ("\n".to_owned(), Some(Entry::Lines(lines)));
        }
        self.is_pasted = true;
        self.insert(paste)
    }

    /// Removes this many characters with the marks on them, as far as the beginning of the last line, or a line break.
    fn remove(&mut self, count: usize) -> String {
        let mut shown_again = String::new();
        for _ in 0..count {
            let Some(last) = self.text.pop() else { break };
            if last == '\n' {
                // No cursor moves up: the line before is shown again.
                let line = self.text.rsplit('\n').next().unwrap_or_default();
                shown_again = format!("\n{}", if self.takes.secret { String::new() } else { shown(line) });
                break;
            }
            let columns = if self.takes.secret { 0 } else { width(&shown_char(last)) };
            shown_again += &"\x08 \x08".repeat(columns);
        }
        shown_again
    }
}

/// Returns a text as the terminal shows it.
fn shown(text: &str) -> String {
    printable(text).replace('\t', " ")
}

fn shown_char(c: char) -> String {
    let text = c.to_string();
    if c == '\t' { " ".to_owned() } else { printable_line(&text).into_owned() }
}

#[cfg(test)]
mod tests {
    use super::{super::strokes::Strokes, *};

    /// Types these pieces, and returns what is shown and what they led to.
    fn play(takes: Takes, pieces: &[&str]) -> (String, Vec<Entry>) {
        let (mut strokes, mut line) = (Strokes::default(), Line::new(takes));
        let (mut shown, mut entries) = (String::new(), Vec::new());
        for stroke in pieces.iter().flat_map(|piece| strokes.read(piece.as_bytes())) {
            let (more, entry) = line.take(stroke);
            shown += &more;
            entries.extend(entry);
        }
        (shown, entries)
    }

    fn text(text: &str, is_pasted: bool) -> Vec<Entry> {
        vec![Entry::Text { text: text.to_owned(), is_pasted }]
    }

    #[test]
    fn what_is_typed_is_shown_and_taken() {
        let one = Takes::default();
        for (pieces, shown, entries) in [
            (&["yes", "\r"][..], "yes\n", text("yes", false)),
            (&["ab\x7fc\r"], "ab\x08 \x08c\n", text("ac", false)),
            (&["認\x7f\r"], "認\x08 \x08\x08 \x08\n", text("", false)),
            (&["e\u{301}\x7f\x7f\r"], "e\u{301}\x08 \x08\n", text("", false)),
            (&["\x7f\r"], "\n", text("", false)),
            (&["one two \x17x\r"], &format!("one two {}x\n", "\x08 \x08".repeat(4)), text("one x", false)),
            (&["ab\x15c\r"], "ab\x08 \x08\x08 \x08c\n", text("c", false)),
            (&["\x04"], "", vec![Entry::End]),
            (&["a\x04\r"], "a\n", text("a", false)),
            (&["\x1b[200~a b\r\x1b[201~", "\r"], "a b\n", text("a b", true)),
            (&["\x1b[200~a\u{9b}31m\x1b[201~"], "a\\u{9b}31m", vec![]),
            (&["\x1b[200~a\rb\x1b[201~"], "\n", vec![Entry::Lines(2)]),
            (&["1\ryes\rls\r"], "\n", vec![Entry::Lines(3)]),
        ] {
            assert_eq!(play(one, pieces), (shown.to_owned(), entries), "{pieces:?}");
        }
    }

    #[test]
    fn a_text_keeps_the_line_breaks_of_a_paste() {
        let lines = Takes { lines: true, secret: false };
        for (pieces, shown, entries) in [
            (&["\x1b[200~a:\r  - b\r\x1b[201~", "\r"][..], "a:\n  - b\n", text("a:\n  - b", true)),
            (&["a\rb\r", "\r"], "a\nb\n", text("a\nb", true)),
            (&["see ", "a\rb\r", ".", "\r"], "see a\nb.\n", text("see a\nb.", true)),
            (&["a\rb", "\x7f\x7f\x7f", "c", "\r"], "a\nb\x08 \x08\na\x08 \x08c\n", text("c", true)),
            (&["a\rb", "\x15"], "a\nb\n", vec![Entry::Cleared]),
        ] {
            assert_eq!(play(lines, pieces), (shown.to_owned(), entries), "{pieces:?}");
        }
    }

    #[test]
    fn a_secret_is_not_shown() {
        let secret = Takes { lines: true, secret: true };
        assert_eq!(play(secret, &["hunter\x7f\x17x", "\r"]), ("\n".to_owned(), text("x", false)));
        assert_eq!(play(secret, &["a\rb\r", "\r"]), ("\n".to_owned(), text("a\nb", true)));
    }

    #[test]
    fn what_is_typed_is_bounded() {
        let mut line = Line::new(Takes::default());
        assert_eq!(line.take(Stroke::Paste("x".repeat(limits::TYPED))).1, None);
        assert_eq!(line.take(Stroke::Char('x')).1, Some(Entry::TooLong));
    }
}
