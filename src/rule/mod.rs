//! Rules: decisions of the user about future questions, made in advance. The first rule that matches a question and can
//! do what it says decides; a question that no rule decides waits for the user. Pure. Where rules are written is left
//! to `settings`, applying them to `service/rules.rs` and `command`.

mod action;
mod conditions;
mod decide;
pub mod keys;
mod pattern;
mod read;
#[cfg(test)]
mod samples;

pub use action::RuleEffect;
pub use conditions::BrokenRule;
pub use decide::{Decision, Explanation, SkippedRule, Trial, decide, explain};
pub use read::{Mistake, Rule};
