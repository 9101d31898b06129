//! What became of the questions, counted, in Prometheus' text format. No text of an agent is in it.

use std::{
    collections::BTreeMap,
    fmt::{self, Write},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{
    Router,
    extract::State,
    http::header::CONTENT_TYPE,
    response::{IntoResponse, Response},
    routing::get,
};

use super::http::App;
use crate::control::traffic::Traffic;
use crate::{
    control::old::{Record, Source},
    question::{Origin, Outcome, Reason, Responder},
};

/// The upper bounds of the histogram, in seconds: from a rule's answer to that of a person who went home.
const BOUNDS: [f64; 10] = [1.0, 5.0, 15.0, 60.0, 300.0, 900.0, 3600.0, 14_400.0, 86_400.0, 604_800.0];

/// The label of a name that this version does not know.
const OTHER: &str = "other";

/// What was counted since the server started.
#[derive(Debug)]
pub(super) struct Metrics {
    counts: Mutex<Counts>,
    traffic: Option<Arc<Traffic>>,
}

#[derive(Debug, Default)]
struct Counts {
    /// By outcome, responder and origin, none of which an agent can make up.
    settled: BTreeMap<(&'static str, &'static str, &'static str), u64>,
    /// How many were answered within each bound.
    within: [u64; BOUNDS.len()],
    answered: u64,
    seconds: f64,
}

impl Metrics {
    pub(super) fn new(traffic: Option<Arc<Traffic>>) -> Self {
        Metrics { counts: Mutex::default(), traffic }
    }

    /// Counts a question that was settled.
    pub(super) fn settled(&self, view: &Record) {
        let Some(settlement) = &view.settlement else { return };
        let outcome = match &settlement.outcome {
            Outcome::Answered(_) => "answered",
            Outcome::Rejected(reason) => known(Reason::NAMES, reason.name()),
            Outcome::Failed => "failed",
            _ => OTHER,
        };
        let responder = known(Responder::NAMES, settlement.by.responder.name());
        let labels = (outcome, responder, known(Origin::NAMES, view.question.origin.name()));
        // Nothing that holds it can leave it half changed.
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.settled.entry(labels).or_default() += 1;
        if let (Outcome::Answered(_), Some(took)) =
            (&settlement.outcome, between(&view.opened_at, &settlement.at))
        {
            counts.answered(took.as_secs_f64());
        }
    }

    /// Says what was counted, beside what is there now.
    fn text(&self, bridges: usize, open: usize) -> Result<String, fmt::Error> {
        let text = &mut String::new();
        gauge(text, "bridges", "Bridges whose questions are here.", bridges)?;
        gauge(text, "questions_open", "Questions that wait for an answer.", open)?;
        if let Some(traffic) = &self.traffic {
            traffic_of(text, traffic)?;
        }
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        describe(text, "questions_settled_total", "counter", "Questions that were settled.")?;
        for ((outcome, responder, origin), count) in &counts.settled {
            let labels = format!("outcome=\"{outcome}\",responder=\"{responder}\",origin=\"{origin}\"");
            writeln!(text, "askbridge_questions_settled_total{{{labels}}} {count}")?;
        }
        let (name, help) = ("question_answer_seconds", "How long questions were open that were answered.");
        describe(text, name, "histogram", help)?;
        for (bound, count) in BOUNDS.iter().zip(counts.within) {
            writeln!(text, "askbridge_{name}_bucket{{le=\"{bound}\"}} {count}")?;
        }
        writeln!(text, "askbridge_{name}_bucket{{le=\"+Inf\"}} {}", counts.answered)?;
        writeln!(text, "askbridge_{name}_sum {}", counts.seconds)?;
        writeln!(text, "askbridge_{name}_count {}", counts.answered)?;
        Ok(std::mem::take(text))
    }
}

impl Counts {
    fn answered(&mut self, seconds: f64) {
        self.answered += 1;
        self.seconds += seconds;
        for (bound, count) in BOUNDS.iter().zip(&mut self.within) {
            *count += u64::from(seconds <= *bound);
        }
    }
}

fn between(opened: &str, settled: &str) -> Option<Duration> {
    let (opened, settled) = (humantime::parse_rfc3339(opened).ok()?, humantime::parse_rfc3339(settled).ok()?);
    settled.duration_since(opened).ok()
}

/// Returns a name if this version knows it: what another bridge makes up does not become a label.
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
        ("lines_total", "Lines that came to be forwarded.", client_lines, agent_lines),
        ("bytes_total", "Bytes that came to be forwarded.", client_bytes, agent_bytes),
    ] {
        describe(text, name, "counter", help)?;
        writeln!(
            text,
            "askbridge_{name}{{from=\"client\"}} {client}\naskbridge_{name}{{from=\"agent\"}} {agent}"
        )?;
    }
    Ok(())
}

fn gauge(text: &mut String, name: &str, help: &str, value: usize) -> fmt::Result {
    describe(text, name, "gauge", help)?;
    writeln!(text, "askbridge_{name} {value}")
}

/// Returns the routes.
pub(super) fn routes<S: Source>() -> Router<App<S>> {
    Router::new().route("/healthz", get(async || "ok\n")).route("/metrics", get(metrics))
}

async fn metrics<S: Source>(State(app): State<App<S>>) -> Response {
    let (bridges, open) = (app.source.status().len(), app.open().1.len());
    // Writing to a text does not fail.
    let text = app.metrics.text(bridges, open).unwrap_or_default();
    ([(CONTENT_TYPE, "text/plain; version=0.0.4")], text).into_response()
}
