//! Lines of the screen: text of agents made printable (I10) and never wider than the screen, and a line of the current
//! question with the row that it belongs to.
//! Pure. What a line says is left to `card.rs` and `field.rs`, lines of several styles to `prose.rs`.

use std::sync::Arc;

use askbridge_os::terminal::{printable, width};
use ratatui::{style::Style, text::Line};
use unicode_width::UnicodeWidthChar;

use crate::present::{layout, passage::Passage};

/// The most columns of a line of text: longer ones are hard to read.
pub(super) const MEASURE: usize = 100;
/// The maximum number of characters in a row that take no column. A screen has one cell for all of them.
const MARKS: usize = 16;
/// The most lines of one text that are shown.
pub(super) const LINES: usize = 2000;

/// Wraps a text at the spaces, and longer words anywhere. It is indented by this number of columns.
pub(super) fn lines(text: &str, indent: usize, columns: usize) -> Vec<String> {
    let text = layout::indented(&printable(text), indent, columns);
    let lines = text.lines().flat_map(|line| folded(line, indent, columns));
    let mut lines: Vec<_> = lines.take(LINES).collect();
    if lines.is_empty() {
        lines.push(String::new());
    }
    lines
}

/// Wraps a printable line at the spaces, and longer words anywhere. Further lines are indented.
pub(super) fn hanging(line: &str, indent: usize, columns: usize) -> Vec<String> {
    // On a narrow screen, an indent would leave no room for the text.
    let indent = if indent + layout::LEAST < columns { indent } else { 0 };
    let line = layout::wrapped(line, 0, indent, columns);
    line.lines().flat_map(|line| folded(line, indent, columns)).collect()
}

/// Folds a printable line at the columns, without regard to words. Further lines are indented.
pub(super) fn folded(line: &str, indent: usize, columns: usize) -> Vec<String> {
    // Beyond ASCII, even a narrow line may have too many marks.
    if width(line) <= columns && line.is_ascii() {
        return vec![line.to_owned()];
    }
    let lines = folded_with(line.chars().map(|c| (c, ())), indent, columns, ());
    lines.into_iter().map(|line| line.into_iter().map(|(c, ())| c).collect()).collect()
}

/// Folds the characters of a printable line, each with what belongs to it. `blank` belongs to an indent.
fn folded_with<T: Copy>(
    line: impl Iterator<Item = (char, T)>,
    indent: usize,
    columns: usize,
    blank: T,
) -> Vec<Vec<(char, T)>> {
    let indent = if indent + 4 < columns { indent } else { 0 };
    let (mut lines, mut last, mut used, mut marks) = (Vec::new(), Vec::new(), 0, 0);
    for (c, of) in line {
        let taken = c.width().unwrap_or(0);
        marks = if taken == 0 { marks + 1 } else { 0 };
        if marks > MARKS {
            continue;
        }
        // A wide character takes two columns.
        if used + taken > columns.max(2) {
            lines.push(std::mem::replace(&mut last, vec![(' ', blank); indent]));
            used = indent;
        }
        last.push((c, of));
        used += taken;
    }
    lines.push(last);
    lines
}

/// Wraps a printable text that is being typed, behind the spaces, and longer words anywhere. Every space
/// stays. Returns the lines, with the line and the column of the cursor, which is between the two parts.
pub(super) fn typed_lines(before: &str, behind: &str, columns: usize) -> (Vec<String>, (usize, usize)) {
    let mut typed = TypedLines { columns, lines: vec![String::new()], used: 0, marks: 0 };
    typed.push(before);
    // The rest of a word may move it to the next line, and the cursor with it: it is found from the end of the line.
    let (line, text) = (typed.lines.len() - 1, typed.lines.last().map_or(0, String::len));
    typed.push(behind);
    let rest = typed.lines.get(line).map_or(0, String::len);
    let (line, at) = if text <= rest { (line, text) } else { (line + 1, text - rest) };
    let column = typed.lines.get(line).and_then(|line| line.get(..at)).map_or(0, width);
    (typed.lines, (line, column))
}

