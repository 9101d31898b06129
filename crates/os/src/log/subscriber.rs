//! The subscriber of log events: it is created with the first event, and counts repeated warnings instead of writing
//! each.
//!
//! Most runs log nothing, and a subscriber costs 36 KiB and a fiftieth of a bridge's start. A broken or hostile agent
//! may cause thousands of warnings a second. Formatting and writing a line is left to `log.rs`.

use std::{
    collections::BTreeMap,
    fmt::Debug,
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Instant,
};

use tracing::{
    Dispatch, Event, Level, Metadata, Subscriber,
    field::{Field, Visit},
    level_filters::LevelFilter,
    span::{Attributes, Id, Record},
};
use tracing_subscriber::filter::Targets;

use crate::limits;

/// Makes a subscriber when it is needed.
pub(super) struct LateSubscriber<M> {
    targets: Targets,
    level: LevelFilter,
    repeats: Arc<Repeats>,
    make: M,
    made: OnceLock<Dispatch>,
}

impl<M: Fn() -> Dispatch> LateSubscriber<M> {
    /// Returns a subscriber to the events that these targets enable, none of which is above this level. `make` creates
    /// the subscriber that formats them. Repeated warnings are counted in `repeats`.
    pub(super) fn new(targets: Targets, level: LevelFilter, repeats: Arc<Repeats>, make: M) -> Self {
        LateSubscriber { targets, level, repeats, make, made: OnceLock::new() }
    }

    fn made(&self) -> &Dispatch {
        self.made.get_or_init(&self.make)
    }
}

impl<M: Fn() -> Dispatch + 'static> Subscriber for LateSubscriber<M> {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        self.targets.would_enable(metadata.target(), metadata.level())
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.level)
    }

    fn event(&self, event: &Event<'_>) {
        match self.repeats.take(event, Instant::now()) {
            LineDecision::Written => {}
            // The summary comes back to this function as an event: `take` has released its lock by now.
            LineDecision::Behind(summary) => summary.write(),
            LineDecision::Counted => return,
        }
        self.made().event(event);
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        self.made().new_span(span)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        self.made().record(span, values);
    }

    fn record_follows_from(&self, span: &Id, follows: &Id) {
        self.made().record_follows_from(span, follows);
    }

    fn enter(&self, span: &Id) {
        self.made().enter(span);
    }

    fn exit(&self, span: &Id) {
        self.made().exit(span);
    }

    fn clone_span(&self, span: &Id) -> Id {
        self.made().clone_span(span)
    }

    fn try_close(&self, span: Id) -> bool {
        self.made().try_close(span)
    }
}

/// The warnings that were written lately, by the place in the code that they come from.
#[derive(Debug, Default)]
pub(super) struct Repeats(Mutex<BTreeMap<CallSite, Kind>>);

/// A file and a line.
type CallSite = (&'static str, u32);

/// The warnings of one place.
#[derive(Debug)]
struct Kind {
    /// The text of the first of them.
    message: String,
    /// When the first of them was written.
    since: Instant,
    written: u32,
    /// How many were not written.
    more: u64,
}

/// The decision about a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum LineDecision {
    /// It is written.
    Written,
    /// It is written, after this summary of the lines that were not.
    Behind(Summary),
    /// It is only counted.
    Counted,
}

/// How many lines of a kind were not written.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Summary {
    more: u64,
    message: String,
}

impl Summary {
    /// Writes it.
    pub(super) fn write(&self) {
        tracing::warn!("{} more warnings were not written: {}", self.more, self.message);
    }
}

