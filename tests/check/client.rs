//! The cases for clients, against the mock client in its manners, and behind a relay that breaks a rule: to an agent, both are
//! one client.

use std::collections::BTreeSet;

use askbridge_check::{case::Case, kind::Kind, report::failure, serve::driver::Persons, verdict::Verdict};
use askbridge_mock::relay::RelayFault;

use crate::{
    check::faults::{ASKBRIDGE, PATIENT, cases, exactly_those_fail, failing, is_tried, outcomes_with},
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
    Manner { is_automatic: false, options: &["--tier", "forms", "--leave-open"] },
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
        let outcomes = outcomes_with(Kind::Client, cases, &self.command(None), PATIENT, self.persons());
        let failed = outcomes.iter().filter(|outcome| matches!(outcome.verdict, Verdict::Failed(_)));
        let failed: Vec<_> =
            failed.map(|outcome| format!("{}\n{}", outcome.case.id, failure(outcome))).collect();
        assert!(failed.is_empty(), "{:?}\n{}", self.options, failed.join("\n"));
        let passed = outcomes.into_iter().filter(|outcome| outcome.verdict == Verdict::Passed);
        passed.map(|outcome| outcome.case.id).collect()
    }
}

#[test]
fn under_each_fault_of_a_client_exactly_its_cases_fail() {
    let all = cases(Kind::Client);
    let named: BTreeSet<_> = all.iter().flat_map(|case| &case.faults).map(String::as_str).collect();
    let (mut left, mut failing_all) = (all.clone(), BTreeSet::new());
    for manner in MANNERS {
        let passed = manner.passed(&left);
        let (shown, others): (Vec<_>, Vec<_>) = left.into_iter().partition(|case| passed.contains(&case.id));
        left = others;
        // The faults of bridges that no case of clients names are tried with bridges.
        let faults = RelayFault::ALL.iter().map(|fault| fault.name()).filter(|name| named.contains(name));
        let broken = |fault| manner.command(Some(fault));
        // Where a conversation does not begin, these cases say so, and the others nothing.
        let begins = all
            .iter()
            .filter(|case| case.group() == "client/lifecycle" && !shown.iter().any(|it| it.id == case.id));
        let shown: Vec<_> = shown.iter().chain(begins).cloned().collect();
        failing_all.extend(failing(Kind::Client, &shown, faults, broken, is_tried, &manner.persons()));
    }
    let left: Vec<_> = left.iter().map(|case| &case.id).collect();
    assert!(left.is_empty(), "no manner passes {left:?}");
    exactly_those_fail(Kind::Client, &all, &failing_all);
}

/// A client whose person sits at the named pipe `keys`: it shows one request after the other, and responds to none of those
/// that come at once before all are answered. Its words are the numbers of requests that come at once, and the agent.
const DRIVEN: &str = r#"
cd "$XDG_RUNTIME_DIR"
mkfifo in out keys
"$1" <in >out &
exec 3>in 4<out 5<>keys
ask() { echo "{\"jsonrpc\":\"2.0\",\"id\":$1,\"method\":\"$2\",\"params\":$3}" >&3; }
ask 0 initialize '{"protocolVersion":1,"clientCapabilities":{}}'; read -r _ <&4
ask 1 session/new "{\"cwd\":\"$PWD\",\"mcpServers\":[]}"; read -r _ <&4
ask 2 session/prompt '{"sessionId":"session-1","prompt":[]}'
for count in $0; do
    ids= responses=
    for _ in $(seq "$count"); do
        read -r request <&4
        ids="$ids $(printf '%s' "$request" | sed 's/.*"id":\([0-9]*\).*/\1/')"
    done
    for id in $ids; do
        read -r option <&5
        responses="$responses{\"jsonrpc\":\"2.0\",\"id\":$id,\"result\":{\"outcome\":{\"outcome\":\"selected\",\"optionId\":\"$option\"}}}\n"
    done
    printf "$responses" >&3
done
read -r _ <&4
"#;

#[test]
fn a_command_answers_in_the_place_of_a_person() {
    let rejects = r#"sed 's/.*"optionId":"\([^"]*\)".*/\1/' >"$XDG_RUNTIME_DIR/keys""#;
    let fails = "echo no such dialog >&2; exit 3";
    let wrong = r#"echo maybe >"$XDG_RUNTIME_DIR/keys"; sleep 1000"#;
    for (requests, case, command, expected) in [
        ("1", "client/permissions/answered", rejects, "passed"),
        ("1 2", "client/permissions/two-at-once", rejects, "passed"),
        ("1", "client/permissions/answered", fails, "the command of `--answer-with` failed: no such dialog"),
        ("1", "client/permissions/answered", wrong, "failed"),
    ] {
        let case: Vec<_> = cases(Kind::Client).into_iter().filter(|of| of.id == case).collect();
        let persons = Persons { command: Some(command.into()), is_automatic: false };
        let client = ["sh", "-c", DRIVEN, requests, "{agent}"];
        let outcomes = outcomes_with(Kind::Client, &case, &client, DEADLINE, persons);
        let [outcome] = &outcomes[..] else { panic!("{} cases", outcomes.len()) };
        let verdict = match &outcome.verdict {
            Verdict::Inconclusive(why) => why,
            verdict => verdict.name(),
        };
        assert_eq!(verdict, expected, "{command}\n{}", failure(outcome));
    }
}

#[test]
fn no_manner_of_the_mock_client_fails_a_case() {
    for manner in OTHERS {
        manner.passed(&cases(Kind::Client));
    }
}
