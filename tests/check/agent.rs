//! The cases for agents, against the mock agent in each of its dialects, and against one that breaks a rule.

use std::collections::BTreeMap;

use askbridge_check::{case::Case, kind::Kind, report, serve::driver::Persons, verdict::Verdict};
use askbridge_mock::{AgentFault, MockDialect};

use crate::{
    check::faults::{
        ASKBRIDGE, cases, each_is_named, exactly_those_fail, failing, is_tried, names, outcomes,
    },
    support::process::DEADLINE,
};

/// The dialect that shows the most.
const MOST: MockDialect = MockDialect::Form;
/// The groups in which dialects differ.
const BY_DIALECT: [&str; 4] = ["agent/questions", "agent/answers", "agent/permissions", "agent/robust"];

fn mock(dialect: MockDialect) -> Vec<&'static str> {
    vec![ASKBRIDGE, "mock-agent", "--dialect", dialect.name()]
}

/// Returns the dialect in which a mock agent passes each case. Fails for each case that fails in any dialect.
fn passed(dialect: MockDialect, cases: &[Case]) -> Vec<String> {
    let outcomes = outcomes(Kind::Agent, cases, &mock(dialect), DEADLINE);
    let failed = outcomes.iter().filter(|outcome| matches!(outcome.verdict, Verdict::Failed(_)));
    let failed: Vec<_> =
        failed.map(|outcome| format!("{}\n{}", outcome.case.id, report::failure(outcome))).collect();
    assert!(failed.is_empty(), "{}\n{}", dialect.name(), failed.join("\n"));
    let passed = outcomes.into_iter().filter(|outcome| outcome.verdict == Verdict::Passed);
    passed.map(|outcome| outcome.case.id).collect()
}

#[test]
fn a_right_agent_fails_no_case_in_any_dialect_and_passes_each_in_one() {
    let all = cases(Kind::Agent);
    let mut left: BTreeMap<_, _> = all.iter().map(|case| (case.id.clone(), case.clone())).collect();
    for id in passed(MOST, &all) {
        left.remove(&id);
    }
    let by_dialect: Vec<_> = all.iter().filter(|case| BY_DIALECT.contains(&case.group())).cloned().collect();
    for dialect in MockDialect::ALL.into_iter().filter(|dialect| *dialect != MOST) {
        for id in passed(dialect, &by_dialect) {
            left.remove(&id);
        }
    }
    assert!(left.is_empty(), "no mock passes {:?}", left.keys());
}

#[test]
fn under_each_fault_of_an_agent_exactly_its_cases_fail() {
    let all_faults = || AgentFault::ALL.iter().map(|fault| fault.name());
    let all = cases(Kind::Agent);
    each_is_named(&all, all_faults());
    // Only Devin takes another text than its options, and the fault is the same for every text.
    let (with_text, others): (Vec<_>, Vec<_>) =
        all.iter().cloned().partition(|case| case.id.ends_with("/another-text"));
    let broken = |dialect| move |fault| [mock(dialect), vec!["--fault", fault]].concat();
    let persons = Persons::default();
    let mut failing_all = failing(Kind::Agent, &others, all_faults(), broken(MOST), is_tried, &persons);
    let of_devin = broken(MockDialect::Devin);
    failing_all.extend(failing(Kind::Agent, &with_text, all_faults(), of_devin, names, &persons));
    exactly_those_fail(Kind::Agent, &all, &failing_all);
}
