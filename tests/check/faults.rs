//! Runs cases against a mock without a fault, and against one with each fault that they name.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use askbridge_check::{
    case::{Case, Kind},
    library,
    report::failure,
    serve::driver::Persons,
    suite::{self, Outcome, Settings},
    talk::prompts::Prompts,
    verdict::Verdict,
};

pub(crate) const ASKBRIDGE: &str = env!("CARGO_BIN_EXE_askbridge");
/// The time that a case may take against a mock that breaks its rule. Each case that fails by what does not come takes as
/// long; one that fails because the machine is busy fails as well.
const BROKEN: Duration = Duration::from_secs(2);
/// The number of faults that are tried at once: nearly all of their time is waiting.
const WORKERS: usize = 6;

/// Returns the cases of a kind.
pub(crate) fn cases(kind: Kind) -> Vec<Case> {
    library::cases(kind).unwrap_or_else(|error| panic!("{error}"))
}

/// Runs cases against a command.
pub(crate) fn outcomes(kind: Kind, cases: &[Case], command: &[&str], timeout: Duration) -> Vec<Outcome> {
    outcomes_with(kind, cases, command, timeout, Persons::default())
}

/// Runs cases against a command, where these persons answer what a client shows.
pub(crate) fn outcomes_with(
    kind: Kind,
    cases: &[Case],
    command: &[&str],
    timeout: Duration,
    persons: Persons,
) -> Vec<Outcome> {
    let settings = Settings {
        kind,
        command: command.iter().map(OsString::from).collect(),
        program: ASKBRIDGE.into(),
        timeout,
        jobs: 2 * thread::available_parallelism().map_or(1, |count| count.get()),
        stop: Arc::default(),
        ours: true,
        wire: None,
        expected: Vec::new(),
        strict: true,
        persons,
        prompts: Prompts::default(),
        dialect: None,
    };
    suite::run(cases, &settings, |_| ()).unwrap_or_else(|error| panic!("{error}"))
}

/// Fails for each case that does not pass, with all that led to it.
#[track_caller]
pub(crate) fn all_pass(outcomes: &[Outcome]) {
    let wrong = outcomes.iter().filter(|outcome| outcome.verdict != Verdict::Passed);
    let wrong: Vec<_> = wrong.map(|outcome| format!("{}\n{}", outcome.case.id, failure(outcome))).collect();
    assert!(wrong.is_empty(), "{} of {} cases\n{}", wrong.len(), outcomes.len(), wrong.join("\n"));
}

/// Checks that the cases name each of these faults and no other.
#[track_caller]
pub(crate) fn each_is_named<'a>(cases: &[Case], faults: impl IntoIterator<Item = &'a str>) {
    let faults: BTreeSet<_> = faults.into_iter().collect();
    let named: BTreeSet<_> = cases.iter().flat_map(|case| &case.faults).map(String::as_str).collect();
    let unknown: Vec<_> = named.difference(&faults).collect();
    assert!(unknown.is_empty(), "no mock has the faults {unknown:?}");
    let idle: Vec<_> = faults.difference(&named).collect();
    assert!(idle.is_empty(), "no case names the faults {idle:?}");
}

/// Checks that each case fails under each fault that it names. `broken` returns the command of the mock with a fault.
#[track_caller]
pub(crate) fn each_fails_under_its_faults<'a>(
    kind: Kind,
    cases: &[Case],
    faults: impl IntoIterator<Item = &'a str, IntoIter: Send>,
    broken: impl Fn(&'a str) -> Vec<&'a str> + Sync,
) {
    each_fails_under(kind, cases, faults, broken, &Persons::default());
}

/// As [`each_fails_under_its_faults`], where these persons answer what a client shows.
#[track_caller]
pub(crate) fn each_fails_under<'a>(
    kind: Kind,
    cases: &[Case],
    faults: impl IntoIterator<Item = &'a str, IntoIter: Send>,
    broken: impl Fn(&'a str) -> Vec<&'a str> + Sync,
    persons: &Persons,
) {
    let faults = Mutex::new(faults.into_iter());
    let next = || faults.lock().expect("the faults").next();
    let worker = || {
        let mut wrong = Vec::new();
        while let Some(fault) = next() {
            let named = |case: &&Case| case.faults.iter().any(|named| named == fault);
            let of_fault: Vec<_> = cases.iter().filter(named).cloned().collect();
            let outcomes = outcomes_with(kind, &of_fault, &broken(fault), BROKEN, persons.clone());
            let others = outcomes.iter().filter(|outcome| !matches!(outcome.verdict, Verdict::Failed(_)));
            wrong
                .extend(others.map(|outcome| {
                    format!("{} {} under `{fault}`", outcome.case.id, outcome.verdict.name())
                }));
        }
        wrong
    };
    let wrong: Vec<_> = thread::scope(|scope| {
        let workers: Vec<_> = (0..WORKERS).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a worker")).collect()
    });
    assert!(wrong.is_empty(), "\n{}\n", wrong.join("\n"));
}
