//! Runs cases against a mock without a fault, and against one with each fault that they name.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    path::Path,
    sync::{Arc, Mutex},
    thread,
    time::Duration,
};

use askbridge_check::{
    case::Case,
    kind::Kind,
    library,
    report::failure,
    serve::driver::Persons,
    suite::{self, Outcome, Settings},
    talk::prompts::Prompts,
    verdict::Verdict,
};

use crate::support::golden;

pub(crate) const ASKBRIDGE: &str = env!("CARGO_BIN_EXE_askbridge");
/// The time that a case may take against a mock that breaks its rule. Each case that fails by what does not come takes as
/// long; one that fails because the machine is busy fails as well.
const BROKEN: Duration = Duration::from_secs(2);
/// The time that a case may take where others must not fail, however busy the machine is.
pub(crate) const PATIENT: Duration = Duration::from_secs(20);
/// The cases that take long, and are tried under their own faults alone.
const LONG: [&str; 3] =
    ["agent/messages/long-line", "client/messages/long-line", "client/messages/many-updates"];
/// How batches of cases are tried.
struct Tries {
    /// The number of batches that run at once: nearly all of their time is waiting.
    workers: usize,
    /// The times that a case may take, one after the other, until what fails is what names the fault.
    times: &'static [Duration],
}

/// Each batch is one case, which must fail.
const ALONE: Tries = Tries { workers: 16, times: &[BROKEN] };
/// That no other case fails in a short time, and those do that name the fault, is true with more time as well. What else
/// happens may be the work of a busy machine: the longer time decides.
const TOGETHER: Tries = Tries { workers: 8, times: &[BROKEN, PATIENT] };

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

/// Returns whether a case names a fault.
pub(crate) fn names(case: &Case, fault: &str) -> bool {
    case.faults.iter().any(|named| named == fault)
}

/// Returns whether a case is tried under a fault: those that name it, and one in four of the others. With `EVERY_CASE` in the
/// environment, all are.
pub(crate) fn is_tried(case: &Case, fault: &str) -> bool {
    let letters = case.id.bytes().chain(fault.bytes()).map(u32::from);
    let is_chosen = letters.sum::<u32>().is_multiple_of(4) || std::env::var_os("EVERY_CASE").is_some();
    names(case, fault) || (is_chosen && !LONG.contains(&case.id.as_str()))
}

/// Runs batches of cases, each under a fault, at once, and returns the cases that fail. `broken` returns the command of the
/// mock with a fault.
fn failing_of<'a>(
    kind: Kind,
    batches: Vec<(&'a str, Vec<Case>)>,
    broken: impl Fn(&'a str) -> Vec<&'a str> + Sync,
    tries: &Tries,
    persons: &Persons,
) -> BTreeSet<(String, String)> {
    let batches = Mutex::new(batches.into_iter());
    let next = || batches.lock().expect("the batches").next();
    let worker = || {
        let mut failing = BTreeSet::new();
        while let Some((fault, cases)) = next() {
            let expected = named(&cases).into_iter().filter(|(of, _)| of == fault).collect();
            let fails = |timeout: &Duration| {
                let outcomes = outcomes_with(kind, &cases, &broken(fault), *timeout, persons.clone());
                let failed = outcomes.iter().filter(|outcome| matches!(outcome.verdict, Verdict::Failed(_)));
                failed.map(|outcome| (fault.to_owned(), outcome.case.id.clone())).collect::<BTreeSet<_>>()
            };
            let mut found = BTreeSet::new();
            for timeout in tries.times {
                found = fails(timeout);
                if found == expected {
                    break;
                }
            }
            failing.extend(found);
        }
        failing
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..tries.workers).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a worker")).collect()
    })
}

/// Runs the cases against a mock with each fault, and returns those that fail under it. `is_tried` says whether a case is of
/// interest under a fault.
pub(crate) fn failing<'a>(
    kind: Kind,
    cases: &[Case],
    faults: impl IntoIterator<Item = &'a str>,
    broken: impl Fn(&'a str) -> Vec<&'a str> + Sync,
    is_tried: impl Fn(&Case, &str) -> bool,
    persons: &Persons,
) -> BTreeSet<(String, String)> {
    let of = |fault| cases.iter().filter(|case| is_tried(case, fault)).cloned().collect::<Vec<_>>();
    let batches = faults.into_iter().map(|fault| (fault, of(fault))).collect();
    failing_of(kind, batches, broken, &TOGETHER, persons)
}

/// Checks that each of these cases fails under each of these faults that it names, alone: of several that fail in the beginning
/// that they share, one would fail.
#[track_caller]
pub(crate) fn each_fails_under_its_faults<'a>(
    kind: Kind,
    cases: &[Case],
    faults: impl IntoIterator<Item = &'a str>,
    broken: impl Fn(&'a str) -> Vec<&'a str> + Sync,
) {
    let of = |fault| {
        cases.iter().filter(move |case| names(case, fault)).map(move |case| (fault, vec![case.clone()]))
    };
    let batches = faults.into_iter().flat_map(of).collect();
    let failing = failing_of(kind, batches, broken, &ALONE, &Persons::default());
    let missing: Vec<_> = named(cases).into_iter().filter(|pair| !failing.contains(pair)).collect();
    assert!(missing.is_empty(), "{missing:#?} do not fail under their faults");
}

/// Returns each case with each fault that it names.
pub(crate) fn named(cases: &[Case]) -> BTreeSet<(String, String)> {
    let of =
        |case: &Case| case.faults.iter().map(|fault| (fault.clone(), case.id.clone())).collect::<Vec<_>>();
    cases.iter().flat_map(of).collect()
}

/// Checks that under each fault, the cases that name it fail, and no others. The table says the same for people.
#[track_caller]
pub(crate) fn exactly_those_fail(kind: Kind, cases: &[Case], failing: &BTreeSet<(String, String)>) {
    let named = named(cases);
    let pairs = |one: &BTreeSet<(String, String)>, other: &BTreeSet<(String, String)>| {
        let pairs: Vec<_> = one.difference(other).map(|(fault, case)| format!("{fault}: {case}")).collect();
        pairs.join("\n  ")
    };
    assert!(
        named == *failing,
        "\nnamed, but not failing:\n  {}\nfailing, but not named:\n  {}\n",
        pairs(&named, failing),
        pairs(failing, &named)
    );
    let mut table = format!(
        "# The cases of `check {}` that fail under each fault of its mock: those and no others.\n",
        kind.name()
    );
    let mut last = "";
    for (fault, case) in failing {
        if fault != last {
            table += &format!("\n{fault}\n");
            last = fault;
        }
        table += &format!("  {case}\n");
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("fixtures/check/{}.txt", kind.name()));
    golden::is(&path, &table);
}
