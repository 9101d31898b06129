//! Text of agents as lines of a screen: printable (I10), and never wider than the screen.

use unicode_width::UnicodeWidthChar;

use crate::{
    present::wrap,
    terminal::{printable, width},
};

/// Characters in a row that take no column of their own. A screen has one cell for all of them.
const MARKS: usize = 16;
/// The most lines of one text that are shown.
const LINES: usize = 2000;

/// Wraps a text at the spaces, and what is longer than a line anywhere. It is indented by so many columns.
pub(super) fn lines(text: &str, indent: usize, columns: usize) -> Vec<String> {
    let text = wrap::indented(&printable(text), indent, columns);
    let lines = text.lines().flat_map(|line| folded(line, indent, columns));
    let mut lines: Vec<_> = lines.take(LINES).collect();
    if lines.is_empty() {
        lines.push(String::new());
    }
    lines
}

/// Wraps a printable line at the spaces, and what is longer than a line anywhere. What follows is indented.
pub(super) fn hanging(line: &str, indent: usize, columns: usize) -> Vec<String> {
    let indent = if indent + wrap::LEAST < columns { indent } else { 0 };
    let line = wrap::wrapped(line, 0, indent, columns);
    line.lines().flat_map(|line| folded(line, indent, columns)).collect()
}

/// Folds a printable line at the columns, without regard to words. What follows is indented as well.
pub(super) fn folded(line: &str, indent: usize, columns: usize) -> Vec<String> {
    if width(line) <= columns && line.is_ascii() {
        return vec![line.to_owned()];
    }
    let indent = if indent + 4 < columns { indent } else { 0 };
    let (mut lines, mut last, mut used, mut marks) = (Vec::new(), String::new(), 0, 0);
    for c in line.chars() {
        let taken = c.width().unwrap_or(0);
        marks = if taken == 0 { marks + 1 } else { 0 };
        if marks > MARKS {
            continue;
        }
        if used + taken > columns.max(2) {
            lines.push(std::mem::replace(&mut last, " ".repeat(indent)));
            used = indent;
        }
        last.push(c);
        used += taken;
    }
    lines.push(last);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_wider_than_the_screen() {
        let marks = "e".to_owned() + &"\u{301}".repeat(3000);
        let texts = [
            &*"認証".repeat(99),
            &"x".repeat(999),
            &marks,
            "a\tb\n\n\u{1b}[2J",
            "",
            "👩\u{200d}👩\u{200d}👧 family",
        ];
        for text in texts {
            for columns in [1, 2, 7, 40, 200] {
                for line in lines(text, 2, columns) {
                    assert!(width(&line) <= columns.max(4), "{columns}: {line}");
                    assert!(!line.chars().any(char::is_control) && line.chars().count() < 999, "{line:?}");
                }
            }
        }
        assert_eq!(lines("one two three", 2, 9), ["  one two", "  three"]);
        assert_eq!(folded("    abcdefgh", 4, 10), ["    abcdef", "    gh"]);
    }
}
