//! Counts how questions are settled, and writes the counters in Prometheus' text format. They contain no text of an
//! agent.

use std::{
    collections::{BTreeMap, VecDeque},
    fmt::{self, Write},
    sync::{Arc, Mutex, PoisonError},
};

use askbridge_control::inbox::{Batch, Store, Traffic};
use askbridge_core::{
    desk::{Event, QuestionId, Record, Settlement},
    question::{Origin, Outcome, Purpose, Question, Reason, Responder},
};
use tokio::{sync::watch, time::timeout};

use crate::limits;

/// The upper bounds of the histogram, in seconds: from the answer of a rule to that of a person who was away for days.
const BOUNDS: [f64; 10] = [1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 14_400.0, 86_400.0, 604_800.0];

/// The label for a name that this version does not know.
const OTHER: &str = "other";

/// The counters, which start at zero with the server.
#[derive(Debug)]
pub(super) struct Metrics {
    counts: Mutex<Counts>,
    /// The revision up to which settled questions are counted.
    counted: watch::Sender<u64>,
    traffic: Option<Arc<Traffic>>,
}

#[derive(Debug, Default)]
struct Counts {
    /// Labels come from fixed tables, so neither an agent nor another version can add one.
    settled: BTreeMap<Labels, u64>,
    /// The times by purpose, since many clients answer permissions by themselves at once.
    answered: BTreeMap<&'static str, Histogram>,
}

/// How long answers took.
#[derive(Debug, Default)]
struct Histogram {
    /// How many questions were answered within each bound.
    within: [u64; BOUNDS.len()],
    count: u64,
    seconds: f64,
}

/// The labels of a settled question.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Labels {
    outcome: &'static str,
    /// Why the question was rejected. Empty for other outcomes: to Prometheus, an empty label is a missing label.
    reason: &'static str,
    responder: &'static str,
    origin: &'static str,
    purpose: &'static str,
}

impl Labels {
    fn of(settlement: &Settlement, question: &Question) -> Self {
        let (outcome, reason) = match &settlement.outcome {
            Outcome::Answered(_) => ("answered", ""),
            Outcome::Rejected(reason) => ("rejected", known(Reason::NAMES, reason.name())),
            Outcome::Failed => ("failed", ""),
            Outcome::Unknown(_) => (OTHER, ""),
        };
        let responder = known(Responder::NAMES, settlement.by.responder.name());
        let origin = known(Origin::NAMES, question.origin.name());
        Labels { outcome, reason, responder, origin, purpose: purpose(question) }
    }
}

impl fmt::Display for Labels {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Labels { outcome, reason, responder, origin, purpose } = self;
        write!(
            formatter,
            r#"outcome="{outcome}",reason="{reason}",responder="{responder}",origin="{origin}",purpose="{purpose}""#
        )
    }
}

impl Metrics {
    /// Creates counters at zero.
    pub(super) fn new(traffic: Option<Arc<Traffic>>) -> Self {
        Metrics { counts: Mutex::default(), counted: watch::Sender::new(0), traffic }
    }

    /// Counts a question that was settled.
    fn settled(&self, record: &Record) {
        let Some(settlement) = &record.settlement else { return };
        let labels = Labels::of(settlement, &record.question);
        // No code panics between two changes under this lock, so a poisoned lock is still consistent.
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Outcome::Answered(_) = &settlement.outcome {
            let seconds = settlement.at.since(record.opened_at).as_secs_f64();
            counts.answered.entry(labels.purpose).or_default().add(seconds);
        }
        *counts.settled.entry(labels).or_default() += 1;
    }

    /// Waits until all questions that were settled up to this revision are counted, up to a timeout.
    pub(super) async fn counted_up_to(&self, revision: u64) {
        let mut counted = self.counted.subscribe();
        // After a timeout, or after the end of the store, the numbers are only a little old: ignore the error.
        drop(timeout(limits::KEEP_ALIVE, counted.wait_for(|counted| *counted >= revision)).await);
    }

