//! Several permissions as one: those that are listed to be decided together, and those that were and are on their way.
//! Pure. The keys of the list are left to `together.rs`, what becomes of what was sent to `underway.rs`.

use std::{collections::BTreeSet, sync::Arc};

use askbridge_core::desk::{QuestionId, Record};

use super::{editor::Editor, lines::folded};
use crate::present::alike;

/// The most columns of the list: it shows commands, which are long.
pub(super) const COLUMNS: u16 = 104;
/// The lines of the screen that are not of the list: the border, what can be chosen, and the keys.
pub(super) const AROUND: usize = 6;

/// Like permissions, in front of the screen.
#[derive(Clone, Debug, PartialEq)]
pub struct Together {
    pub(super) records: Vec<Arc<Record>>,
    /// The first line that is shown.
    pub(super) from: usize,
    /// Whether the last line was in view.
    pub(super) is_read: bool,
    /// Whether all are to be allowed, or rejected; `None` until that is chosen.
    pub(super) allows: Option<bool>,
    /// The word that confirms it, where that takes one.
    pub(super) typed: Option<Editor>,
}

impl Together {
    /// Returns how many there are.
    pub(super) fn count(&self) -> usize {
        self.records.len()
    }

    /// Returns its lines.
    pub(super) fn lines(&self, columns: usize) -> Vec<String> {
        let list = alike::list(&self.records, columns);
        list.iter().flat_map(|line| folded(line, 4, columns)).collect()
    }

    /// Returns whether a word confirms it.
    pub(super) fn needs_word(&self) -> bool {
        self.allows == Some(true) && self.records.iter().any(|record| record.question.takes_second_step())
    }
}

/// What was decided together, and is on its way.
#[derive(Debug)]
pub(super) struct Group {
    /// The permission that the person opened first.
    pub(super) opened: QuestionId,
    /// Those without a result.
    pub(super) ids: BTreeSet<QuestionId>,
    /// How many there were.
    pub(super) all: usize,
    /// How many were decided.
    pub(super) done: usize,
    /// How many there were.
    /// Whether they are allowed, or rejected.
    pub(super) allows: bool,
    /// Why others were left out.
    pub(super) left: BTreeSet<String>,
    /// Whether it was taken back.
    pub(super) is_back: bool,
}
