//! Rules: decisions of the user about future questions, made in advance. The first rule that matches a question, and
//! whose action is possible, decides. A question that no rule decides waits for the user. Pure. Reading the files with
//! rules is left to `settings`, applying rules to `service/rules.rs` and `command`.

mod action;
mod conditions;
mod decide;
pub mod keys;
mod like;
mod pattern;
mod propose;
mod read;
#[cfg(test)]
mod samples;

pub use action::RuleEffect;
pub use conditions::BrokenRule;
pub use decide::{Decision, Explanation, SkippedRule, Trial, decide, explain};
pub use like::like;
pub use propose::{Proposal, was_allowed};
pub use read::{Mistake, Rule};
