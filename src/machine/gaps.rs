//! What an inbox of several bridges leaves out, and why, so that a listing never looks complete when it is not.

use std::{collections::BTreeSet, path::PathBuf};

use crate::{
    desk::{IdPrefix, QuestionId},
    limits,
};

/// What is left out of what a [`super::Machine`] knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Gaps {
    /// The sockets of bridges that did not reply.
    pub unreachable: Vec<PathBuf>,
    /// The sockets of bridges that were too busy: they had too many connections or calls.
    pub busy: Vec<PathBuf>,
    /// The sockets of bridges that speak a protocol from before protocols had versions.
    pub older: Vec<PathBuf>,
    /// How many open questions need a newer askbridge.
    pub unreadable: usize,
    /// How many open questions are left out because there is no room for them.
    pub left_out: usize,
}

impl Gaps {
    /// Leaves out nothing but so many questions that need a newer askbridge.
    pub fn of_unreadable(unreadable: usize) -> Self {
        Gaps { unreadable, ..Gaps::default() }
    }

    /// Returns whether nothing is left out.
    pub fn is_empty(&self) -> bool {
        *self == Gaps::default()
    }

    /// Returns whether each bridge could be asked.
    pub fn has_asked_all(&self) -> bool {
        self.unreachable.is_empty() && self.busy.is_empty() && self.older.is_empty()
    }
}

/// Questions that are counted instead of shown.
#[derive(Debug, Default)]
pub(super) struct HiddenQuestions {
    ids: BTreeSet<QuestionId>,
    /// How many there are beside those: without an ID, or beyond the bound.
    others: usize,
}

impl HiddenQuestions {
    /// Counts a question, once where its ID is known.
    pub(super) fn insert(&mut self, id: Option<QuestionId>) {
        match id {
            Some(id) if self.ids.contains(&id) => {}
            Some(id) if self.ids.len() < limits::LISTED => drop(self.ids.insert(id)),
            _ => self.others = self.others.saturating_add(1),
        }
    }

    /// Counts a question no longer.
    pub(super) fn remove(&mut self, id: &QuestionId) {
        self.ids.remove(id);
    }

    /// Counts nothing any more.
    pub(super) fn clear(&mut self) {
        self.ids.clear();
        self.others = 0;
    }

    /// Returns how many questions are counted.
    pub(super) fn count(&self) -> usize {
        self.ids.len() + self.others
    }

    /// Returns the IDs of the counted questions, as far as they are known.
    pub(super) fn ids(&self) -> impl Iterator<Item = &QuestionId> {
        self.ids.iter()
    }

    /// Returns the IDs of those that this stands for, as far as they are known.
    pub(super) fn matching<'a>(&'a self, typed: &'a IdPrefix) -> impl Iterator<Item = &'a QuestionId> {
        self.ids.iter().filter(|id| typed.matches(id))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_with_an_id_counts_once() {
        let mut counted = HiddenQuestions::default();
        let id: QuestionId = "b-1".parse().unwrap();
        for _ in 0..3 {
            counted.insert(Some(id.clone()));
        }
        counted.insert(None);
        counted.insert(None);
        assert_eq!(counted.count(), 3);
        counted.remove(&id);
        assert_eq!(counted.count(), 2);
        counted.clear();
        assert_eq!(counted.count(), 0);
    }

    #[test]
    fn the_ids_that_are_kept_are_bounded() {
        let mut counted = HiddenQuestions::default();
        for number in 0..2 * limits::LISTED {
            counted.insert(Some(format!("b-{number}").parse().unwrap()));
        }
        assert_eq!((counted.ids.len(), counted.count()), (limits::LISTED, 2 * limits::LISTED));
    }
}
