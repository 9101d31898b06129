//! Lines of pieces that each have a style: the parts of a line of Markdown, wrapped for a terminal.

use anstyle::{AnsiColor, Style};
use askbridge_markdown::{Inline, Node};
use askbridge_os::terminal::printable_line;

use super::layout;

/// A part of a line, which is printable, with its style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The text.
    pub text: String,
    /// How it looks.
    pub style: Style,
}

/// A line of a terminal.
pub type StyledLine = Vec<Piece>;

/// Returns a part of a line, of a printable text.
pub(super) fn piece(text: &str, style: Style) -> Piece {
    Piece { text: text.to_owned(), style }
}

/// Returns the pieces of parts of a line, split at its breaks.
pub(super) fn pieces(parts: &[Inline], style: Style) -> Vec<StyledLine> {
    let mut out = vec![Vec::new()];
    add(parts, style, &mut out);
    out
}

fn add(parts: &[Inline], style: Style, out: &mut Vec<StyledLine>) {
    let put = |out: &mut Vec<StyledLine>, text: &str, style: Style| {
        if let Some(line) = out.last_mut() {
            line.push(piece(&printable_line(&text.replace('\t', "    ")), style));
        }
    };
    for part in parts {
        match part {
            Inline::Text(text) => put(out, text, style),
            Inline::Node(Node::Code { text }) => put(out, text, style.fg_color(Some(AnsiColor::Cyan.into()))),
            Inline::Node(Node::Break) => out.push(Vec::new()),
            Inline::Node(Node::Strong { children }) => add(children, style.bold(), out),
            Inline::Node(Node::Emphasis { children }) => add(children, style.italic(), out),
            // Not every terminal can strike a text out, and without that it would say the opposite.
            Inline::Node(Node::Struck { children }) => {
                put(out, "~~", style);
                add(children, style.strikethrough(), out);
                put(out, "~~", style);
            }
            Inline::Node(Node::Link { address, is_address, children }) => {
                add(children, style.underline(), out);
                if !is_address {
                    put(out, &format!(" ({address})"), style);
                }
            }
        }
    }
}

/// Wraps pieces at their spaces. On the first line, `taken` columns are in use already. The lines that follow begin at
/// their text.
pub(super) fn wrap(line: &[Piece], taken: usize, hang: usize, columns: usize) -> Vec<StyledLine> {
    let plain: String = line.iter().map(|it| &*it.text).collect();
    let wrapped = layout::wrapped(&plain, taken, hang, columns);
    let lines = wrapped.split('\n').enumerate();
    restyled(lines.map(|(place, line)| if place == 0 { line } else { &line[hang.min(line.len())..] }), line)
}

/// Gives lines the styles of the pieces that they were made of. They have the same characters, but for some that were left
/// out.
pub fn restyled<'a>(lines: impl Iterator<Item = &'a str>, pieces: &[Piece]) -> Vec<StyledLine> {
    let mut styles = pieces.iter().flat_map(|it| it.text.chars().map(|c| (c, it.style)));
    let mut of = |c: char| styles.find(|(it, _)| *it == c).map_or(Style::new(), |(_, style)| style);
    let mut line = |text: &str| {
        let mut out: StyledLine = Vec::new();
        for c in text.chars() {
            let style = of(c);
            match out.last_mut().filter(|last| last.style == style) {
                Some(last) => last.text.push(c),
                None => out.push(piece(&c.to_string(), style)),
            }
        }
        out
    };
    lines.map(&mut line).collect()
}
