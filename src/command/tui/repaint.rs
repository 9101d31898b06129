//! Paints rows again that have characters of a width that terminals disagree about: marks on a letter, emoji that are
//! joined, letters of some scripts. Where the terminal takes more or fewer columns for a character than this program
//! counts, the text behind the character would stand in the wrong place, and parts of it would stay on the screen. The
//! content of the rows is left to `view.rs`.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use askbridge_os::terminal::width;
use crossterm::{
    cursor::{MoveTo, RestorePosition, SavePosition},
    queue,
    style::{Attribute, SetAttribute},
    terminal::{Clear, ClearType},
};
use ratatui::{
    backend::Backend,
    buffer::{Buffer, Cell},
};

/// The characters beyond ASCII that the screen itself is drawn with.
const OWN: &str = "│─┌┐└┘…↑↓·";

/// The rows with such characters, as they were painted last.
#[derive(Debug, Default)]
pub(super) struct Repainter {
    rows: BTreeMap<u16, Vec<Cell>>,
}

impl Repainter {
    /// Returns the rows that must be painted again after this buffer is drawn.
    pub(super) fn changed(&mut self, drawn: &Buffer) -> Vec<(u16, Vec<Cell>)> {
        let before = std::mem::take(&mut self.rows);
        let mut changed = Vec::new();
        for (row, cells) in (0..).zip(drawn.content.chunks(usize::from(drawn.area.width).max(1))) {
            let is_unsure = cells.iter().any(is_unsure);
            let last = before.get(&row);
            // Where such characters were before, parts of them may be left.
            if (is_unsure || last.is_some()) && last.map(Vec::as_slice) != Some(cells) {
                changed.push((row, cells.to_vec()));
            }
            if is_unsure {
                self.rows.insert(row, cells.to_vec());
            }
        }
        changed
    }
}

/// Clears these rows, and paints them. The cursor is placed again behind each such character, and is back in its old
/// place at the end.
pub(super) fn paint<B>(rows: &[(u16, Vec<Cell>)], backend: &mut B) -> io::Result<()>
where
    B: Backend<Error = io::Error> + Write,
{
    if rows.is_empty() {
        return Ok(());
    }
    queue!(backend, SavePosition)?;
    for (row, cells) in rows {
        // A terminal clears with the current colours, so these are reset first.
        queue!(backend, MoveTo(0, *row), SetAttribute(Attribute::Reset), Clear(ClearType::CurrentLine))?;
        for part in parts(*row, cells) {
            backend.draw(part.into_iter())?;
        }
    }
    queue!(backend, RestorePosition)?;
    Write::flush(backend)
}

/// Returns the cells of a row in parts that end with such a character. Cells that are covered by a wide one are left out.
fn parts(row: u16, cells: &[Cell]) -> Vec<Vec<(u16, u16, &Cell)>> {
    let (mut parts, mut covered) = (vec![Vec::new()], 0);
    for (column, cell) in (0..).zip(cells) {
        if covered > 0 {
            covered -= 1;
            continue;
        }
        covered = width(cell.symbol()).saturating_sub(1);
        if let Some(part) = parts.last_mut() {
            part.push((column, row, cell));
        }
        if is_unsure(cell) {
            parts.push(Vec::new());
        }
    }
    parts
}

fn is_unsure(cell: &Cell) -> bool {
    !cell.symbol().is_ascii() && !OWN.contains(cell.symbol())
}

#[cfg(test)]
mod tests {
    use ratatui::{
        Terminal, TerminalOptions, Viewport, backend::CrosstermBackend, layout::Rect, text::Line,
        widgets::Paragraph,
    };
    use unicode_width::UnicodeWidthChar;

    use super::*;

    const COLUMNS: usize = 24;

    /// One row of a terminal that counts each character by itself, as many do.
    struct Row {
        cells: Vec<String>,
        column: usize,
        saved: usize,
    }

