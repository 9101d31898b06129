//! Whether the journal works, and what is said when it does not: one warning, not one a question.

use std::{
    fmt::Display,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Instant,
};

use crate::limits;

/// Whether the journal works. While it does not, no caller waits for it.
#[derive(Debug, Default)]
pub(super) struct Health(Mutex<HealthState>);

#[derive(Debug, Default)]
struct HealthState {
    is_failing: bool,
    warned: Option<Instant>,
}

impl Health {
    /// Returns whether the last thing that was tried failed, or took too long.
    pub(super) fn is_failing(&self) -> bool {
        self.lock().is_failing
    }

    /// Records that it failed, or took too long. Returns whether that was worth a warning.
    pub(super) fn failed(&self, why: &dyn Display) -> bool {
        let mut state = self.lock();
        let was_failing = std::mem::replace(&mut state.is_failing, true);
        let is_new = state.warned.is_none_or(|warned| warned.elapsed() >= limits::journal::WARNING);
        let warns = is_new && !was_failing;
        if warns {
            state.warned = Some(Instant::now());
        }
        drop(state);
        if warns {
            tracing::warn!("questions go on without the journal: {why}");
        } else {
            tracing::debug!("the journal does not work: {why}");
        }
        warns
    }

    /// Records that it works.
    pub(super) fn works(&self) {
        let was_failing = std::mem::take(&mut self.lock().is_failing);
        if was_failing {
            tracing::info!("the journal works again");
        }
    }

    fn lock(&self) -> MutexGuard<'_, HealthState> {
        // Nothing that holds it can leave it half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
