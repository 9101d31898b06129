//! Whether a person is looking at the questions: programs with a screen say so again and again while they have the focus.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use crate::limits;

/// When a program last said that a person is there. Cheap to clone; all clones are one.
#[derive(Clone, Debug, Default)]
pub(super) struct Presence(Arc<Mutex<Option<Instant>>>);

impl Presence {
    /// Takes over that a person is there now.
    pub(super) fn is_here_now(&self) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    }

    /// Returns whether a person was there within [`limits::PRESENCE`].
    pub(super) fn is_here(&self) -> bool {
        let last = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.is_some_and(|last| last.elapsed() < limits::PRESENCE)
    }
}
