//! Versions mix (I11): a dial of the future, and a machine whose askbridge has none.

use askbridge_os::exit;
use serde_json::{Value, json};

use super::played::{PlayedMachine, Wire, record, settled, snapshot, status};
use super::world::World;

/// A machine of the future: one question in a state that no version knows, one that cannot be read, and a plain one.
fn future() -> PlayedMachine {
    let mut strange = record("k3-1", "Of the future?");
    strange["state"] = json!("pondering");
    strange["question"]["origin"] = json!("telepathy");
    let hidden = json!({ "id": "k3-2", "bridge": "k3", "state": "open", "question": "a hum" });
    let mut first = snapshot(&[strange, hidden]);
    first["more"] = json!(true);
    let mut machine = PlayedMachine {
        statuses: vec![status("k3", "agent of the future"), status("k4", "another")],
        first: vec![first, snapshot(&[record("k4-3", "A plain one?")])],
        ..PlayedMachine::default()
    };
    machine.replies.insert("question_answer", json!({ "result": settled(record("k4-3", "A plain one?")) }));
    machine
}

#[test]
fn a_newer_machine_is_listed_shown_and_answered() {
    for has_inbox in [false, true] {
        let machine = future();
        let mut world = World::played(move |mut wire: Wire| wire.play(&machine));
        if has_inbox {
            world.inbox_alone();
        }
        let listed = world.until_listed("both", |ids, _| ids.len() == 2);
        assert_eq!(listed, ["box/k3-1", "box/k4-3"]);
        let listed = world.run(&["list", "--json"]);
        let listing: Value = serde_json::from_str(&listed.stdout).unwrap();
        assert_eq!((&listing["complete"], &listing["unreadable"]), (&json!(false), &json!(1)), "{listed:?}");
        assert_eq!(listing["questions"][0]["state"], "pondering");
        assert_eq!(listing["questions"][0]["question"]["origin"], "telepathy");
        let shown = world.run(&["show", "box/k3-1"]);
        assert!(shown.code == 0 && shown.stdout.contains("Of the future?"), "{shown:?}");
        let answered = world.run(&["answer", "box/k4-3", "a"]);
        assert!(answered.code == 0 && answered.stdout.starts_with("box/k4-3"), "{answered:?}");
    }
}

#[test]
fn a_refusal_of_the_future_is_repeated_by_its_name() {
    let mut machine = future();
    let error =
        json!({ "code": -1, "message": "moon phase", "data": { "name": "moon_phase", "tide": "high" } });
    machine.replies.insert("question_answer", json!({ "error": error }));
    let mut world = World::played(move |mut wire: Wire| wire.play(&machine));
    world.inbox_alone();
    world.until_listed("both", |ids, _| ids.len() == 2);
    let refused = world.run(&["answer", "box/k4-3", "a"]);
    assert!(refused.code == i32::from(exit::FAILED) && refused.stderr.contains("moon_phase"), "{refused:?}");
}

/// Nothing that was called is known there, so that it looks like a program from before it.
#[test]
fn an_older_machine_refuses_methods_that_it_does_not_know() {
    let mut machine = PlayedMachine::with(&[record("k3-1", "Which?")]);
    let error = json!({ "error": { "code": -32601, "message": "Method not found" } });
    for method in ["question_watch", "question_get", "question_extend", "question_settled", "question_lost"] {
        machine.replies.insert(method, error.clone());
    }
    let mut world = World::played(move |mut wire: Wire| wire.play(&machine));
    world.inbox();
    world.until_listed("the question", |ids, _| ids == ["box/k3-1"]);
    let refused = world.run(&["extend", "box/k3-1", "5m"]);
    assert!(
        refused.code == i32::from(exit::FAILED) && refused.stderr.contains("Method not found"),
        "{refused:?}"
    );
    assert_eq!(world.launcher.until("it", |_| true).connections, 1, "it stays connected");
}

#[test]
fn a_machine_without_dial_is_too_old_and_one_without_askbridge_says_how_to_install_it() {
    let mut world = World::new();
    let cases = [
        ("error: unrecognized subcommand 'dial'\n\nUsage: askbridge\n", "has no `dial` command"),
        ("docker: executable file not found in $PATH\n", "github.com/askbridge/askbridge"),
        ("ssh: Could not resolve hostname box: Name or service not known\r\n", "the host does not exist"),
        ("\u{1b}[2Jdoing things\n", "doing things"),
    ];
    for (said, shown) in cases {
        world.launcher.fails(Some(said));
        assert_eq!(world.run(&["list"]).code, i32::from(exit::BRIDGE_GONE));
        world.inbox_alone();
        let problem = world.until_problem(shown);
        assert!(!problem.contains('\u{1b}'), "{problem:?}");
    }
}
