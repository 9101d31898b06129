//! What the ends of a case wrote and got, and what the processes did, each with its time: for the report of a failure, and
//! for `--wire`. Long lines are cut.

use std::time::{Duration, Instant};

use askbridge_os::terminal::printable_bytes;

use crate::limits;

/// The events of one case, in their order.
#[derive(Debug)]
pub(crate) struct Wire {
    started: Instant,
    entries: Vec<(Duration, String)>,
}

impl Wire {
    pub(crate) fn new() -> Self {
        Self { started: Instant::now(), entries: Vec::new() }
    }

    /// Notes bytes after a mark such as `client>`.
    pub(crate) fn bytes(&mut self, mark: &str, bytes: &[u8]) {
        self.note(format!("{mark} {}", shown(bytes)));
    }

    /// Notes an event.
    pub(crate) fn note(&mut self, event: String) {
        self.entries.push((self.started.elapsed(), event));
    }

    /// Returns the last events.
    pub(crate) fn last(&self) -> Vec<String> {
        let from = self.entries.len().saturating_sub(limits::SHOWN_WIRE);
        self.entries.iter().skip(from).map(|(_, event)| event.clone()).collect()
    }

    /// Returns all events, one a line, each after its time in milliseconds.
    pub(crate) fn text(&self) -> String {
        let line = |(at, event): &(Duration, String)| format!("{:>9.3}  {event}\n", at.as_secs_f64() * 1e3);
        self.entries.iter().map(line).collect()
    }
}

/// Returns bytes as one printable line, cut where they are long. A line feed at the end is not shown.
pub(crate) fn shown(bytes: &[u8]) -> String {
    let line = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    match line.get(..limits::SHOWN_LINE) {
        Some(start) if line.len() > limits::SHOWN_LINE => {
            format!("{}… ({} bytes)", printable_bytes(start), line.len())
        }
        _ => printable_bytes(line),
    }
}
