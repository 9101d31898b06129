//! Finds the rule that decides about a question: the first that matches the question and whose action is possible.

use std::{collections::BTreeMap, sync::Arc};

use askbridge_core::{desk::Record, guard::Files};

use super::{action::RuleEffect, conditions::QuestionView, read::Rule};

/// The decision of the rules about a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The name of the rule.
    pub rule: Arc<str>,
    /// The effect.
    pub what: RuleEffect,
}

/// A rule that does not apply to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedRule {
    /// The name of the rule.
    pub rule: Arc<str>,
    /// Why it does not apply. It quotes the agent, so it is not safe to print raw.
    pub why: String,
}

/// The decision of the rules about a question, and why no earlier rule applies.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The rules before the one that decides, in their order.
    pub passed: Vec<SkippedRule>,
    /// The decision. `None` if no rule applies.
    pub decision: Option<Decision>,
}

/// Decides about a question, as if it were open. Looks at the file system only if a rule would allow access to files,
/// or a command in a folder.
pub fn decide(rules: &[Rule], record: &Record, files: &dyn Files) -> Option<Decision> {
    let asked = QuestionView::new(&record.question, files);
    rules.iter().find_map(|rule| {
        // This does not call `explain`, so that no text is made of the conditions that fail.
        let what = rule.apply(&asked).ok()?.of_edition(record.edition);
        Some(Decision { rule: Arc::clone(rule.name()), what })
    })
}

/// Decides about a question, and explains why no earlier rule applies.
pub fn explain(rules: &[Rule], record: &Record, files: &dyn Files) -> Explanation {
    let asked = QuestionView::new(&record.question, files);
    let mut passed = Vec::new();
    for rule in rules {
        match rule.apply(&asked) {
            Ok(what) => {
                let what = what.of_edition(record.edition);
                let decision = Some(Decision { rule: Arc::clone(rule.name()), what });
                return Explanation { passed, decision };
            }
            Err(why) => passed.push(SkippedRule { rule: Arc::clone(rule.name()), why: why.to_string() }),
        }
    }
    Explanation { passed, decision: None }
}

/// The decisions that rules would have made about many questions.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial<'a> {
    rules: &'a [Rule],
    /// How many questions were looked at.
    pub tried: usize,
    /// How many of them each rule decides, by the names of the rules. A rule that decides none has a zero.
    pub counts: BTreeMap<Arc<str>, usize>,
}

impl<'a> Trial<'a> {
    /// Begins to try these rules.
    pub fn new(rules: &'a [Rule]) -> Self {
        let counts = rules.iter().map(|rule| (Arc::clone(rule.name()), 0)).collect();
        Trial { rules, tried: 0, counts }
    }

    /// Decides about a question, as if it were open, and only counts the decision.
    pub fn add(&mut self, record: &Record, files: &dyn Files) -> Option<Decision> {
        self.tried += 1;
        let decision = decide(self.rules, record, files)?;
        *self.counts.entry(Arc::clone(&decision.rule)).or_default() += 1;
        Some(decision)
    }

    /// Returns how many of the questions a rule decides.
    pub fn decided(&self) -> usize {
        self.counts.values().sum()
    }
}

#[cfg(test)]
mod tests {
    use std::{io::Write, time::Instant};

    use serde_json::json;

    use super::*;
    use crate::rule::samples::{NoLinks, permission, record, rule};

    #[test]
    fn many_questions_are_tried_at_once() {
        const COUNT: usize = 100_000;
        let rules: Vec<_> = (0..20)
            .map(|number| rule(&json!({ "name": number.to_string(), "agent": "Co*", "command": format!("cargo x{number} *"), "dangerous": true, "then": "allow" })))
            .chain([rule(&json!({ "name": "tests", "project": "~/src/*", "command": "cargo test *", "dangerous": true, "then": "allow" }))])
            .collect::<Result<_, _>>()
            .expect("rules");
        let records: Vec<_> = ["cargo test --lib", "cargo build", "git push; x"]
            .map(|command| record(&permission(command)))
            .into();
        let begun = Instant::now();
        let mut trial = Trial::new(&rules);
        let decided = records.iter().cycle().take(COUNT).filter_map(|record| trial.add(record, &NoLinks));
        assert!(decided.map(|decision| decision.rule).all(|rule| rule.as_ref() == "tests"));
        let took = begun.elapsed();
        assert_eq!((trial.tried, trial.decided()), (COUNT, COUNT.div_ceil(3)));
        assert_eq!((trial.counts["tests"], trial.counts["0"]), (COUNT.div_ceil(3), 0));
        writeln!(std::io::stderr(), "{COUNT} questions and 21 rules: {took:?}").expect("stderr");
    }
}
