//! Whether a person is looking at the questions: programs with a screen say so again and again while they have the focus.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::time;

use crate::limits;

/// When a program last said that a person is there. Cheap to clone; all clones are one.
#[derive(Clone, Debug, Default)]
pub(super) struct Presence(Arc<Mutex<Option<time::Instant>>>);

impl Presence {
    /// Takes over that a person is there now.
    pub(super) fn is_here_now(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(time::Instant::now());
    }

    /// Returns whether a person was there within [`limits::PRESENCE`].
    pub(super) fn is_here(&self) -> bool {
        let last = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.is_some_and(|last| last.elapsed() < limits::PRESENCE)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn person_counts_as_present_for_half_a_minute() {
        let (presence, instant) = (Presence::default(), Duration::from_millis(1));
        let same = presence.clone();
        assert!(!same.is_here());
        for _ in 0..2 {
            presence.is_here_now();
            advance(limits::PRESENCE - instant).await;
            assert!(same.is_here());
        }
        advance(instant).await;
        assert!(!same.is_here());
    }
}
