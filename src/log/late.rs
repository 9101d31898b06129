//! A subscriber of events that is made when the first is logged: most runs log nothing, and to make one takes 36 KiB and a
//! fiftieth of the start of a bridge.

use std::{
    sync::{Arc, OnceLock},
    time::Instant,
};

use tracing::{
    Dispatch, Event, Metadata, Subscriber,
    level_filters::LevelFilter,
    span::{Attributes, Id, Record},
};
use tracing_subscriber::filter::Targets;

use super::repeats::{LineDecision, Repeats};

/// Makes a subscriber when it is needed.
pub(super) struct LateSubscriber<M> {
    targets: Targets,
    level: LevelFilter,
    repeats: Arc<Repeats>,
    make: M,
    made: OnceLock<Dispatch>,
}

impl<M: Fn() -> Dispatch> LateSubscriber<M> {
    /// Returns a subscriber to what these targets enable, none of which is above this level. `make` makes what it is.
    /// Warnings that repeat are counted in `repeats`.
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
