//! Turns samples into figures: medians, ratios to the relay, and whether a target is met.
//! Printing them is left to `report`.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{
    kind::Kind,
    rounds::{Findings, LARGEST, Measured},
    rows::{Metric, Row, Target, Work},
};

/// One metric of one row.
#[derive(Debug, Serialize)]
pub(crate) struct Figure {
    pub(crate) metric: Metric,
    pub(crate) unit: &'static str,
    pub(crate) row: String,
    pub(crate) kinds: BTreeMap<Kind, Cell>,
    pub(crate) target: Option<Target>,
    /// `None` without a target or without a figure of the bridge.
    pub(crate) met: Option<bool>,
}

/// One metric of one row for one kind.
#[derive(Debug, Serialize)]
pub(crate) struct Cell {
    pub(crate) median: f64,
    /// The median over the rounds of each round's ratio to the relay.
    pub(crate) ratio: Option<f64>,
    pub(crate) samples: Vec<f64>,
}

/// Returns all figures, table by table.
pub(crate) fn of(rows: &[Row], findings: &Findings) -> Vec<Figure> {
    let mut names: Vec<(&str, Option<Work>)> =
        rows.iter().map(|row| (row.name.as_str(), Some(row.work))).collect();
    names.insert(rows.iter().take_while(|row| !row.work.is_for_memory()).count(), (LARGEST, None));
    let mut figures = Vec::new();
    for metric in Metric::ALL {
        for &(row, work) in &names {
            let of_row = |measured: &&Measured| measured.metric == metric && measured.row == row;
            let measured: Vec<&Measured> = findings.measured.iter().filter(of_row).collect();
            if !measured.is_empty() {
                figures.push(figure(metric, row, work, &measured));
            }
        }
    }
    figures
}

fn figure(metric: Metric, row: &str, work: Option<Work>, measured: &[&Measured]) -> Figure {
    let mut by_kind: BTreeMap<Kind, BTreeMap<u32, f64>> = BTreeMap::new();
    for measured in measured {
        by_kind.entry(measured.kind).or_default().insert(measured.round, measured.value);
    }
    let relay = by_kind.get(&Kind::Relay).cloned().unwrap_or_default();
    if metric == Metric::Added {
        for rounds in by_kind.values_mut() {
            rounds.retain(|round, _| relay.contains_key(round));
            for (round, value) in rounds {
                *value -= relay.get(round).copied().unwrap_or_default();
            }
        }
        by_kind.remove(&Kind::Relay);
    }
    let cell = |rounds: BTreeMap<u32, f64>| {
        let ratio = |(round, value): (&u32, &f64)| Some(value / relay.get(round)?);
        let ratios = rounds.iter().filter_map(ratio).filter(|_| metric != Metric::Added).collect();
        let samples: Vec<f64> = rounds.into_values().collect();
        Cell { median: median(samples.clone()).unwrap_or_default(), ratio: median(ratios), samples }
    };
    let kinds: BTreeMap<Kind, Cell> =
        by_kind.into_iter().map(|(kind, rounds)| (kind, cell(rounds))).collect();
    let target = metric.target(work);
    let met = target.zip(kinds.get(&Kind::Bridge)).and_then(|(target, bridge)| is_met(target, bridge));
    Figure { metric, unit: metric.title().1, row: row.to_owned(), kinds, target, met }
}

fn is_met(target: Target, bridge: &Cell) -> Option<bool> {
    Some(match target {
        Target::RatioAtLeast(least) => bridge.ratio? >= least,
        Target::RatioAtMost(most) => bridge.ratio? <= most,
        Target::AtMost(most) => bridge.median <= most,
    })
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let (low, high) = (values.get(values.len().checked_sub(1)? / 2)?, values.get(values.len() / 2)?);
    Some(f64::midpoint(*low, *high))
}
