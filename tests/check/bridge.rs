//! The cases for bridges, against the relay of the mocks and against the bridge itself.

use askbridge_check::{case::Case, kind::Kind};
use askbridge_mock::relay::RelayFault;

use crate::{
    check::faults::{ASKBRIDGE, all_pass, cases, each_fails_under_its_faults, each_is_named, outcomes},
    support::process::DEADLINE,
};

/// Returns the cases that any bridge can be tried with: a relay has no inbox.
fn without_inbox() -> Vec<Case> {
    cases(Kind::Bridge).into_iter().filter(|case| case.needs.is_empty()).collect()
}

#[test]
fn a_right_relay_passes_every_case() {
    let command = [ASKBRIDGE, "mock", "bridge", "--", "{agent}"];
    all_pass(&outcomes(Kind::Bridge, &without_inbox(), &command, DEADLINE));
}

#[test]
fn the_bridge_passes_every_case() {
    let cases = cases(Kind::Bridge);
    all_pass(&outcomes(Kind::Bridge, &cases, &[ASKBRIDGE, "run", "--", "{agent}"], DEADLINE));
}

#[test]
fn each_case_fails_against_a_relay_that_breaks_its_rule() {
    let faults = || RelayFault::ALL.iter().map(|fault| fault.name());
    let cases_of_others = [cases(Kind::Client), cases(Kind::Mcp)].concat();
    let cases = cases(Kind::Bridge);
    // A client that breaks a rule is a right one behind such a relay.
    each_is_named(&[&*cases, &*cases_of_others].concat(), faults());
    each_fails_under_its_faults(Kind::Bridge, &without_inbox(), faults(), |fault| {
        vec![ASKBRIDGE, "mock", "bridge", "--fault", fault, "--", "{agent}"]
    });
    // The relay spoils what an inbox does where it stands before the bridge.
    let with_inbox: Vec<_> = cases.into_iter().filter(|case| !case.needs.is_empty()).collect();
    each_fails_under_its_faults(Kind::Bridge, &with_inbox, faults(), |fault| {
        vec![ASKBRIDGE, "mock", "bridge", "--fault", fault, "--", ASKBRIDGE, "run", "--", "{agent}"]
    });
}
