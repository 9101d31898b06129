//! The log of a case: the lines that its ends wrote and received, and the events of its processes, each with its time. A
//! failure shows its last lines, `--wire` all of them. Long lines are cut.

use std::time::{Duration, Instant};

use askbridge_os::terminal::printable_bytes;

use crate::limits;

/// The events of one case, in their order.
#[derive(Debug)]
pub(crate) struct Wire {
    started: Instant,
    entries: Vec<(Duration, String)>,
    /// How many entries the opening has that many cases share; 0 until it has succeeded.
    opening: usize,
}

/// The events that led to a failure.
pub(crate) struct Tail {
    /// The methods of the opening, if it succeeded.
    pub(crate) after: Vec<String>,
    /// How many events after the opening are left out.
    pub(crate) left_out: usize,
    pub(crate) events: Vec<String>,
}

impl Wire {
    pub(crate) fn new() -> Self {
        Self { started: Instant::now(), entries: Vec::new(), opening: 0 }
    }

    /// Notes bytes after a mark such as `client>`.
    pub(crate) fn bytes(&mut self, mark: &str, bytes: &[u8]) {
        self.note(format!("{mark} {}", shown(bytes)));
    }

    /// Notes an event.
    pub(crate) fn note(&mut self, event: String) {
        self.entries.push((self.started.elapsed(), event));
    }

    /// Notes that the opening has succeeded.
    pub(crate) fn opened(&mut self) {
        self.opening = self.entries.len();
    }

    /// Returns the last events after the opening.
    pub(crate) fn tail(&self) -> Tail {
        let (opening, case) = self.entries.split_at(self.opening.min(self.entries.len()));
        let left_out = case.len().saturating_sub(limits::SHOWN_WIRE);
        let events = case.iter().skip(left_out).map(|(_, event)| event.clone()).collect();
        Tail { after: methods(opening.iter().map(|(_, event)| event.as_str())), left_out, events }
    }

    /// Returns all events, one a line, each after its time in milliseconds.
    pub(crate) fn text(&self) -> String {
        let line = |(at, event): &(Duration, String)| format!("{:>9.3}  {event}\n", at.as_secs_f64() * 1e3);
        self.entries.iter().map(line).collect()
    }
}

/// Returns the methods of messages, each once.
fn methods<'a>(events: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut methods: Vec<String> = Vec::new();
    for event in events {
        let name = event.split_once(r#""method":""#).and_then(|(_, rest)| rest.split('"').next());
        if let Some(name) = name.filter(|name| !methods.iter().any(|known| known == name)) {
            methods.push(name.to_owned());
        }
    }
    methods
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_opening_is_shortened_to_its_methods_once_it_has_succeeded() {
        let mut wire = Wire::new();
        for mark in ["client>", "agent<"] {
            wire.bytes(mark, br#"{"id":0,"method":"initialize"}"#);
        }
        let tail = wire.tail();
        assert_eq!((tail.after.len(), tail.events.len()), (0, 2));
        wire.opened();
        (0..=limits::SHOWN_WIRE).for_each(|at| wire.note(at.to_string()));
        let tail = wire.tail();
        assert_eq!((tail.after, tail.left_out), (vec!["initialize".to_owned()], 1));
        assert_eq!(tail.events.first().map(String::as_str), Some("1"));
    }
}
