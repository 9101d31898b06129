//! Prints the figures, as tables or as JSON.
//! Computing them is left to `figures`.

use std::io::{self, Write};

use serde::Serialize;

use crate::{
    figures::Figure,
    kind::Kind,
    options::Effort,
    rounds::{Failure, Findings},
    rows::{Metric, Target},
};

/// Prints the tables.
pub(crate) fn tables(figures: &[Figure], findings: &Findings) -> io::Result<()> {
    let mut out = io::stdout().lock();
    for metric in Metric::ALL {
        let figures: Vec<&Figure> = figures.iter().filter(|figure| figure.metric == metric).collect();
        if !figures.is_empty() {
            table(&mut out, metric, &figures)?;
        }
    }
    for (failure, rows) in together(&findings.failures) {
        let Failure { row, kind, error } = failure;
        writeln!(out, "{} failed in {rows} rows, first in \"{row}\": {error}", kind.name())?;
    }
    let targets: Vec<&Figure> = figures.iter().filter(|figure| figure.target.is_some()).collect();
    let with = |met| targets.iter().filter(|figure| figure.met == met).count();
    let (met, missed, unknown) = (with(Some(true)), with(Some(false)), with(None));
    writeln!(out, "targets: {met} met, {missed} not met, {unknown} without a figure")
}

/// Prints one table: the medians of all kinds, then the ratios of all but the relay, whose ratio is 1.
fn table(out: &mut impl Write, metric: Metric, figures: &[&Figure]) -> io::Result<()> {
    let (title, unit) = metric.title();
    let width = figures.iter().map(|figure| figure.row.chars().count()).max().unwrap_or_default().max(40);
    write!(out, "{:<1$}", format!("{title}, {unit}"), width + 2)?;
    for kind in Kind::ALL {
        write!(out, "{:>9}", kind.name())?;
    }
    write!(out, "   of the relay:")?;
    for kind in Kind::ALL.into_iter().filter(|&kind| kind != Kind::Relay) {
        write!(out, "{:>8}", kind.name())?;
    }
    writeln!(out, "  target")?;
    for figure in figures {
        write!(out, "  {:<width$}", figure.row)?;
        for kind in Kind::ALL {
            write!(out, "{:>9}", number(figure.kinds.get(&kind).map(|cell| cell.median)))?;
        }
        write!(out, "{:16}", "")?;
        for kind in Kind::ALL.into_iter().filter(|&kind| kind != Kind::Relay) {
            write!(out, "{:>8}", number(figure.kinds.get(&kind).and_then(|cell| cell.ratio)))?;
        }
        writeln!(out, "  {}", target(figure))?;
    }
    writeln!(out)
}

fn target(figure: &Figure) -> String {
    let wanted = match figure.target {
        None => return String::new(),
        Some(Target::RatioAtLeast(least)) => format!("≥ {least}"),
        Some(Target::RatioAtMost(most)) => format!("≤ {most}"),
        Some(Target::AtMost(most)) => format!("≤ {most} {}", figure.unit),
    };
    match figure.met {
        Some(true) => format!("{wanted}, met"),
        Some(false) => format!("{wanted}, NOT MET"),
        None => wanted,
    }
}

/// Returns a number with three significant digits, or a dash.
fn number(value: Option<f64>) -> String {
    match value {
        None => "-".to_owned(),
        Some(value) if value >= 100.0 => format!("{value:.0}"),
        Some(value) if value >= 10.0 => format!("{value:.1}"),
        Some(value) => format!("{value:.2}"),
    }
}

/// Returns one failure of each kind with each error, and the number of rows that have it.
fn together(failures: &[Failure]) -> Vec<(&Failure, usize)> {
    let mut groups: Vec<(&Failure, usize)> = Vec::new();
    for failure in failures {
        let same =
            |group: &&mut (&Failure, usize)| group.0.kind == failure.kind && group.0.error == failure.error;
        match groups.iter_mut().find(same) {
            Some((_, rows)) => *rows += 1,
            None => groups.push((failure, 1)),
        }
    }
    groups
}

#[derive(Serialize)]
struct Report<'a> {
    rounds: u32,
    spread: bool,
    figures: &'a [Figure],
    failures: &'a [Failure],
}

/// Prints one JSON object.
pub(crate) fn json(figures: &[Figure], findings: &Findings, effort: &Effort) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let (rounds, spread) = (effort.rounds, effort.spread);
    let report = Report { rounds, spread, figures, failures: &findings.failures };
    serde_json::to_writer_pretty(&mut out, &report)?;
    writeln!(out)
}