impl Repeats {
    /// Decides about an event. Only warnings and errors are ever counted.
    pub(super) fn take(&self, event: &Event<'_>, now: Instant) -> LineDecision {
        let metadata = event.metadata();
        // Events of the log itself are always written: summaries, and notices, each of which is about one question.
        let is_own = metadata.module_path().is_some_and(|path| module_path!().starts_with(path));
        if *metadata.level() > Level::WARN || is_own {
            return LineDecision::Written;
        }
        let Some(place) = place(metadata) else { return LineDecision::Written };
        // No code panics while it holds the lock, so its data is consistent.
        let mut kinds = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(kind) = kinds.get_mut(&place) else {
            let kind = Kind { message: message(event), since: now, written: 1, more: 0 };
            kinds.insert(place, kind);
            return LineDecision::Written;
        };
        if now.duration_since(kind.since) >= limits::LOG_REPEATED_TIME {
            let before =
                std::mem::replace(kind, Kind { message: message(event), since: now, written: 1, more: 0 });
            return before.summary().map_or(LineDecision::Written, LineDecision::Behind);
        }
        if kind.written < limits::LOG_REPEATED {
            kind.written += 1;
            return LineDecision::Written;
        }
        kind.more += 1;
        LineDecision::Counted
    }

    /// Takes the summaries of all lines that were counted and not written.
    pub(super) fn rest(&self) -> Vec<Summary> {
        let kinds = std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner));
        kinds.into_values().filter_map(Kind::summary).collect()
    }
}

impl Kind {
    fn summary(self) -> Option<Summary> {
        let Kind { more, message, .. } = self;
        (more > 0).then_some(Summary { more, message })
    }
}

fn place(metadata: &Metadata<'static>) -> Option<CallSite> {
    metadata.file().zip(metadata.line())
}

/// Returns the text of an event, without its values.
fn message(event: &Event<'_>) -> String {
    struct Message(String);
    impl Visit for Message {
        fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
            // Values differ between repetitions of one warning, so they must not keep it from being counted.
            if field.name() == "message" {
                self.0 = format!("{value:?}");
            }
        }
    }
    let mut message = Message(String::new());
    event.record(&mut message);
    message.0
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tracing::{
        Subscriber,
        span::{Attributes, Id, Record},
    };

    use super::*;
    use crate::limits;

    /// Takes each event at a time that the test sets.
    #[derive(Clone)]
    struct Taker {
        repeats: Arc<Repeats>,
        now: Arc<Mutex<Instant>>,
        taken: Arc<Mutex<Vec<LineDecision>>>,
    }

    impl Subscriber for Taker {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }

        fn event(&self, event: &Event<'_>) {
            let line = self.repeats.take(event, *self.now.lock().expect("a time"));
            self.taken.lock().expect("lines").push(line);
        }

        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn enter(&self, _: &Id) {}

        fn exit(&self, _: &Id) {}
    }

    #[test]
    fn warnings_of_one_place_are_counted_once_they_are_many() {
        let repeats = Arc::new(Repeats::default());
        let now = Arc::new(Mutex::new(Instant::now()));
        let taker = Taker { repeats: Arc::clone(&repeats), now: Arc::clone(&now), taken: Arc::default() };
        let taken = Arc::clone(&taker.taken);
        let take = || std::mem::take(&mut *taken.lock().expect("lines"));
        let written =
            |lines: &[LineDecision]| lines.iter().filter(|line| **line == LineDecision::Written).count();
        let most = usize::try_from(limits::LOG_REPEATED).expect("a number");
        tracing::subscriber::with_default(taker, || {
            let warn = |number| tracing::warn!(number, "the agent did not {}", "listen");
            (0..1000).for_each(warn);
            let lines = take();
            assert_eq!((written(&lines), lines.len()), (most, 1000));
            // Others have counts of their own, and what is no warning has none.
            (0..1000).for_each(|_| tracing::info!("a question"));
            tracing::error!("another");
            assert_eq!(written(&take()), 1001);
            // After a minute, a line says how many there were.
            *now.lock().expect("a time") += limits::LOG_REPEATED_TIME;
            (0..1000).for_each(warn);
            let lines = take();
            let message = "the agent did not listen".to_owned();
            let more = u64::try_from(1000 - most).expect("a number");
            let summary = Summary { more, message };
            assert_eq!(
                lines.first(),
                Some(&LineDecision::Behind(Summary { more, message: summary.message.clone() }))
            );
            assert_eq!(written(&lines), most - 1);
            // The last ones are told at the end, and once.
            assert_eq!(repeats.rest(), [summary]);
            assert_eq!(repeats.rest(), []);
        });
    }
}
