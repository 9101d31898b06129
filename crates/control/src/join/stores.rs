//! The stores of a joined inbox: one with all questions, and, once somebody asks for it, one with those of this machine
//! alone, and one with those of the others. They share their records.

use std::sync::{Mutex, MutexGuard, PoisonError};

use askbridge_core::desk::QuestionId;

use crate::inbox::{Editor, Store};

/// The stores, which are edited together.
#[derive(Debug, Default)]
pub(super) struct Stores {
    all: Store,
    parts: Mutex<Parts>,
}

/// The stores with a part of the questions, where they are asked for.
#[derive(Debug, Default)]
struct Parts {
    here: Option<Store>,
    elsewhere: Option<Store>,
}

impl Stores {
    /// Returns the store with all questions.
    pub(super) fn all(&self) -> &Store {
        &self.all
    }

    /// Returns the store with the questions of this machine.
    pub(super) fn here(&self) -> Store {
        let mut parts = self.lock();
        parts.here.get_or_insert_with(|| self.copy(|id| id.bridge.machine().is_none())).clone()
    }

    /// Returns the store with the questions of other machines.
    pub(super) fn elsewhere(&self) -> Store {
        let mut parts = self.lock();
        parts.elsewhere.get_or_insert_with(|| self.copy(|id| id.bridge.machine().is_some())).clone()
    }

    /// Returns a store with those of the questions that are meant.
    fn copy(&self, is_meant: impl Fn(&QuestionId) -> bool) -> Store {
        let known = self.all.read(|_, snapshot| {
            let settled: Vec<_> = snapshot.settled().cloned().collect();
            [settled, snapshot.open()].concat()
        });
        let copy = Store::default();
        copy.edit(|editor| {
            known.into_iter().filter(|record| is_meant(&record.id)).for_each(|record| editor.put(record));
        });
        copy
    }

    /// Changes what is known of questions, which are of this machine or of other ones.
    pub(super) fn edit<T>(&self, is_here: bool, edit: impl Fn(&mut Editor<'_>) -> T) -> T {
        // Held until both are changed, so that they do not miss each other's changes.
        let parts = self.lock();
        let part = if is_here { &parts.here } else { &parts.elsewhere };
        if let Some(part) = part {
            part.edit(&edit);
        }
        self.all.edit(&edit)
    }

    /// Waits until a change that one of the stores has is in the others as well.
    pub(super) fn keep_up(&self) {
        drop(self.lock());
    }

    fn lock(&self) -> MutexGuard<'_, Parts> {
        // No code panics while it holds the lock, so its data is consistent.
        self.parts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
