//! A table of an agent's text on a terminal: aligned columns with wrapped cells, or where there is no room for them, row by
//! row. The tables of our own lists are left to `layout.rs`.

use anstyle::Style;
use askbridge_markdown::{Alignment, Inline, Row};
use askbridge_os::terminal::width;

use super::styled::{Piece, StyledLine, piece, pieces, wrap};

/// Between two columns.
const BAR: &str = " │ ";
/// Between two columns, below the heads.
const CROSS: &str = "─┼─";

/// A line of a table, and the place of the row that it belongs to; none of the heads.
pub(super) type TableLine = (StyledLine, Option<usize>);

/// Returns the lines of a table, at most this many columns wide as far as its words are.
pub(super) fn lines(alignments: &[Alignment], head: &Row, rows: &[Row], columns: usize) -> Vec<TableLine> {
    let bold = Style::new().bold();
    let count = rows.iter().map(|row| row.cells.len()).chain([head.cells.len()]).max().unwrap_or(0);
    let cell =
        |row: &Row, place: usize, style| row.cells.get(place).map_or(Vec::new(), |cell| cell_of(cell, style));
    let cells = |row: &Row, style| (0..count).map(|place| cell(row, place, style)).collect::<Vec<_>>();
    let head = cells(head, bold);
    let rows: Vec<_> = rows.iter().map(|row| cells(row, Style::new())).collect();
    match widths(&head, &rows, columns) {
        Some(widths) => aligned(alignments, &head, &rows, &widths),
        None => by_row(&head, &rows, columns),
    }
}

fn cell_of(parts: &[Inline], style: Style) -> StyledLine {
    pieces(parts, style).concat()
}

fn width_of(line: &[Piece]) -> usize {
    line.iter().map(|it| width(&it.text)).sum()
}

/// Returns the widths of the columns, each at least that of its longest word. Returns `None` if there is no room for them.
fn widths(head: &[StyledLine], rows: &[Vec<StyledLine>], columns: usize) -> Option<Vec<usize>> {
    let of = |measure: &dyn Fn(&StyledLine) -> usize| -> Vec<usize> {
        let column = |place: usize| {
            let cells = rows.iter().filter_map(|row| row.get(place)).chain(head.get(place));
            cells.map(measure).max().unwrap_or(0).max(1)
        };
        (0..head.len()).map(column).collect()
    };
    let longest = |line: &StyledLine| {
        let text: String = line.iter().map(|it| &*it.text).collect();
        text.split(' ').map(width).max().unwrap_or(0)
    };
    let (wanted, mut widths) = (of(&|line| width_of(line)), of(&longest));
    let bars = width(BAR) * head.len().saturating_sub(1);
    let mut room = columns.checked_sub(bars + widths.iter().sum::<usize>())?;
    // What is left goes to the columns that have the least of what they want.
    while room > 0 {
        let short = widths.iter_mut().zip(&wanted).filter(|(has, wants)| **has < **wants);
        let Some((has, _)) = short.min_by_key(|(has, _)| **has) else { break };
        *has += 1;
        room -= 1;
    }
    Some(widths)
}

fn aligned(
    alignments: &[Alignment],
    head: &[StyledLine],
    rows: &[Vec<StyledLine>],
    widths: &[usize],
) -> Vec<TableLine> {
    let dim = Style::new().dimmed();
    let rule = widths.iter().map(|width| "─".repeat(*width)).collect::<Vec<_>>().join(CROSS);
    let head = row_of(alignments, head, widths).into_iter().chain([vec![piece(&rule, dim)]]);
    let row = |(place, row): (usize, &Vec<StyledLine>)| {
        row_of(alignments, row, widths).into_iter().map(move |line| (line, Some(place)))
    };
    head.map(|line| (line, None)).chain(rows.iter().enumerate().flat_map(row)).collect()
}

/// Returns the lines of a row, whose cells may have several.
fn row_of(alignments: &[Alignment], row: &[StyledLine], widths: &[usize]) -> Vec<StyledLine> {
    let cells: Vec<_> = row.iter().zip(widths).map(|(cell, width)| wrap(cell, 0, 0, *width)).collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(0);
    let line = |at: usize| {
        let mut line = Vec::new();
        for (place, (cell, width)) in cells.iter().zip(widths).enumerate() {
            if place > 0 {
                line.push(piece(BAR, Style::new().dimmed()));
            }
            let text = cell.get(at).cloned().unwrap_or_default();
            let room = width.saturating_sub(width_of(&text));
            let before = match alignments.get(place) {
                Some(Alignment::End) => room,
                Some(Alignment::Center) => room / 2,
                _ => 0,
            };
            line.push(piece(&" ".repeat(before), Style::new()));
            line.extend(text);
            line.push(piece(&" ".repeat(room - before), Style::new()));
        }
        trimmed(line)
    };
    (0..height).map(line).collect()
}

/// Takes the spaces at the end of a line away.
fn trimmed(mut line: StyledLine) -> StyledLine {
    while line.pop_if(|last| last.text.trim().is_empty()).is_some() {}
    if let Some(last) = line.last_mut() {
        last.text.truncate(last.text.trim_end().len());
    }
    line
}

/// Returns each cell on lines of its own, behind the head of its column.
fn by_row(head: &[StyledLine], rows: &[Vec<StyledLine>], columns: usize) -> Vec<TableLine> {
    let mut out = Vec::new();
    for (number, row) in rows.iter().enumerate() {
        if number > 0 {
            out.push((Vec::new(), None));
        }
        for (place, cell) in row.iter().enumerate().filter(|(_, cell)| !cell.is_empty()) {
            let mut line = head.get(place).cloned().unwrap_or_default();
            if !line.is_empty() {
                line.push(piece(": ", Style::new().bold()));
            }
            line.extend(cell.iter().cloned());
            let margin = |(at, line): (usize, StyledLine)| match at {
                0 => line,
                _ => [vec![piece("  ", Style::new())], line].concat(),
            };
            let lines = wrap(&line, 0, 2, columns).into_iter().enumerate().map(margin);
            out.extend(lines.map(|line| (line, Some(number))));
        }
    }
    // A table of nothing but heads.
    if rows.is_empty() {
        out.extend(head.iter().map(|line| (line.clone(), None)));
    }
    out
}

#[cfg(test)]
mod tests {
    use crate::present::markdown::written;

    const TABLE: &str = "| Step | Takes | What |\n|---|--:|:-:|\n| copy | 10 min | all rows of the ledger |\n| **swap** | 1 s | `mv` |\n";

    #[test]
    fn a_table_fits_the_terminal() {
        for (columns, expected) in [
            (
                80,
                "Step │  Takes │          What\n\
                 ─────┼────────┼───────────────────────\n\
                 copy │ 10 min │ all rows of the ledger\n\
                 swap │    1 s │           mv",
            ),
            (
                28,
                "Step │  Takes │     What\n\
                 ─────┼────────┼─────────────\n\
                 copy │ 10 min │ all rows of\n     │        │  the ledger\n\
                 swap │    1 s │      mv",
            ),
            (
                16,
                "Step: copy\nTakes: 10 min\nWhat: all rows\n  of the ledger\n\nStep: swap\nTakes: 1 s\nWhat: mv",
            ),
        ] {
            assert_eq!(written(TABLE, 0, columns, false), expected, "{columns}");
        }
    }

    #[test]
    fn a_row_may_have_more_cells_than_the_head() {
        assert_eq!(written("|a|\n|-|\n|b|c|", 0, 80, false), "a │\n──┼──\nb │ c");
    }
}
