//! What a broken rule still keeps for its person. Without its mistake, it would have kept a question from the rules behind it:
//! to leave it out must not let one of them decide what it was about (I12).

use std::fmt;

use super::{asked::QuestionView, conditions::Conditions};

/// A rule with a mistake. It decides nothing, and no later rule submits anything where its conditions hold.
#[derive(Clone, Debug, PartialEq)]
pub struct BrokenRule {
    place: String,
    conditions: Conditions,
}

impl BrokenRule {
    /// Returns the rule at this place, of which these conditions could be read.
    pub(super) fn new(place: String, conditions: Conditions) -> Self {
        BrokenRule { place, conditions }
    }

    /// Returns what may have been a rule, of which nothing could be read.
    pub fn of_anything(place: String) -> Self {
        BrokenRule { place, conditions: Conditions::default() }
    }

    /// Says what that means for the rules behind it.
    pub fn consequence(&self) -> &'static str {
        match self.conditions.is_empty() {
            true => "until it is corrected, no later rule decides anything",
            false => "until it is corrected, no later rule decides what its other conditions match",
        }
    }

    /// Returns whether it may be about a question.
    pub(super) fn may_match(&self, asked: &QuestionView<'_>) -> bool {
        self.conditions.missed(asked).is_none()
    }
}

impl fmt::Display for BrokenRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "the rule at {} may keep it for you, and has a mistake", self.place)
    }
}
