//! Bytes of a terminal in raw mode as strokes: characters, editing keys, and pastes. A terminal marks a paste if it was
//! asked to; without marks, lines that arrive together are one.
//! Pure. What a stroke does to a line is left to `line.rs`.

use crate::limits;

/// Stands before a paste, in terminals that mark pastes.
const PASTE: &[u8] = b"\x1b[200~";
/// Stands behind a paste.
const PASTE_END: &[u8] = b"\x1b[201~";
/// The most bytes of an escape sequence: no key has a longer one.
const SEQUENCE: usize = 32;

/// What a person did at the keyboard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Stroke {
    Char(char),
    Enter,
    /// Removes a character.
    Backspace,
    /// Removes a word.
    Word,
    /// Removes everything.
    Clear,
    /// Ctrl-D.
    End,
    /// A paste. Its line breaks are newlines.
    Paste(String),
    /// A paste that is too long.
    TooLong,
    /// The end of what was thrown away.
    Nothing,
}

/// The bytes that are no stroke yet.
#[derive(Debug, Default)]
pub(super) struct Strokes {
    held: Vec<u8>,
    /// The paste that has begun, and not ended.
    paste: Option<Vec<u8>>,
    /// Whether that paste is thrown away.
    is_disowned: bool,
}

/// What a sequence of bytes begins with.
enum Begins {
    Stroke(Stroke),
    Paste,
    /// Nothing that matters to a line.
    Nothing,
}

impl Strokes {
    /// Returns whether the next bytes belong to those before.
    pub(super) fn is_unfinished(&self) -> bool {
        self.paste.is_some() || !self.held.is_empty()
    }

    /// Drops the beginning of a sequence that did not continue: the Esc key sends the same byte.
    pub(super) fn expire(&mut self) {
        if self.paste.is_none() {
            self.held.clear();
        }
    }

    /// Throws away what has begun. A paste is thrown away to its end.
    pub(super) fn disown(&mut self) {
        self.expire();
        self.is_disowned = self.paste.is_some();
    }

    /// Returns the strokes of bytes that arrived together.
    pub(super) fn read(&mut self, bytes: &[u8]) -> Vec<Stroke> {
        let mut held = std::mem::take(&mut self.held);
        held.extend(bytes);
        let (mut rest, mut strokes) = (&*held, Vec::new());
        loop {
            if self.paste.is_some() {
                match self.pasted(&mut rest) {
                    Some(stroke) => strokes.push(stroke),
                    None => break,
                }
            }
            let Some((length, begins)) = next(rest) else { break };
            rest = &rest[length..];
            match begins {
                Begins::Stroke(stroke) => strokes.push(stroke),
                Begins::Paste => self.paste = Some(Vec::new()),
                Begins::Nothing => {}
            }
        }
        self.held = rest.to_vec();
        together(strokes)
    }

    /// Continues the paste that has begun with these bytes; returns it once it has ended.
    fn pasted(&mut self, rest: &mut &[u8]) -> Option<Stroke> {
        let paste = self.paste.as_mut()?;
        let end = rest.windows(PASTE_END.len()).position(|part| part == PASTE_END);
        // The end may itself arrive in two pieces.
        let within = end.unwrap_or_else(|| rest.len().saturating_sub(PASTE_END.len() - 1));
        let room = (limits::TYPED + 1).saturating_sub(paste.len());
        paste.extend(rest[..within].iter().take(room));
        *rest = &rest[within..];
        end?;
        *rest = &rest[PASTE_END.len()..];
        let paste = self.paste.take()?;
        Some(if std::mem::take(&mut self.is_disowned) { Stroke::Nothing } else { stroke(&paste) })
    }
}

fn stroke(paste: &[u8]) -> Stroke {
    match paste.len() > limits::TYPED {
        true => Stroke::TooLong,
        false => Stroke::Paste(unified(&String::from_utf8_lossy(paste))),
    }
}

/// Returns a text whose line breaks are newlines: terminals send carriage returns.
fn unified(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\r', "\n")
}

/// Returns the stroke that these bytes begin with, and its length; `None` if more bytes are needed to tell.
fn next(bytes: &[u8]) -> Option<(usize, Begins)> {
    let stroke = |stroke| Some((1, Begins::Stroke(stroke)));
    match *bytes.first()? {
        b'\r' if bytes.get(1) == Some(&b'\n') => Some((2, Begins::Stroke(Stroke::Enter))),
        b'\r' | b'\n' => stroke(Stroke::Enter),
        0x7f | 0x08 => stroke(Stroke::Backspace),
        // Ctrl-W and Ctrl-U.
        0x17 => stroke(Stroke::Word),
        0x15 => stroke(Stroke::Clear),
        0x04 => stroke(Stroke::End),
        0x1b => sequence(bytes),
        b'\t' => stroke(Stroke::Char('\t')),
        0..0x20 => Some((1, Begins::Nothing)),
        _ => character(bytes),
    }
}

/// Returns what an escape sequence begins: a paste, or nothing. Keys such as the arrows do nothing in a line.
fn sequence(bytes: &[u8]) -> Option<(usize, Begins)> {
    let length = match bytes.get(1)? {
        b'[' => {
            let end = bytes.iter().skip(2).take(SEQUENCE).position(|byte| (0x40..=0x7e).contains(byte));
            end.map(|end| end + 3).or((bytes.len() >= SEQUENCE).then_some(SEQUENCE))?
        }
        b'O' if bytes.len() < 3 => return None,
        b'O' => 3,
        _ => 2,
    };
    Some((length, if &bytes[..length] == PASTE { Begins::Paste } else { Begins::Nothing }))
}

