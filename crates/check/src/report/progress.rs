//! What people see while the cases run: at a terminal one line that is rewritten, elsewhere one line for each group.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use askbridge_os::terminal::cut;

use crate::{case::Case, suite::Outcome, verdict::Verdict};

use super::{
    counts::Counts,
    paint::{GREEN, RED, YELLOW, painted},
};

/// Writes the progress of a run.
pub struct Progress<W> {
    output: W,
    /// The columns of the terminal, if the output is one.
    columns: Option<usize>,
    total: usize,
    counts: Counts,
    /// How many cases of each group have not ended yet, and how the others ended.
    groups: BTreeMap<String, (usize, Counts)>,
}

impl<W: Write> Progress<W> {
    /// Begins with these cases. `columns` is the width of the terminal, if the output is one.
    pub fn new(output: W, columns: Option<usize>, cases: &[Case]) -> Self {
        let mut groups: BTreeMap<String, (usize, Counts)> = BTreeMap::new();
        for case in cases {
            groups.entry(case.group().to_owned()).or_default().0 += 1;
        }
        Self { output, columns, total: cases.len(), counts: Counts::default(), groups }
    }

    /// Shows that a case has ended.
    ///
    /// # Errors
    /// Those of the output.
    pub fn ended(&mut self, outcome: &Outcome) -> io::Result<()> {
        self.counts.add(outcome);
        let group = self.groups.entry(outcome.case.group().to_owned()).or_default();
        group.0 = group.0.saturating_sub(1);
        group.1.add(outcome);
        let Some(columns) = self.columns else {
            if group.0 == 0 {
                writeln!(self.output, "  {}: {}", outcome.case.group(), group.1.words())?;
            }
            return Ok(());
        };
        if outcome.is_unexpected || matches!(outcome.verdict, Verdict::Failed(_)) {
            let mark = if outcome.is_unexpected { painted(RED, "✗") } else { painted(YELLOW, "!") };
            writeln!(self.output, "\r\x1b[K{mark} {}", cut(&outcome.case.id, columns.saturating_sub(3)))?;
        }
        // The line is rewritten in place, so it must fit into one row: a wrapped line would leave its first row
        // behind.
        let done = self.counts.total();
        let width = columns.saturating_sub(60).clamp(8, 30);
        let filled = (done * width).checked_div(self.total).unwrap_or(width);
        let bar = format!("{}{}", "━".repeat(filled), "╌".repeat(width - filled));
        let style = if self.counts.broken() > 0 { RED } else { GREEN };
        let head = format!("{} {done}/{}  ", painted(style, &bar), self.total);
        let shown = width + 5 + done.to_string().len() + self.total.to_string().len();
        let rest = columns.saturating_sub(shown);
        write!(self.output, "\r\x1b[K{head}{}", cut(&outcome.case.id, rest))?;
        self.output.flush()
    }

    /// Takes the line away.
    ///
    /// # Errors
    /// Those of the output.
    pub fn finish(&mut self) -> io::Result<()> {
        if self.columns.is_some() {
            write!(self.output, "\r\x1b[K")?;
        }
        self.output.flush()
    }
}
