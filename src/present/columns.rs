//! A table of aligned columns that gives way, step by step, where a terminal is too narrow for it.
//! What the columns hold is left to `table.rs` and `status.rs`.

use crate::terminal::{cut, padded, width};

/// Between two columns.
const GAP: &str = "  ";

/// The columns of a table. The last one takes the room that the others leave.
pub(super) struct Columns {
    columns: Vec<Column>,
    last: Column,
}

/// A head, and a cell for each row.
pub(super) struct Column {
    head: &'static str,
    cells: Vec<String>,
    width: usize,
}

/// What is done for the last column while it has less room than it needs.
#[derive(Clone, Copy)]
pub(super) enum NarrowingStep {
    /// Leaves a column out.
    Drop(&'static str),
    /// Cuts the cells of a column to this width.
    Cut(&'static str, usize),
}

impl Column {
    pub(super) fn new(head: &'static str, cells: Vec<String>) -> Self {
        let mut column = Column { head, cells, width: 0 };
        column.measure();
        column
    }

    fn measure(&mut self) {
        let cells = self.cells.iter().map(|cell| width(cell));
        self.width = cells.chain([self.head.len()]).max().unwrap_or(0);
    }

    /// Cuts each cell that is wider than this.
    fn cut(&mut self, most: usize) {
        for cell in &mut self.cells {
            *cell = cut(cell, most).into_owned();
        }
        self.measure();
    }
}

impl Columns {
    pub(super) fn new(columns: Vec<Column>, last: Column) -> Self {
        Columns { columns, last }
    }

    /// Fits the table into this many columns of a terminal. Each step is taken if the last column would otherwise have
    /// less room than the number beside it, and less than it takes as a whole.
    pub(super) fn fit(&mut self, room: usize, steps: &[(usize, NarrowingStep)]) {
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

    /// Returns the table, a line for the heads and one for each row.
    pub(super) fn lines(&self) -> Vec<String> {
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
}
