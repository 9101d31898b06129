//! Takes the samples: round by round and, within a row, kind by kind, so that other load on the machine affects all
//! kinds alike. Evaluating the samples is left to `figures`.

use std::{
    collections::BTreeMap,
    io::{self, Write},
};

use serde::Serialize;

use crate::{
    kind::Kind,
    measure::{self, Amount, Sample},
    options::Effort,
    procfs::Memory,
    rows::{Metric, Row},
};

const MIB: f64 = 1_048_576.0;
/// The name of the row for the most memory over all rows that do not measure memory.
pub(crate) const LARGEST: &str = "the most in any row above";

/// One measured value.
#[derive(Clone, Debug)]
pub(crate) struct Measured {
    pub(crate) row: String,
    pub(crate) metric: Metric,
    pub(crate) kind: Kind,
    pub(crate) round: u32,
    pub(crate) value: f64,
}

/// A row that failed for a kind.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Failure {
    pub(crate) row: String,
    pub(crate) kind: Kind,
    pub(crate) error: String,
}

/// The results of all rounds.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) measured: Vec<Measured>,
    pub(crate) failures: Vec<Failure>,
}

/// Measures these rows.
pub(crate) fn run(rows: &[Row], effort: &Effort) -> io::Result<Findings> {
    let mut run =
        Run { effort, findings: Findings::default(), rates: BTreeMap::new(), memories: BTreeMap::new() };
    for round in 0..=effort.rounds {
        if round > 0 {
            writeln!(io::stderr(), "round {round} of {}", effort.rounds)?;
        }
        for row in rows.iter().filter(|row| !row.work.is_for_memory()) {
            run.row(row, round);
        }
    }
    for row in rows.iter().filter(|row| row.work.is_for_memory()) {
        run.row(row, 1);
    }
    Ok(run.finish())
}

struct Run<'a> {
    effort: &'a Effort,
    findings: Findings,
    /// The last rate of each kind in each row, in MB/s.
    rates: BTreeMap<(String, Kind), f64>,
    /// The memory of each kind so far.
    memories: BTreeMap<Kind, Memory>,
}

impl Run<'_> {
    /// Takes a row's samples of one round. The order of the kinds changes from round to round, so that the state in
    /// which one kind leaves the caches does not always affect the same other kind.
    fn row(&mut self, row: &Row, round: u32) {
        let mut kinds = row.work.kinds().to_vec();
        let first = round as usize / 2 % kinds.len();
        kinds.rotate_left(first);
        if round % 2 == 1 {
            kinds.reverse();
        }
        for kind in kinds {
            if self.has_failed(row, kind) {
                continue;
            }
            match measure::sample(row.work, kind, &self.amount(row, kind, round)) {
                Ok(sample) => self.note(row, kind, round, &sample),
                Err(error) => {
                    let (row, error) = (row.name.clone(), error.to_string());
                    self.findings.failures.push(Failure { row, kind, error });
                }
            }
        }
    }

    fn has_failed(&self, row: &Row, kind: Kind) -> bool {
        self.findings.failures.iter().any(|failure| failure.row == row.name && failure.kind == kind)
    }

    /// Returns the amount of work of a sample: a slow kind moves fewer bytes in the same time.
    fn amount(&self, row: &Row, kind: Kind, round: u32) -> Amount {
        match self.rates.get(&(row.name.clone(), kind)) {
            Some(rate) if round > 0 => {
                let volume = (rate * 1e6 * self.effort.transfer.as_secs_f64()) as u64;
                Amount { volume, ..self.effort.counted }
            }
            None if round > 0 => self.effort.counted,
            _ => self.effort.warm_up,
        }
    }

    fn note(&mut self, row: &Row, kind: Kind, round: u32, sample: &Sample) {
        for &(metric, value) in &sample.figures {
            if metric == Metric::Throughput {
                self.rates.insert((row.name.clone(), kind), value);
            }
            // The warm-up round is only used for the rate.
            if round > 0 {
                self.findings.measured.push(Measured { row: row.name.clone(), metric, kind, round, value });
            }
        }
        let Some(memory) = sample.memory else { return };
        if row.work.is_for_memory() {
            self.note_memory(&row.name, kind, memory);
        } else {
            let most = self.memories.entry(kind).or_default();
            *most = memory.max(*most);
        }
    }

    fn note_memory(&mut self, row: &str, kind: Kind, memory: Memory) {
        for (metric, bytes) in [(Metric::Memory, memory.peak), (Metric::Anonymous, memory.anonymous)] {
            let (row, value) = (row.to_owned(), bytes as f64 / MIB);
            self.findings.measured.push(Measured { row, metric, kind, round: 1, value });
        }
    }

    fn finish(mut self) -> Findings {
        for (kind, memory) in std::mem::take(&mut self.memories) {
            self.note_memory(LARGEST, kind, memory);
        }
        self.findings
    }
}
