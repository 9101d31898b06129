//! The stores of a joined inbox: one with all questions, and, once somebody asks for it, one with those of this machine
//! alone. Both share their records.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::inbox::{Editor, Store};

/// The stores, which are edited together.
#[derive(Debug, Default)]
pub(super) struct Stores {
    all: Store,
    here: Mutex<Option<Store>>,
}

impl Stores {
    /// Returns the store with all questions.
    pub(super) fn all(&self) -> &Store {
        &self.all
    }

    /// Returns the store with the questions of this machine.
    pub(super) fn here(&self) -> Store {
        let mut here = self.lock();
        here.get_or_insert_with(|| {
            let here = Store::default();
            let known = self.all.read(|_, snapshot| {
                let settled: Vec<_> = snapshot.settled().cloned().collect();
                [settled, snapshot.open()].concat()
            });
            here.edit(|editor| {
                for record in known.into_iter().filter(|record| record.id.bridge.machine().is_none()) {
                    editor.put(record);
                }
            });
            here
        })
        .clone()
    }

    /// Changes what is known of questions, which are of this machine or of another one.
    pub(super) fn edit<T>(&self, is_here: bool, edit: impl Fn(&mut Editor<'_>) -> T) -> T {
        // Held until both are changed, so that they do not miss each other's changes.
        let here = self.lock();
        if let Some(here) = here.as_ref().filter(|_| is_here) {
            here.edit(&edit);
        }
        self.all.edit(&edit)
    }

    fn lock(&self) -> MutexGuard<'_, Option<Store>> {
        // No code panics while it holds the lock, so its data is consistent.
        self.here.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
