//! Lines of pieces that each have a style: the parts of a line of Markdown, wrapped for a terminal, and lines of code.

use anstyle::{AnsiColor, Style};
use askbridge_markdown::{CodePart, Inline, Node, Role};
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

/// Returns how a part of code looks within a line of this style. Red and green say what a change removes and adds, and
/// blue is hard to read on many terminals.
pub(super) fn coloured(style: Style, role: Option<Role>) -> Style {
    match role {
        None => style,
        Some(Role::Comment) => style.dimmed(),
        Some(Role::String) => style.fg_color(Some(AnsiColor::Cyan.into())),
        Some(Role::Number) => style.fg_color(Some(AnsiColor::Yellow.into())),
        Some(Role::Keyword) => style.fg_color(Some(AnsiColor::Magenta.into())),
        Some(Role::Name) => style.bold(),
        Some(Role::Added) => style.fg_color(Some(AnsiColor::Green.into())),
        Some(Role::Removed) => style.fg_color(Some(AnsiColor::Red.into())),
    }
}

/// A part of a line of code, which is printable, with its role.
pub(super) type Token = (String, Option<Role>);

/// Returns code line by line, without the line breaks.
pub(super) fn code_lines(parts: &[CodePart]) -> Vec<Vec<Token>> {
    let mut lines: Vec<Vec<(&str, Option<Role>)>> = vec![Vec::new()];
    for part in parts {
        for (place, text) in part.text().split('\n').enumerate() {
            if place > 0 {
                if let Some((end, _)) = lines.last_mut().and_then(|line| line.last_mut()) {
                    *end = end.strip_suffix('\r').unwrap_or(end);
                }
                lines.push(Vec::new());
            }
            if let Some(line) = lines.last_mut().filter(|_| !text.is_empty()) {
                line.push((text, part.role()));
            }
        }
    }
    // The last line break ends a line, and begins none.
    lines.pop_if(|last| last.is_empty());
    let shown = |line: Vec<(&str, Option<Role>)>| {
        line.into_iter().map(|(text, role)| (code_text(text), role)).collect()
    };
    lines.into_iter().map(shown).collect()
}

/// Returns a text of a line of code as it is shown.
pub(super) fn code_text(text: &str) -> String {
    printable_line(&text.replace('\t', "    ")).into_owned()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_code_end_with_the_line_breaks_of_any_system_and_hide_nothing() {
        let token = |text: &str| CodePart::Token { role: Role::String, text: text.to_owned() };
        let shown = |parts: &[CodePart]| {
            let texts = |line: Vec<Token>| line.into_iter().map(|(text, _)| text).collect::<String>();
            code_lines(parts).into_iter().map(texts).collect::<Vec<_>>()
        };
        let plain = |text: &str| CodePart::Plain(text.to_owned());
        assert_eq!(shown(&[plain("a"), token("b\r\nc\r"), plain("\nd")]), ["ab", "c", "d"]);
        assert_eq!(shown(&[plain("a\r"), token("b\t\u{7}"), plain("\n\n\n")]), ["a␍b    ␇", "", ""]);
        assert_eq!(shown(&[token("\"\u{202e}\"\r")]), ["\"\\u{202e}\"␍"]);
        assert_eq!(shown(&[]), [""; 0]);
    }
}
