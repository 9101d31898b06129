//! The cases for bridges of MCP: without any bridge, against the relay of the mocks, and against the bridge itself with an inbox
//! and without.

use askbridge_check::{case::Case, kind::Kind, report::failure, verdict::Verdict};
use askbridge_mock::relay::RelayFault;

use crate::{
    check::faults::{ASKBRIDGE, PATIENT, all_pass, cases, each_fails_under_its_faults, outcomes},
    support::process::DEADLINE,
};

/// What a server shows that nothing is in front of, and that a bridge must not: nobody ends what it leaves behind, and nobody
/// takes more of its last words than fit into a pipe.
const OF_BRIDGES: [&str; 5] = [
    "mcp/lifecycle/children-after-a-signal",
    "mcp/lifecycle/children-of-the-server",
    "mcp/lifecycle/last-words-of-the-server",
    "mcp/lifecycle/server-is-killed",
    "mcp/lifecycle/signal-stubborn-server",
];

/// Returns the cases that need an inbox, or those that do not.
fn of_inbox(is_needed: bool) -> Vec<Case> {
    let needs_it = |case: &Case| case.needs.iter().any(|need| need == "inbox");
    cases(Kind::Mcp).into_iter().filter(|case| needs_it(case) == is_needed).collect()
}

#[test]
fn a_server_without_a_bridge_passes_every_case() {
    let cases: Vec<_> =
        of_inbox(false).into_iter().filter(|case| !OF_BRIDGES.contains(&case.id.as_str())).collect();
    all_pass(&outcomes(Kind::Mcp, &cases, &["{server}"], DEADLINE));
}

#[test]
fn a_right_relay_of_mcp_passes_every_case() {
    let command = [ASKBRIDGE, "mock", "bridge", "--", "{server}"];
    all_pass(&outcomes(Kind::Mcp, &of_inbox(false), &command, DEADLINE));
}

#[test]
fn the_bridge_of_mcp_passes_every_case_without_an_inbox() {
    let command = [ASKBRIDGE, "mcp-proxy", "--no-inbox", "--", "{server}"];
    all_pass(&outcomes(Kind::Mcp, &of_inbox(false), &command, DEADLINE));
}

#[test]
fn the_bridge_of_mcp_fails_no_case_with_an_inbox() {
    let all = cases(Kind::Mcp);
    let outcomes = outcomes(Kind::Mcp, &all, &[ASKBRIDGE, "mcp-proxy", "--", "{server}"], PATIENT);
    let needs_none = |case: &Case| case.needs.iter().any(|need| need == "no inbox");
    for outcome in &outcomes {
        let is_skipped = matches!(outcome.verdict, Verdict::Skipped(_));
        assert!(
            outcome.verdict == Verdict::Passed || (is_skipped && needs_none(&outcome.case)),
            "{}\n{}",
            outcome.case.id,
            failure(outcome)
        );
    }
}

#[test]
fn each_case_of_mcp_fails_against_a_relay_that_breaks_its_rule() {
    let faults = || RelayFault::ALL.iter().map(|fault| fault.name());
    each_fails_under_its_faults(Kind::Mcp, &of_inbox(false), faults(), |fault| {
        vec![ASKBRIDGE, "mock", "bridge", "--fault", fault, "--", "{server}"]
    });
    // The relay spoils what the bridge says to the server, and what it hears.
    each_fails_under_its_faults(Kind::Mcp, &of_inbox(true), faults(), |fault| {
        vec![ASKBRIDGE, "mcp-proxy", "--", ASKBRIDGE, "mock", "bridge", "--fault", fault, "--", "{server}"]
    });
}