fn character(bytes: &[u8]) -> Option<(usize, Begins)> {
    // A character has at most four bytes.
    let bytes = &bytes[..bytes.len().min(4)];
    let first = bytes.utf8_chunks().next()?;
    match first.valid().chars().next() {
        Some(c) => Some((c.len_utf8(), Begins::Stroke(Stroke::Char(c)))),
        // The rest of a character may not have arrived yet.
        None if first.invalid().len() == bytes.len() && bytes.len() < 4 => None,
        None => Some((first.invalid().len().max(1), Begins::Nothing)),
    }
}

/// Turns strokes that arrived together into one paste if there are several lines among them: a person presses Enter, and
/// then reads.
fn together(strokes: Vec<Stroke>) -> Vec<Stroke> {
    let first = strokes.iter().position(|stroke| *stroke == Stroke::Enter);
    if first.is_none_or(|first| first + 1 == strokes.len()) {
        return strokes;
    }
    let mut text = String::new();
    for stroke in strokes {
        match stroke {
            Stroke::Char(c) => text.push(c),
            Stroke::Enter => text.push('\n'),
            Stroke::Paste(paste) => text += &paste,
            Stroke::Backspace | Stroke::Word | Stroke::Clear | Stroke::End | Stroke::Nothing => {}
            Stroke::TooLong => return vec![Stroke::TooLong],
        }
    }
    vec![stroke(text.as_bytes())]
}

#[cfg(test)]
mod tests {
    use super::{Stroke::*, *};

    fn read(pieces: &[&str]) -> Vec<Stroke> {
        let mut strokes = Strokes::default();
        pieces.iter().flat_map(|piece| strokes.read(piece.as_bytes())).collect()
    }

    fn typed(text: &str) -> Vec<Stroke> {
        text.chars().map(|c| if c == '\n' { Enter } else { Char(c) }).collect()
    }

    fn pasted(text: &str) -> Vec<Stroke> {
        vec![Paste(text.to_owned())]
    }

    #[test]
    fn one_line_is_typed_and_several_that_arrive_together_are_a_paste() {
        for (pieces, expected) in [
            (&["yes\r"][..], typed("yes\n")),
            (&["yes\n"], typed("yes\n")),
            (&["yes\r\n"], typed("yes\n")),
            (&["1", "\r"], typed("1\n")),
            (&["1\r", "2\r"], typed("1\n2\n")),
            (&["1\r2\r"], pasted("1\n2\n")),
            (&["1\r2"], pasted("1\n2")),
            (&["\r\r"], pasted("\n\n")),
            (&["a\r\nb\r\n"], pasted("a\nb\n")),
            (&["\x1b[200~yes\r\x1b[201~"], pasted("yes\n")),
            (&["\x1b[200~a\r\n\r\nb\x1b[201~"], pasted("a\n\nb")),
            (&["\x1b[2", "00~a\rb", "\x1b[20", "1~"], pasted("a\nb")),
            (&["\x1b[200~", "é".repeat(3).as_str(), "\x1b[201~"], pasted("ééé")),
            (&["\x1b[200~x\x1b[201~\r"], [pasted("x"), typed("\n")].concat()),
            (&["\x1b[200~x\x1b[201~\ry\r"], pasted("x\ny\n")),
            (&["\x1b[A\x1bOB\x1bxé"], typed("é")),
            (&["a\x7f\x17\x15\x04"], vec![Char('a'), Backspace, Word, Clear, End]),
            (&["\0\x01\x0b"], Vec::new()),
        ] {
            assert_eq!(read(pieces), expected, "{pieces:?}");
        }
    }

    #[test]
    fn a_character_may_arrive_in_pieces_and_broken_ones_are_left_out() {
        let mut strokes = Strokes::default();
        let bytes = "認".as_bytes();
        assert_eq!(strokes.read(&bytes[..2]), []);
        assert!(strokes.is_unfinished());
        assert_eq!(strokes.read(&bytes[2..]), typed("認"));
        assert_eq!(strokes.read(b"\xff\xfea\xc3"), typed("a"));
        strokes.expire();
        assert_eq!(strokes.read(b"b"), typed("b"));
    }

    #[test]
    fn a_lone_escape_swallows_no_later_key() {
        let mut strokes = Strokes::default();
        assert_eq!(strokes.read(b"\x1b"), []);
        strokes.expire();
        assert_eq!(strokes.read(b"y"), typed("y"));
        // A paste does not end by itself.
        strokes.read(b"\x1b[200~a");
        strokes.expire();
        assert_eq!(strokes.read(b"\rb\x1b[201~"), pasted("a\nb"));
    }

    #[test]
    fn what_has_begun_can_be_thrown_away() {
        let mut strokes = Strokes::default();
        strokes.read(b"\x1b[200~1\ry");
        strokes.disown();
        assert_eq!(strokes.read(b"es\r\x1b[201~"), [Nothing]);
        assert_eq!(strokes.read(b"\x1b[200~a\x1b[201~"), pasted("a"));
        strokes.read(b"\xc3");
        strokes.disown();
        assert_eq!(strokes.read(b"2"), typed("2"));
    }

    #[test]
    fn a_paste_is_bounded() {
        let long = "x".repeat(limits::TYPED);
        assert_eq!(read(&["\x1b[200~", &long, "\x1b[201~"]), pasted(&long));
        assert_eq!(read(&["\x1b[200~", &long, "x\x1b[201~"]), [TooLong]);
        assert_eq!(read(&[&format!("\r{long}")]), [TooLong]);
    }
}
