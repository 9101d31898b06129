//! The rules that every line of a command must keep, whatever the case is about that it comes in. A line that breaks one is
//! blamed once: by the case whose head names the rule, for the whole run. The other cases go on.
//! Finding the breaches is left to `talk/receive.rs`, `serve/receive.rs` and `schema.rs`.

use std::collections::BTreeSet;

use crate::{
    case::Case,
    limits,
    rule::Rule,
    verdict::{Failure, Verdict},
};

/// A line that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Breach {
    /// The rule.
    pub(crate) rule: Rule,
    /// How the line breaks it, without what differs from line to line.
    pub(crate) what: String,
    /// The line, as it is shown.
    pub(crate) line: String,
}

/// The breaches of one case, in their order.
#[derive(Debug, Default)]
pub(crate) struct Breaches {
    found: Vec<Breach>,
    /// Those that the failure of the case itself is about.
    blamed: Vec<Breach>,
}

impl Breaches {
    /// Notes a breach, unless the same is noted already.
    pub(crate) fn note(&mut self, rule: Rule, what: String, line: String) {
        let breach = Breach { rule, what, line };
        if self.found.len() < limits::BREACHES && !self.found.contains(&breach) {
            self.found.push(breach);
        }
    }

    /// Returns the first line that broke a rule.
    pub(crate) fn line(&self, rule: Rule) -> Option<&str> {
        self.found.iter().find(|breach| breach.rule == rule).map(|breach| breach.line.as_str())
    }

    /// Returns the breaches of the rules that no case of the run is about, each as a line.
    pub(crate) fn of_none(&self, cases: &[Case]) -> Vec<String> {
        let is_of_none = |breach: &&Breach| !cases.iter().any(|case| case.everywhere.contains(&breach.rule));
        let mut found: Vec<_> = self
            .found
            .iter()
            .filter(is_of_none)
            .map(|breach| format!("{}: {}", breach.rule.name(), breach.what))
            .collect();
        found.dedup();
        found
    }

    /// Takes off what the failure of the case says already: what is wrong with the line that it shows, and responses that came
    /// in place of the expected one.
    pub(crate) fn blame(&mut self, failure: &Failure) {
        let is_said =
            |breach: &Breach| is_stray(breach) || failure.got.as_deref() == Some(breach.line.as_str());
        let (said, others) = std::mem::take(&mut self.found).into_iter().partition(is_said);
        (self.blamed, self.found) = (said, others);
    }

    /// Takes off responses that came in place of the one that a condition of the case needs: another case is about that one.
    pub(crate) fn leave_strays(&mut self) {
        self.found.retain(|breach| !is_stray(breach));
    }
}

fn is_stray(breach: &Breach) -> bool {
    matches!(breach.rule, Rule::NoResponse | Rule::ResponseIds | Rule::OneResponse)
}

/// The breaches of all cases of a run.
#[derive(Debug, Default)]
pub(crate) struct AllBreaches {
    /// Each with the case that had it first.
    found: Vec<(String, Breach)>,
    blamed: BTreeSet<(Rule, String)>,
}

impl AllBreaches {
    /// Adds those of a case.
    pub(crate) fn add(&mut self, case: &str, breaches: Breaches) {
        // A response to nothing says in each case something else.
        let blamed = breaches.blamed.into_iter().filter(|breach| !is_stray(breach));
        self.blamed.extend(blamed.map(|breach| (breach.rule, breach.what)));
        for breach in breaches.found {
            let is_known =
                |(_, known): &(String, Breach)| (known.rule, &known.what) == (breach.rule, &breach.what);
            if !self.found.iter().any(is_known) {
                self.found.push((case.to_owned(), breach));
            }
        }
    }

    /// Returns the verdict of a case, where its own steps were as `verdict` says.
    pub(crate) fn judge(&self, case: &Case, verdict: Verdict) -> Verdict {
        if !matches!(verdict, Verdict::Passed | Verdict::Inconclusive(_)) {
            return verdict;
        }
        let is_of_case = |(_, breach): &&(String, Breach)| {
            case.everywhere.contains(&breach.rule)
                && !self.blamed.contains(&(breach.rule, breach.what.clone()))
        };
        let found: Vec<_> = self.found.iter().filter(is_of_case).collect();
        let Some((first, breach)) = found.first() else { return verdict };
        let others = match found.len() {
            1 => String::new(),
            count => format!(" (and {} more)", count - 1),
        };
        Verdict::Failed(Box::new(Failure {
            what: format!("{}{others}", breach.what),
            step: format!("{first}.txt"),
            got: Some(breach.line.clone()),
            breaches: found.iter().map(|(case, breach)| format!("{case}: {}", breach.what)).collect(),
            ..Failure::default()
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{kind::Kind, library};

    fn case(rule: &str) -> Case {
        let text = format!("# A rule\nlevel: must\nsource: x\neverywhere: {rule}\n\n");
        Case::read("agent/a/of-the-rule", &text, |_| None).unwrap()
    }

    fn breaches(whats: &[&str]) -> Breaches {
        let mut breaches = Breaches::default();
        for what in whats {
            breaches.note(Rule::Schema, (*what).to_owned(), format!("{{{what}}}"));
        }
        breaches
    }

    #[test]
    fn each_breach_is_told_once_by_the_case_of_its_rule() {
        let mut all = AllBreaches::default();
        assert_eq!(all.judge(&case("schema"), Verdict::Passed), Verdict::Passed);
        all.add("agent/a/b", breaches(&["`x` is missing", "`x` is missing"]));
        all.add("agent/a/c", breaches(&["`y` is missing", "`x` is missing"]));
        assert_eq!(all.judge(&case("stdout"), Verdict::Passed), Verdict::Passed);
        let Verdict::Failed(failure) = all.judge(&case("schema"), Verdict::Passed) else {
            panic!("nothing failed")
        };
        assert_eq!(failure.what, "`x` is missing (and 1 more)");
        assert_eq!(failure.breaches, ["agent/a/b: `x` is missing", "agent/a/c: `y` is missing"]);
    }

    #[test]
    fn what_the_failure_of_a_case_says_is_not_said_again() {
        let (mut all, mut own) = (AllBreaches::default(), breaches(&["`x` is missing"]));
        own.note(Rule::NoResponse, "to nothing".to_owned(), "{}".to_owned());
        own.blame(&Failure { got: Some("{`x` is missing}".to_owned()), ..Failure::default() });
        all.add("agent/a/fails", own);
        all.add("agent/a/b", breaches(&["`x` is missing"]));
        for rule in ["schema", "no-response"] {
            assert_eq!(all.judge(&case(rule), Verdict::Passed), Verdict::Passed, "{rule}");
        }
    }

    #[test]
    fn each_rule_has_one_case_of_each_kind_that_it_is_for() {
        for kind in Kind::ALL {
            let cases = library::cases(kind).unwrap();
            for rule in Rule::ALL {
                let of_rule = cases.iter().filter(|case| case.everywhere.contains(rule)).count();
                let expected = usize::from(rule.kinds().contains(&kind.name()));
                assert_eq!(of_rule, expected, "cases of {} with `everywhere: {}`", kind.name(), rule.name());
            }
        }
    }
}
