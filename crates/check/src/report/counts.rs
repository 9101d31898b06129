//! How many cases ended how.

use serde::Serialize;

use crate::{suite::Outcome, verdict::Verdict};

use super::paint::{DIM, GREEN, RED, YELLOW, painted};

/// How many cases ended how.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// The rule holds.
    pub passed: usize,
    /// The rule is broken.
    pub failed: usize,
    /// Nothing was shown.
    pub inconclusive: usize,
    /// Not played.
    pub skipped: usize,
    /// How many of those that failed only warn: a recommendation was not followed.
    #[serde(skip)]
    pub warnings: usize,
    /// How many of those that failed were expected to.
    #[serde(skip)]
    pub expected: usize,
}

impl Counts {
    /// Counts outcomes.
    pub fn of(outcomes: &[Outcome]) -> Self {
        let mut counts = Self::default();
        outcomes.iter().for_each(|outcome| counts.add(outcome));
        counts
    }

    /// Counts one more.
    pub fn add(&mut self, outcome: &Outcome) {
        *match outcome.verdict {
            Verdict::Passed => &mut self.passed,
            Verdict::Failed(_) => &mut self.failed,
            Verdict::Inconclusive(_) => &mut self.inconclusive,
            Verdict::Skipped(_) => &mut self.skipped,
        } += 1;
        if matches!(outcome.verdict, Verdict::Failed(_)) && !outcome.is_unexpected {
            *if outcome.expected { &mut self.expected } else { &mut self.warnings } += 1;
        }
    }

    /// Returns how many were counted.
    pub fn total(self) -> usize {
        self.passed + self.failed + self.inconclusive + self.skipped
    }

    /// Returns how many failed, and make the run fail.
    pub(super) fn broken(self) -> usize {
        self.failed - self.warnings - self.expected
    }

    /// Returns them in words, in colours.
    pub(super) fn words(self) -> String {
        let warnings = if self.warnings == 1 { "warning" } else { "warnings" };
        let parts = [
            (self.passed, "passed", GREEN),
            (self.broken(), "failed", RED),
            (self.warnings, warnings, YELLOW),
            (self.expected, "failed as expected", YELLOW),
            (self.inconclusive, "inconclusive", YELLOW),
            (self.skipped, "skipped", DIM),
        ];
        let is_played = self.total() > self.skipped;
        let parts =
            parts.into_iter().filter(|(count, name, _)| *count > 0 || (*name == "passed" && is_played));
        let parts: Vec<_> =
            parts.map(|(count, name, style)| painted(style, &format!("{count} {name}"))).collect();
        parts.join(", ")
    }
}