    /// Returns the counters and the current gauges, as text.
    pub(super) fn text(&self, bridges: usize, open: &[Arc<Record>]) -> Result<String, fmt::Error> {
        let text = &mut String::new();
        describe(text, "bridges", "gauge", "Bridges whose questions this server serves.")?;
        writeln!(text, "askbridge_bridges {bridges}")?;
        describe(text, "questions_open", "gauge", "Questions and permissions that are open.")?;
        // Zeros are written as well, so that a series does not vanish when the last question is settled.
        for name in Purpose::NAMES.iter().chain(&[OTHER]) {
            let count = open.iter().filter(|record| purpose(&record.question) == *name).count();
            writeln!(text, "askbridge_questions_open{{purpose=\"{name}\"}} {count}")?;
        }
        if let Some(traffic) = &self.traffic {
            traffic_of(text, traffic)?;
        }
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        describe(
            text,
            "questions_settled_total",
            "counter",
            "Questions that were settled, by outcome, reason of a rejection, responder, origin and purpose.",
        )?;
        for (labels, count) in &counts.settled {
            writeln!(text, "askbridge_questions_settled_total{{{labels}}} {count}")?;
        }
        let (name, help) =
            ("question_answer_seconds", "Seconds from the opening of a question to its answer.");
        describe(text, name, "histogram", help)?;
        for (purpose, histogram) in &counts.answered {
            histogram.write(text, &format!("askbridge_{name}"), purpose)?;
        }
        Ok(std::mem::take(text))
    }
}

impl Histogram {
    fn add(&mut self, seconds: f64) {
        self.count += 1;
        self.seconds += seconds;
        // The buckets of Prometheus are cumulative.
        for (bound, count) in BOUNDS.iter().zip(&mut self.within) {
            *count += u64::from(seconds <= *bound);
        }
    }

    fn write(&self, text: &mut String, name: &str, purpose: &str) -> fmt::Result {
        let label = format!("purpose=\"{purpose}\"");
        for (bound, count) in BOUNDS.iter().zip(self.within) {
            writeln!(text, "{name}_bucket{{{label},le=\"{bound}\"}} {count}")?;
        }
        writeln!(text, "{name}_bucket{{{label},le=\"+Inf\"}} {}", self.count)?;
        writeln!(text, "{name}_sum{{{label}}} {}", self.seconds)?;
        writeln!(text, "{name}_count{{{label}}} {}", self.count)
    }
}

fn purpose(question: &Question) -> &'static str {
    known(Purpose::NAMES, question.purpose.name())
}

/// Returns the name if this version knows it, else `other`: a peer must not be able to add labels.
fn known(names: &[&'static str], name: &str) -> &'static str {
    names.iter().find(|known| **known == name).copied().unwrap_or(OTHER)
}

fn describe(text: &mut String, name: &str, kind: &str, help: &str) -> fmt::Result {
    writeln!(text, "# HELP askbridge_{name} {help}\n# TYPE askbridge_{name} {kind}")
}

fn traffic_of(text: &mut String, traffic: &Traffic) -> fmt::Result {
    let ((client_lines, client_bytes), (agent_lines, agent_bytes)) =
        (traffic.client.get(), traffic.agent.get());
    for (name, help, client, agent) in [
        ("lines_total", "Lines received to be forwarded.", client_lines, agent_lines),
        ("bytes_total", "Bytes received to be forwarded.", client_bytes, agent_bytes),
    ] {
        describe(text, name, "counter", help)?;
        writeln!(
            text,
            "askbridge_{name}{{from=\"client\"}} {client}\naskbridge_{name}{{from=\"agent\"}} {agent}"
        )?;
    }
    Ok(())
}

/// Counts the questions that are settled from now on, until the store ends.
pub(super) async fn count(metrics: &Metrics, store: &Store) {
    let mut follower = store.follow();
    let mut last = RecentIds::default();
    let mut is_first = true;
    while let Some(batch) = follower.next().await {
        let revision = batch.revision();
        match batch {
            Batch::Events { events, .. } => {
                for (_, event) in events {
                    if let Event::Settled(record) = event
                        && last.is_new(&record.id)
                    {
                        metrics.settled(&record);
                    }
                }
            }
            Batch::Snapshot { .. } => {
                // Questions that were settled during a gap are counted if the store still remembers them.
                let settled: Vec<_> = store.read(|_, snapshot| snapshot.settled().cloned().collect());
                for record in settled {
                    // The first snapshot has questions from before the start: they are only remembered, and not
                    // counted.
                    if last.is_new(&record.id) && !is_first {
                        metrics.settled(&record);
                    }
                }
            }
        }
        is_first = false;
        // `send` would store nothing while no request waits.
        metrics.counted.send_replace(revision);
    }
    // Nothing more is counted: release the requests for the metrics that wait.
    metrics.counted.send_replace(u64::MAX);
}

/// The IDs of the last counted questions, as many as a store remembers.
#[derive(Debug, Default)]
struct RecentIds(VecDeque<QuestionId>);

impl RecentIds {
    /// Remembers a question. Returns whether it was not counted before.
    fn is_new(&mut self, id: &QuestionId) -> bool {
        if self.0.contains(id) {
            return false;
        }
        self.0.truncate(limits::REMEMBERED - 1);
        self.0.push_front(id.clone());
        true
    }
}
