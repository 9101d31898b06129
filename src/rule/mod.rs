//! Rules: what the person decided beforehand about questions to come. The first rule that matches a question and can do
//! what it says decides; a question that no rule decides waits for the person.
//! Pure. Where rules are written is left to `settings`, applying them to `rule_service` and `command`.

mod pattern;

mod command;

mod asked;

mod conditions;

mod given;

mod action;

pub mod keys;

mod broken;

mod read;

mod decide;

#[cfg(test)]
mod samples;

#[cfg(test)]
mod promises;

pub use action::RuleEffect;
pub use broken::BrokenRule;
pub use decide::{Decision, Explanation, SkippedRule, Trial, decide, explain};
pub use read::{Mistake, Rule};