/// The lines of a text that grows.
struct TypedLines {
    columns: usize,
    lines: Vec<String>,
    /// The columns of the last line that are taken.
    used: usize,
    /// The characters without a column at its end.
    marks: usize,
}

impl TypedLines {
    fn push(&mut self, text: &str) {
        for c in text.chars() {
            let taken = c.width().unwrap_or(0);
            self.marks = if taken == 0 && c != '\n' { self.marks + 1 } else { 0 };
            match c {
                '\n' => self.begin(String::new()),
                _ if self.marks > MARKS => {}
                _ => self.add(c, taken),
            }
        }
    }

    fn begin(&mut self, start: String) {
        self.used = width(&start);
        self.lines.push(start);
    }

    fn add(&mut self, c: char, taken: usize) {
        // One space may be beyond the last column, where it is invisible.
        let room = self.columns + usize::from(c == ' ');
        if self.used + taken > room {
            // The current word moves to the next line, unless it is the first word of this line.
            let last = self.lines.last_mut();
            let word = last.and_then(|line| Some(line.split_off(line.rfind(' ')? + 1)));
            self.begin(word.unwrap_or_default());
        }
        if let Some(line) = self.lines.last_mut() {
            line.push(c);
        }
        self.used += taken;
    }
}

/// One line of a question on the screen.
#[derive(Clone, Debug, Default)]
pub(super) struct CardLine {
    /// The line.
    pub(super) line: Line<'static>,
    /// The row of the field that it belongs to.
    pub(super) row: Option<usize>,
    /// The column of the cursor of a text that is typed.
    pub(super) cursor: Option<u16>,
    /// The part of the question that a comment on it would be about.
    pub(super) of: Option<Arc<Passage>>,
}

impl CardLine {
    pub(super) fn new(text: impl Into<String>, style: Style) -> Self {
        CardLine { line: Line::styled(text.into(), style), ..CardLine::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_text_wraps_behind_spaces_and_keeps_the_cursor() {
        let at = |before: &str, behind: &str| typed_lines(before, behind, 8);
        let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
        assert_eq!(at("one two three", ""), (lines(&["one two ", "three"]), (1, 5)));
        // The rest of the word decides where the cursor is.
        assert_eq!(at("one two th", "ree"), (lines(&["one two ", "three"]), (1, 2)));
        assert_eq!(at("one tw", "elve"), (lines(&["one ", "twelve"]), (1, 2)));
        assert_eq!(at("one ", "twelve"), (lines(&["one ", "twelve"]), (0, 4)));
        assert_eq!(at("abcdefghij", ""), (lines(&["abcdefgh", "ij"]), (1, 2)));
        assert_eq!(at("a\n", "\nb"), (lines(&["a", "", "b"]), (1, 0)));
        assert_eq!(at("認証 認証認証", ""), (lines(&["認証 ", "認証認証"]), (1, 8)));
        assert_eq!(at("", ""), (lines(&[""]), (0, 0)));
        let spaces = at(&" ".repeat(20), "");
        assert_eq!(spaces.0.concat(), " ".repeat(20));
        assert!(spaces.0.iter().all(|line| line.len() <= 9), "{spaces:?}");
    }

    #[test]
    fn typed_text_of_any_kind_fits_and_nothing_of_it_is_lost() {
        let text = "a 認証 word, aver\u{e9}ylongwordthatneverends  and\n\nmore e\u{301}e\u{301} ";
        for columns in 2..30 {
            for (at, _) in text.char_indices() {
                let (lines, (line, column)) = typed_lines(&text[..at], &text[at..], columns);
                assert!(lines.iter().all(|line| width(line) <= columns + 1), "{columns}: {lines:?}");
                assert_eq!(lines.concat(), text.replace('\n', ""), "{columns}");
                assert!(column <= width(&lines[line]), "{columns}, {at}: {lines:?}");
                let before: usize = lines[..line].iter().map(|line| width(line)).sum();
                assert_eq!(
                    before + column,
                    width(&text[..at].replace('\n', "")),
                    "{columns}, {at}: {lines:?}"
                );
            }
        }
    }

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
