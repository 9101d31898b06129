//! Lays text out at the width of a terminal: wrapped lines, and a table of aligned columns that shrinks step by step to
//! fit a narrow terminal. Text for a pipe has no width and is not wrapped.
//! The content of the columns is left to `listing.rs`, `past.rs` and `status.rs`.

use askbridge_os::terminal::{cut, padded, width};

/// The gap between two columns.
const GAP: &str = "  ";

/// A table. The last column gets the width that the others leave.
pub(super) struct Table {
    columns: Vec<Column>,
    last: Column,
}

/// A column: its head, and a cell for each row.
struct Column {
    head: &'static str,
    cells: Vec<String>,
    width: usize,
}

/// A step that makes room for the last column.
#[derive(Clone, Copy)]
pub(super) enum NarrowingStep {
    /// Leaves a column out.
    Drop(&'static str),
    /// Cuts the cells of a column to this width.
    Cut(&'static str, usize),
}

impl Column {
    fn new(head: &'static str, cells: Vec<String>) -> Self {
        let mut column = Column { head, cells, width: 0 };
        column.measure();
        column
    }

    fn measure(&mut self) {
        let cells = self.cells.iter().map(|cell| width(cell));
        self.width = cells.chain([self.head.len()]).max().unwrap_or(0);
    }

    /// Cuts each cell to at most this width.
    fn cut(&mut self, most: usize) {
        for cell in &mut self.cells {
            *cell = cut(cell, most).into_owned();
        }
        self.measure();
    }
}

impl Table {
    /// Returns a table with these heads and rows.
    pub(super) fn new<const N: usize>(
        heads: [&'static str; N],
        rows: impl IntoIterator<Item = [String; N]>,
    ) -> Self {
        let mut cells: [Vec<String>; N] = std::array::from_fn(|_| Vec::new());
        for row in rows {
            cells.iter_mut().zip(row).for_each(|(column, cell)| column.push(cell));
        }
        let mut columns: Vec<_> =
            heads.into_iter().zip(cells).map(|(head, cells)| Column::new(head, cells)).collect();
        let last = columns.pop().unwrap_or_else(|| Column::new("", Vec::new()));
        Table { columns, last }
    }

    /// Returns the table, a line for the heads and one for each row. On a terminal of `room` columns, the steps make
    /// room for the last column, and then that is cut.
    pub(super) fn lines(mut self, room: Option<usize>, steps: &[(usize, NarrowingStep)]) -> Vec<String> {
        if let Some(room) = room {
            self.fit(room, steps);
        }
        let cells = |row: usize| {
            let cell = move |column: &Column| {
                let text = if row == 0 { column.head } else { &*column.cells[row - 1] };
                padded(text, column.width) + GAP
            };
            let last = if row == 0 { self.last.head } else { &*self.last.cells[row - 1] };
            (self.columns.iter().map(cell).collect::<String>() + last).trim_end().to_owned()
        };
        (0..=self.last.cells.len()).map(cells).collect()
    }

    /// Fits the table into `room` columns of a terminal. A step is taken if the last column has less width than the
    /// number beside the step, and less than its widest cell.
    fn fit(&mut self, room: usize, steps: &[(usize, NarrowingStep)]) {
        self.columns.iter_mut().chain([&mut self.last]).for_each(|column| column.cut(room));
        for (needed, step) in steps {
            if self.rest(room) >= self.last.width.min(*needed) {
                continue;
            }
            match *step {
                NarrowingStep::Drop(head) => self.columns.retain(|column| column.head != head),
                NarrowingStep::Cut(head, most) => {
                    let named = self.columns.iter_mut().filter(|column| column.head == head);
                    named.for_each(|column| column.cut(most));
                }
            }
        }
        self.last.cut(self.rest(room).max(1));
    }

    /// Returns the room that is left for the last column.
    fn rest(&self, room: usize) -> usize {
        let taken = self.columns.iter().map(|column| column.width + GAP.len()).sum();
        room.saturating_sub(taken)
    }
}

/// The least width of wrapped text. Where less would remain, text is not indented any further.
pub const LEAST: usize = 20;

/// Wraps a printable line at its spaces. On the first line, `taken` columns are in use already; the lines that follow
/// are indented by `hang`. A word that is longer than a line stays whole, so that it can be copied.
pub fn wrapped(line: &str, taken: usize, hang: usize, columns: usize) -> String {
    let (mut out, mut used, mut has_words) = (String::new(), taken, false);
    for word in line.split_inclusive(' ') {
        let columns_of_word = width(word.trim_end_matches(' '));
        // A line break needs a word before it.
        if has_words && used + columns_of_word > columns {
            out.truncate(out.trim_end_matches(' ').len());
            out.push('\n');
            out.push_str(&" ".repeat(hang));
            used = hang;
        }
        has_words |= columns_of_word > 0;
        out.push_str(word);
        used += width(word);
    }
    out.truncate(out.trim_end_matches(' ').len());
    out
}

/// Wraps and indents each line of a printable text. A tab becomes spaces, since its width depends on the terminal.
pub fn indented(text: &str, indent: usize, columns: usize) -> String {
    let lines = text.lines().map(|line| {
        let line = wrapped(&line.replace('\t', "    "), indent, indent, columns);
        if line.is_empty() { line } else { " ".repeat(indent) + &line }
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_break_at_spaces_and_hang() {
        for (line, taken, hang, columns, expected) in [
            ("one two three", 0, 0, 20, "one two three"),
            ("one two three", 0, 2, 8, "one two\n  three"),
            ("one two three", 4, 2, 8, "one\n  two\n  three"),
            ("     one two", 0, 2, 6, "     one\n  two"),
            ("one  two", 0, 0, 4, "one\ntwo"),
            ("averylongword x", 0, 2, 5, "averylongword\n  x"),
            ("認証 です", 0, 0, 5, "認証\nです"),
            ("one two", 0, 0, usize::MAX, "one two"),
            ("", 3, 3, 5, ""),
        ] {
            assert_eq!(wrapped(line, taken, hang, columns), expected, "{line} in {columns}");
        }
    }

    #[test]
    fn every_line_of_a_text_is_indented() {
        assert_eq!(indented("a b\n\n\tc", 2, 4), "  a\n  b\n\n      c");
    }
}
