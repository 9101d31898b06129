//! How a terminal shows an image, by what it replies to a query, and by its environment.
//! Pure. The query is written, and its replies are waited for, in `inputs.rs`.

use crossterm::event::{Event as Input, KeyCode, KeyEvent, KeyModifiers};

use super::bursts::typed_char;

/// Asks a terminal for its name, whether it takes the images of kitty, for the size of a cell in pixels and, at the end,
/// what it is: every terminal replies to that, and in this order. The image of the query is one black pixel, which is
/// shown nowhere.
pub(super) const QUERY: &str = "\x1b[>q\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\\x1b[16t\x1b[c";

/// The pixels of a half block and the one below.
const HALVES: Cell = Cell { width: 1, height: 2 };
/// The size of a cell where the terminal does not tell it, and fits an image to its cells by itself.
const USUAL: Cell = Cell { width: 10, height: 20 };
/// Pixels of a side of a cell: a terminal that tells more is not believed.
const CELL: u16 = 256;

/// The size of a cell in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cell {
    pub(super) width: u16,
    pub(super) height: u16,
}

impl Cell {
    /// Returns the size of a cell, if this may be one.
    pub(super) fn of(width: u16, height: u16) -> Option<Self> {
        let fits = |side: u16| (1..=CELL).contains(&side);
        (fits(width) && fits(height)).then_some(Cell { width, height })
    }
}

/// How a terminal shows an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Graphics {
    /// By kitty's protocol.
    Kitty(Cell),
    /// By the sequence of iTerm2.
    Iterm2(Cell),
    /// As sixels.
    Sixel(Cell),
    /// As half blocks, in all colours or in those of a palette of 256.
    Blocks {
        /// Whether the terminal has all colours.
        is_true: bool,
    },
    /// Not at all.
    Nothing,
}

impl Graphics {
    /// Decides by the replies, the size of a cell as the kernel knows it, and the environment variables. `colour` says
    /// whether colours may be shown.
    pub(super) fn of(
        replies: &Replies,
        cell: Option<Cell>,
        colour: bool,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Self {
        let has = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
        let term = variable("TERM").unwrap_or_default();
        // Within tmux or screen, the variables are those of the terminal around it, and what that shows does not pass: what
        // replies is tmux itself.
        let is_inside = has("TMUX") || has("STY") || term.starts_with("tmux") || term.starts_with("screen");
        let program = if is_inside { String::new() } else { program(&replies.name, &variable) };
        let is_iterm2 = ["iTerm2", "WezTerm", "Konsole", "mintty"].iter().any(|it| program.starts_with(it));
        match replies.cell.or(cell) {
            cell if replies.kitty => Graphics::Kitty(cell.unwrap_or(USUAL)),
            cell if is_iterm2 => Graphics::Iterm2(cell.unwrap_or(USUAL)),
            // Sixels take as many cells as they have pixels for.
            Some(cell) if replies.sixel => Graphics::Sixel(cell),
            _ if !colour => Graphics::Nothing,
            _ => {
                let is_true = variable("COLORTERM").is_some_and(|it| it == "truecolor" || it == "24bit");
                Graphics::Blocks { is_true }
            }
        }
    }

    /// Returns the size of a cell that an image is fitted to.
    pub(super) fn cell(self) -> Cell {
        match self {
            Graphics::Kitty(cell) | Graphics::Iterm2(cell) | Graphics::Sixel(cell) => cell,
            Graphics::Blocks { .. } | Graphics::Nothing => HALVES,
        }
    }
}

/// Returns the name of a terminal: as it says itself or, where it does not, by the variables that it sets.
fn program(name: &str, variable: &impl Fn(&str) -> Option<String>) -> String {
    if !name.is_empty() {
        return name.to_owned();
    }
    if variable("KONSOLE_VERSION").is_some() {
        return "Konsole".to_owned();
    }
    // ssh takes `LC_TERMINAL` along to another machine.
    let known = [variable("TERM_PROGRAM"), variable("LC_TERMINAL")].into_iter().flatten();
    known.map(|it| it.replace("iTerm.app", "iTerm2")).find(|it| !it.is_empty()).unwrap_or_default()
}

/// The replies of a terminal to [`QUERY`].
#[derive(Debug, Default, PartialEq)]
pub(super) struct Replies {
    /// The name that it gives itself, with its version.
    pub(super) name: String,
    /// Whether it takes kitty's images.
    pub(super) kitty: bool,
    /// Whether it shows sixels.
    pub(super) sixel: bool,
    /// The size of a cell.
    pub(super) cell: Option<Cell>,
    /// Whether the last reply is there.
    pub(super) is_whole: bool,
    /// What came with the replies and counts: Esc, Ctrl+C, and changes of the focus. Other keys mean nothing while an image
    /// is waited for.
    pub(super) typed: Vec<Input>,
}

impl Replies {
    /// Parses the bytes that a terminal sent so far, and ignores unknown sequences.
    pub(super) fn read(bytes: &[u8]) -> Self {
        let (mut replies, mut rest) = (Replies::default(), bytes);
        while let Some((first, behind)) = rest.split_first() {
            rest = match (first, behind.first()) {
                (0x1b, Some(b'[')) => replies.control(&behind[1..]),
                (0x1b, Some(kind @ (b'_' | b'P' | b']' | b'^' | b'X'))) => {
                    replies.string(*kind, &behind[1..])
                }
                (0x1b, None | Some(0x1b)) => {
                    replies.press(KeyCode::Esc, KeyModifiers::NONE);
                    behind
                }
                // A key with Alt, or one of a keypad.
                (0x1b, Some(_)) => &behind[1..],
                (0x03, _) => {
                    replies.press(KeyCode::Char('c'), KeyModifiers::CONTROL);
                    behind
                }
                _ => behind,
            };
        }
        replies
    }

