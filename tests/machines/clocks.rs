//! A machine whose clock is wrong by years: its questions are open and answered like others, and what is left of their
//! time is counted by the clock of their bridge.

use serde_json::{Value, json};

use super::played::{PlayedMachine, Wire, record, settled, snapshot, status};
use super::world::World;

/// Returns the status of a bridge that has run for a minute since noon of this year.
fn since_noon(bridge: &str, year: u16) -> Value {
    let mut status = status(bridge, "an agent");
    status["startedAt"] = json!(format!("{year}-11-21T12:00:00.000Z"));
    status["uptimeMs"] = json!(60_000);
    status
}

/// Returns a question that ends five hours later, and nearly six.
fn until_evening(id: &str, year: u16) -> Value {
    let mut record = record(id, "Which?");
    record["openedAt"] = json!(format!("{year}-11-21T12:00:50.000Z"));
    record["deadline"] = json!(format!("{year}-11-21T17:59:00.000Z"));
    record
}

#[test]
fn a_question_of_a_machine_with_a_wrong_clock_ends_when_its_bridge_says() {
    for has_inbox in [false, true] {
        let questions = [until_evening("k3-1", 2001), until_evening("k4-1", 2099)];
        let mut machine = PlayedMachine {
            statuses: vec![since_noon("k3", 2001), since_noon("k4", 2099)],
            first: vec![snapshot(&questions)],
            ..PlayedMachine::default()
        };
        machine.replies.insert("question_answer", json!({ "result": settled(questions[0].clone()) }));
        let mut world = World::played(move |mut wire: Wire| wire.play(&machine));
        if has_inbox {
            world.inbox_alone();
        }
        world.until_listed("both", |ids, _| ids == ["box/k3-1", "box/k4-1"]);
        let listed = world.ok(&["list"]);
        assert_eq!(listed.matches("  5h ").count(), 2, "{listed}");
        for id in ["box/k3-1", "box/k4-1"] {
            let shown = world.ok(&["show", id]);
            assert!(shown.contains("ends in 5h"), "{shown}");
        }
        assert!(world.ok(&["answer", "box/k3-1", "a"]).starts_with("box/k3-1"));
    }
}
