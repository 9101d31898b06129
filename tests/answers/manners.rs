//! Clients that reply without a person, as released ones do, around the real bridge: what they say decides no question.
//! All manners with all agents are left to `tests/matrix/manners.rs`.

use serde_json::Value;

use crate::answers::machine::{ASKBRIDGE, TestMachine, name};
use crate::support::Process;

fn client(machine: &TestMachine, tier: &str, manner: &str, prompt: &str, dialect: &str) -> Process {
    let client = ["mock-client", "--tier", tier, "--manner", manner, "--prompt", prompt];
    let agent = ["--", ASKBRIDGE, "run", "--", ASKBRIDGE, "mock-agent", "--dialect", dialect];
    machine.start(&[&client[..], &agent].concat())
}

#[test]
fn a_question_waits_for_a_person_whatever_its_client_says() {
    let by_prompts = [
        "declines-at-once",
        "cancels-at-once",
        "approves-first",
        "errors",
        "answers-null",
        "answers-object",
        "labels-by-kind",
        "malformed-outcome",
    ];
    let by_all = ["declines-at-once", "cancels-at-once", "errors", "answers-null", "answers-object"];
    let cases = by_prompts.map(|manner| ("permission", manner)).into_iter();
    let cases = cases.chain(by_all.map(|manner| ("forms", manner)));
    for (tier, manner) in cases.chain(by_all.map(|manner| ("native", manner))) {
        let machine = TestMachine::new();
        let dialect = if tier == "forms" { "claude" } else { "sandboxagent" };
        let mut client = client(&machine, tier, manner, "a question", dialect);
        let left = |questions: &[Value]| questions.iter().any(|view| view["elsewhere"] == true);
        let id = name(&machine.watch().until(&format!("{manner} with {tier} leaves it"), left)[0]);
        machine.does(&["answer", &id, "Option B"]);
        client.expect("the answer", |line| line.contains("You chose: "));
    }
}

#[test]
fn a_question_waits_beside_a_client_that_never_replies() {
    let machine = TestMachine::new();
    let mut client = client(&machine, "permission", "never-replies", "a question", "sandboxagent");
    client
        .expect("that it was asked", |line| line.contains("session/request_permission, by itself: no reply"));
    machine.does(&["answer", &machine.question(), "Option B"]);
    client.expect("the answer", |line| line.contains("You chose: "));
}

#[test]
fn each_request_to_a_client_has_an_id_of_its_own() {
    for tier in ["permission", "native"] {
        let machine = TestMachine::new();
        let mut client = client(&machine, tier, "one-id-once", "question fields", "claude");
        client.expect("the end of the turn", |line| line.contains("end_turn"));
        assert_eq!(client.wait().code(), Some(0), "{}", client.whole_stderr());
    }
}

#[test]
fn a_permission_that_the_client_does_not_decide_waits() {
    for manner in ["cancels-at-once", "errors", "answers-null", "answers-object", "malformed-outcome"] {
        let machine = TestMachine::new();
        let mut client = client(&machine, "permission", manner, "a permission", "claude");
        let left = |questions: &[Value]| questions.iter().any(|view| view["elsewhere"] == true);
        let id = name(&machine.watch().until(&format!("{manner} leaves it"), left)[0]);
        machine.does(&["reject", &id]);
        client.expect("the decision", |line| line.contains("Permission: selected reject"));
    }
}

#[test]
#[cfg(feature = "journal")]
fn the_history_says_that_a_client_decided_by_itself() {
    for (manner, verb) in [("declines-at-once", "rejected"), ("approves-first", "allowed")] {
        let machine = TestMachine::new();
        let mut client = client(&machine, "permission", manner, "a permission", "claude");
        client.expect("the end of the turn", |line| line.contains("end_turn"));
        client.wait();
        let history = machine.ok(&["history"]);
        let by = format!("{verb} by the client (askbridge-mock-client) itself, within ");
        assert!(history.contains(&by), "{history}");
    }
}