    fn press(&mut self, code: KeyCode, modifiers: KeyModifiers) {
        self.typed.push(Input::Key(KeyEvent::new(code, modifiers)));
    }

    /// Parses a control sequence after its introducer, and returns the remaining bytes.
    fn control<'a>(&mut self, bytes: &'a [u8]) -> &'a [u8] {
        let Some(end) = bytes.iter().position(|byte| (0x40..=0x7e).contains(byte)) else { return &[] };
        let text = String::from_utf8_lossy(&bytes[..end]);
        let numbers: Vec<_> = text.split(';').collect();
        match (bytes[end], &*numbers) {
            // The first number is the class of the terminal.
            (b'c', [class, features @ ..]) if class.starts_with('?') => {
                self.sixel |= features.contains(&"4");
                self.is_whole = true;
            }
            (b't', ["6", height, width]) => {
                let size = width.parse().ok().zip(height.parse().ok());
                self.cell = size.and_then(|(width, height)| Cell::of(width, height));
            }
            (b'I', [""]) => self.typed.push(Input::FocusGained),
            (b'O', [""]) => self.typed.push(Input::FocusLost),
            _ => {}
        }
        &bytes[end + 1..]
    }

    /// Parses a device or application string after its introducer, and returns the remaining bytes.
    fn string<'a>(&mut self, kind: u8, bytes: &'a [u8]) -> &'a [u8] {
        let Some(end) = bytes.iter().position(|byte| matches!(byte, 0x07 | 0x1b)) else { return &[] };
        let text = String::from_utf8_lossy(&bytes[..end]);
        match (kind, text.strip_prefix(">|")) {
            (b'P', Some(name)) => self.name = name.to_owned(),
            (b'_', _) => self.kitty |= text.starts_with("Gi=31") && text.ends_with(";OK"),
            _ => {}
        }
        let terminator = if bytes[end..].starts_with(b"\x1b\\") { 2 } else { 1 };
        &bytes[end + terminator..]
    }
}

