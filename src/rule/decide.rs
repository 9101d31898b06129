//! Which rule decides about a question: the first that matches and can do what it says.

use std::{borrow::Borrow, collections::BTreeMap, sync::Arc};

use super::{action::What, asked::Asked, read::Rule};
use crate::desk::{QuestionId, Record};

/// What the rules decide about a question.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The name of the rule.
    pub rule: Arc<str>,
    /// What is done.
    pub what: What,
}

/// A rule that does not apply to a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passed {
    /// The name of the rule.
    pub rule: Arc<str>,
    /// Why it does not apply. It quotes the agent, so it is not safe to print raw.
    pub why: String,
}

/// What the rules decide about a question, and why no earlier rule does.
#[derive(Clone, Debug, PartialEq)]
pub struct Explained {
    /// The rules before, in their order.
    pub passed: Vec<Passed>,
    /// What is decided. `None` where no rule applies.
    pub decision: Option<Decision>,
}

/// Decides about a question, as if it were open.
pub fn decide(rules: &[Rule], record: &Record) -> Option<Decision> {
    let asked = Asked::new(&record.question);
    rules.iter().find_map(|rule| {
        let what = rule.apply(&asked).ok()?;
        Some(Decision { rule: Arc::clone(rule.name()), what })
    })
}

/// Decides about a question, and says why no earlier rule does.
pub fn explain(rules: &[Rule], record: &Record) -> Explained {
    let asked = Asked::new(&record.question);
    let mut passed = Vec::new();
    for rule in rules {
        match rule.apply(&asked) {
            Ok(what) => {
                let decision = Some(Decision { rule: Arc::clone(rule.name()), what });
                return Explained { passed, decision };
            }
            Err(why) => passed.push(Passed { rule: Arc::clone(rule.name()), why: why.to_string() }),
        }
    }
    Explained { passed, decision: None }
}

/// What rules would have decided about many questions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trial {
    /// How many questions were looked at.
    pub tried: usize,
    /// How many of them each rule decides, by the names of the rules. A rule that decides none has a zero.
    pub counts: BTreeMap<Arc<str>, usize>,
    /// What is decided, in the order of the questions. Those that no rule decides are not there.
    pub decided: Vec<(QuestionId, Decision)>,
}

/// Decides about many questions, as if they were open, and does nothing.
pub fn try_all(rules: &[Rule], records: impl IntoIterator<Item = impl Borrow<Record>>) -> Trial {
    let counts = rules.iter().map(|rule| (Arc::clone(rule.name()), 0)).collect();
    let mut trial = Trial { tried: 0, counts, decided: Vec::new() };
    for record in records {
        let record = record.borrow();
        trial.tried += 1;
        if let Some(decision) = decide(rules, record) {
            *trial.counts.entry(Arc::clone(&decision.rule)).or_default() += 1;
            trial.decided.push((record.id.clone(), decision));
        }
    }
    trial
}

#[cfg(test)]
mod tests {
    use std::{io::Write, time::Instant};

    use serde_json::json;

    use super::*;
    use crate::rule::samples::{permission, record, rule};

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
        let trial = try_all(&rules, records.iter().cycle().take(COUNT));
        let took = begun.elapsed();
        assert_eq!((trial.tried, trial.decided.len()), (COUNT, COUNT.div_ceil(3)));
        assert_eq!((trial.counts["tests"], trial.counts["0"]), (COUNT.div_ceil(3), 0));
        assert!(trial.decided.iter().all(|(_, decision)| decision.rule.as_ref() == "tests"));
        writeln!(std::io::stderr(), "{COUNT} questions and 21 rules: {took:?}").expect("stderr");
    }
}
