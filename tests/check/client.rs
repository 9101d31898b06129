//! The cases for clients, against the mock client in its manners, and behind a relay that breaks a rule: to an agent, both are
//! one client.

use askbridge_check::{
    case::{Case, Kind},
    report,
    serve::driver::Persons,
    verdict::Verdict,
};
use askbridge_mock::relay::RelayFault;

use crate::{
    check::faults::{ASKBRIDGE, cases, each_fails_under, outcomes_with},
    support::process::DEADLINE,
};

/// A way in which the mock client behaves.
struct Manner {
    /// Whether it answers by itself.
    is_automatic: bool,
    options: &'static [&'static str],
}

/// The manners. Each case is passed in the first one that shows its rule.
const MANNERS: [Manner; 3] = [
    Manner { is_automatic: true, options: &["--tier", "forms"] },
    Manner { is_automatic: false, options: &["--tier", "forms", "--leave-open", "--permission", "ignore"] },
    Manner { is_automatic: true, options: &["--tier", "permission"] },
];
/// Other manners, in which nothing is wrong either.
const OTHERS: [Manner; 4] = [
    Manner { is_automatic: true, options: &["--tier", "native"] },
    Manner { is_automatic: true, options: &["--tier", "forms", "--reject"] },
    Manner { is_automatic: true, options: &["--tier", "forms", "--permission", "cancel"] },
    Manner { is_automatic: true, options: &["--tier", "approve"] },
];

impl Manner {
    fn persons(&self) -> Persons {
        Persons { command: None, is_automatic: self.is_automatic }
    }

    /// Returns the command of this client, behind a relay if there is a fault.
    fn command(&self, fault: Option<&'static str>) -> Vec<&'static str> {
        let relay = fault.map(|fault| vec![ASKBRIDGE, "mock", "bridge", "--fault", fault, "--"]);
        [
            vec![ASKBRIDGE, "mock-client"],
            self.options.to_vec(),
            vec!["--"],
            relay.unwrap_or_default(),
            vec!["{agent}"],
        ]
        .concat()
    }

    /// Returns the cases that pass. No case may fail.
    #[track_caller]
    fn passed(&self, cases: &[Case]) -> Vec<String> {
        let outcomes = outcomes_with(Kind::Client, cases, &self.command(None), DEADLINE, self.persons());
        let failed = outcomes.iter().filter(|outcome| matches!(outcome.verdict, Verdict::Failed(_)));
        let failed: Vec<_> =
            failed.map(|outcome| format!("{}\n{}", outcome.case.id, report::failure(outcome))).collect();
        assert!(failed.is_empty(), "{:?}\n{}", self.options, failed.join("\n"));
        let passed = outcomes.into_iter().filter(|outcome| outcome.verdict == Verdict::Passed);
        passed.map(|outcome| outcome.case.id).collect()
    }
}

#[test]
fn each_case_passes_with_a_right_client_and_fails_with_one_that_breaks_its_rule() {
    let mut left = cases(Kind::Client);
    for manner in MANNERS {
        let passed = manner.passed(&left);
        let (shown, others) = left.into_iter().partition(|case| passed.contains(&case.id));
        left = others;
        let faults = RelayFault::ALL.iter().map(|fault| fault.name());
        each_fails_under(
            Kind::Client,
            &shown,
            faults,
            |fault| manner.command(Some(fault)),
            &manner.persons(),
        );
    }
    let left: Vec<_> = left.iter().map(|case| &case.id).collect();
    assert!(left.is_empty(), "no manner passes {left:?}");
}

#[test]
fn no_manner_of_the_mock_client_fails_a_case() {
    for manner in OTHERS {
        manner.passed(&cases(Kind::Client));
    }
}