/// Removes the replies to [`QUERY`] that arrive too late, and are read as keys: a string of a terminal begins with a key with
/// Alt, and ends with Alt and `\`.
pub(super) fn without_replies(inputs: Vec<Input>) -> Vec<Input> {
    let alt = |input: &Input| match input {
        Input::Key(key) if key.modifiers.contains(KeyModifiers::ALT) => key.code.as_char(),
        _ => None,
    };
    let (mut left, mut rest) = (Vec::with_capacity(inputs.len()), inputs.into_iter().peekable());
    while let Some(input) = rest.next() {
        let begins = (alt(&input), rest.peek().and_then(typed_char));
        let is_reply = matches!(begins, (Some('_'), Some('G')) | (Some('P'), Some('>')));
        match is_reply {
            true => _ = rest.by_ref().find(|input| alt(input) == Some('\\')),
            false => left.push(input),
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    const CELL: Cell = Cell { width: 9, height: 18 };
    const KITTY: &str = "\x1bP>|kitty(0.42.1)\x1b\\\x1b_Gi=31;OK\x1b\\\x1b[6;18;9t\x1b[?62;52;c";
    const FOOT: &str = "\x1bP>|foot(1.22.3)\x1b\\\x1b[6;18;9t\x1b[?62;4;22;28;29c";
    const PLAIN: &str = "\x1b[?6c";

    fn decided(sent: &str, cell: Option<Cell>, colour: bool, variables: &[(&str, &str)]) -> Graphics {
        Graphics::of(&Replies::read(sent.as_bytes()), cell, colour, |name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn a_terminal_shows_an_image_by_what_it_replies_or_else_by_its_name() {
        let (blocks, of_palette) = (Graphics::Blocks { is_true: true }, Graphics::Blocks { is_true: false });
        let xterm = ("TERM", "xterm-256color");
        for (sent, variables, expected) in [
            (KITTY, &[xterm][..], Graphics::Kitty(CELL)),
            // Whoever replies knows it, whatever the variables say.
            (KITTY, &[xterm, ("TERM_PROGRAM", "iTerm.app")], Graphics::Kitty(CELL)),
            ("\x1b_Gi=31;ENOTSUPPORTED:\x1b\\\x1b[6;18;9t\x1b[?62c", &[xterm], of_palette),
            ("\x1b_Gi=31;OK\x1b\\\x1b[?62c", &[xterm], Graphics::Kitty(USUAL)),
            (FOOT, &[xterm], Graphics::Sixel(CELL)),
            // Without the size of a cell, nobody knows where a sixel image ends.
            ("\x1b[?62;4c", &[xterm], of_palette),
            // 4 at first is the class of the terminal.
            ("\x1b[6;18;9t\x1b[?4;6c", &[xterm], of_palette),
            ("\x1bP>|iTerm2 3.5.14\x1b\\\x1b[6;18;9t\x1b[?64;4c", &[xterm], Graphics::Iterm2(CELL)),
            ("\x1bP>|WezTerm 20240203\x1b\\\x1b[?65;4c", &[xterm], Graphics::Iterm2(USUAL)),
            (PLAIN, &[xterm, ("TERM_PROGRAM", "iTerm.app")], Graphics::Iterm2(USUAL)),
            (PLAIN, &[xterm, ("LC_TERMINAL", "iTerm2")], Graphics::Iterm2(USUAL)),
            (PLAIN, &[xterm, ("KONSOLE_VERSION", "240802")], Graphics::Iterm2(USUAL)),
            // tmux replies, and passes nothing on: the variables are those of the terminal around it.
            (
                "\x1bP>|tmux 3.4\x1b\\\x1b[6;18;9t\x1b[?1;2c",
                &[("TERM", "tmux-256color"), ("TMUX", "x"), ("LC_TERMINAL", "iTerm2")],
                of_palette,
            ),
            (
                "\x1bP>|tmux 3.6\x1b\\\x1b[6;18;9t\x1b[?1;2;4c",
                &[("TERM", "tmux-256color"), ("TMUX", "x")],
                Graphics::Sixel(CELL),
            ),
            (PLAIN, &[("TERM", "screen"), ("STY", "x"), ("TERM_PROGRAM", "WezTerm")], of_palette),
            (PLAIN, &[xterm, ("COLORTERM", "truecolor")], blocks),
            ("", &[xterm, ("COLORTERM", "24bit")], blocks),
            ("", &[xterm], of_palette),
        ] {
            assert_eq!(decided(sent, None, true, variables), expected, "{sent:?} {variables:?}");
        }
        // `NO_COLOR` is about text.
        assert_eq!(decided("", None, false, &[xterm]), Graphics::Nothing);
        assert_eq!(decided(KITTY, None, false, &[xterm]), Graphics::Kitty(CELL));
        assert_eq!(decided("\x1b[?62;4c", Some(CELL), true, &[xterm]), Graphics::Sixel(CELL));
        // What no cell can be is not believed.
        assert_eq!(decided("\x1b[6;0;9t\x1b[?62;4c", None, true, &[xterm]), of_palette);
        assert_eq!(decided("\x1b[6;9999;9t\x1b[?62;4c", None, true, &[xterm]), of_palette);
    }

    #[test]
    fn replies_are_read_in_any_pieces_and_what_else_is_sent_does_no_harm() {
        for sent in [KITTY, FOOT, PLAIN] {
            for end in 0..sent.len() {
                let replies = Replies::read(&sent.as_bytes()[..end]);
                assert!(!replies.is_whole, "{end} of {sent:?}");
            }
            assert!(Replies::read(sent.as_bytes()).is_whole, "{sent:?}");
        }
        let key = |code, modifiers| Input::Key(KeyEvent::new(code, modifiers));
        let (escape, interrupt) =
            (key(KeyCode::Esc, KeyModifiers::NONE), key(KeyCode::Char('c'), KeyModifiers::CONTROL));
        for (sent, typed) in [
            ("jk2\r", vec![]),
            ("\x1b", vec![escape.clone()]),
            ("\x1b\x1b[A", vec![escape]),
            ("\x03", vec![interrupt]),
            ("\x1b[I\x1b[O\x1bOA\x1ba", vec![Input::FocusGained, Input::FocusLost]),
            ("\x1b[200~yes\r\x1b[201~", vec![]),
            ("\x1b[<0;3;4M\x1b]11;rgb:0/0/0\x07", vec![]),
        ] {
            let replies = Replies::read(format!("{sent}{FOOT}").as_bytes());
            assert!(replies.is_whole && replies.sixel && replies.cell == Some(CELL), "{sent:?}: {replies:?}");
            assert_eq!(replies.typed, typed, "{sent:?}");
        }
    }

    #[test]
    fn a_reply_that_comes_late_is_no_key() {
        let keys = |text: &str| {
            let mut alt = KeyModifiers::NONE;
            let mut inputs = Vec::new();
            for c in text.chars() {
                match c {
                    '\x1b' => alt = KeyModifiers::ALT,
                    c => inputs.push(Input::Key(KeyEvent::new(
                        KeyCode::Char(c),
                        std::mem::replace(&mut alt, KeyModifiers::NONE),
                    ))),
                }
            }
            inputs
        };
        for (sent, left) in [
            ("a\x1b_Gi=31;OK\x1b\\b", "ab"),
            ("\x1bP>|kitty(0.42.1)\x1b\\\x1b_Gi=31;OK\x1b\\", ""),
            ("\x1b_a", "\x1b_a"),
            ("\x1bPG", "\x1bPG"),
            ("Gi>", "Gi>"),
            ("", ""),
        ] {
            assert_eq!(without_replies(keys(sent)), keys(left), "{sent:?}");
        }
    }
}