    impl Row {
        fn take(&mut self, written: &str) {
            let mut rest = written;
            while let Some(c) = rest.chars().next() {
                rest = &rest[c.len_utf8()..];
                match c {
                    '\x1b' if rest.starts_with(['7', '8']) => {
                        match rest.starts_with('7') {
                            true => self.saved = self.column,
                            false => self.column = self.saved,
                        }
                        rest = &rest[1..];
                    }
                    '\x1b' => {
                        let end =
                            rest.find(|c: char| c.is_ascii_alphabetic()).expect("the end of a sequence");
                        self.act(&rest[1..end], &rest[end..=end]);
                        rest = &rest[end + 1..];
                    }
                    c => self.print(c),
                }
            }
        }

        fn act(&mut self, numbers: &str, what: &str) {
            match what {
                "H" => {
                    let column = numbers.split(';').nth(1).and_then(|it| it.parse::<usize>().ok());
                    self.column = column.unwrap_or(1) - 1;
                }
                "K" => self.cells = vec![" ".to_owned(); COLUMNS],
                _ => {}
            }
        }

        fn print(&mut self, c: char) {
            match c.width().unwrap_or_default() {
                0 => self.cells[self.column.saturating_sub(1)].push(c),
                taken if self.column + taken <= COLUMNS => {
                    self.cells[self.column] = c.to_string();
                    self.cells[self.column + 1..self.column + taken].fill(String::new());
                    self.column += taken;
                }
                _ => {}
            }
        }
    }

    /// Shows these texts one after the other, and returns what the row has of the last.
    fn shown(texts: &[&str]) -> String {
        let size = Rect::new(0, 0, u16::try_from(COLUMNS).expect("few"), 1);
        let options = TerminalOptions { viewport: Viewport::Fixed(size) };
        let mut written = Vec::new();
        let backend = CrosstermBackend::new(&mut written);
        let mut terminal = Terminal::with_options(backend, options).expect("a terminal");
        let mut repainter = Repainter::default();
        for text in texts {
            let draw = |frame: &mut ratatui::Frame<'_>| {
                frame.render_widget(Paragraph::new(Line::raw((*text).to_owned())), size);
            };
            let rows = repainter.changed(terminal.draw(draw).expect("a frame").buffer);
            paint(&rows, terminal.backend_mut()).expect("paint");
        }
        drop(terminal);
        let written = String::from_utf8(written).expect("text");
        let mut row = Row { cells: vec![" ".to_owned(); COLUMNS], column: 0, saved: 0 };
        row.take(&written);
        row.cells.concat().trim_end().to_owned()
    }

    #[test]
    fn nothing_stays_of_characters_that_the_terminal_counts_otherwise() {
        let hearts = "\u{2764}\u{fe0f}\u{2764}\u{fe0f}!";
        let family = "\u{1f469}\u{200d}\u{1f469}\u{200d}\u{1f467}";
        let region = "\u{915}\u{94d}\u{937}\u{947}\u{924}\u{94d}\u{930}: staging server";
        // Each heart takes one column here, where two are counted.
        assert_eq!(shown(&["XXXXXXXX", hearts]), "\u{2764}\u{fe0f} \u{2764}\u{fe0f} !");
        assert_eq!(shown(&[hearts, "X"]), "X");
        // A family takes six columns here, where two are counted.
        assert_eq!(shown(&[&format!("{family} a"), "plain"]), "plain");
        assert_eq!(shown(&[&format!("a {family}"), "a", ""]), "");
        assert_eq!(shown(&["XXXXXXXXXXXXXXXXXXXXXXXX", region, "staging server"]), "staging server");
        assert_eq!(shown(&[region, region]), region);
    }

    #[test]
    fn a_row_that_stays_is_painted_once() {
        let mut repainter = Repainter::default();
        let mut drawn = |text: &str| repainter.changed(&Buffer::with_lines([text, "plain"])).len();
        assert_eq!(["\u{2764}\u{fe0f}", "\u{2764}\u{fe0f}", "x", "x"].map(&mut drawn), [1, 0, 1, 0]);
    }
}
