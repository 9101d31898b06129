//! `askbridge attach copilot` beside a terminal of Copilot: the mock of its server has the keyboard.

use std::os::unix::process::CommandExt;

use serde_json::{Value, json};

use crate::{
    machine::TestMachine,
    scene::{Kind, Scene},
    support::Process,
};

const COPILOT: Kind = Kind { name: "copilot", attached: "attached to Copilot" };

fn rpc(answer: Value) -> (String, Value) {
    ("rpc".to_owned(), answer)
}

fn accepted(database: &str) -> Value {
    json!({ "action": "accept", "content": { "database": database } })
}

#[test]
fn a_question_is_answered_here() {
    let mut scene = Scene::new(&COPILOT);
    let id = scene.ask("question");
    let shown = scene.machine.ok(&["list"]);
    assert!(shown.contains("Copilot") && shown.contains("Which database should we use?"), "{shown}");
    scene.machine.does(&["answer", &id, "SQLite"]);
    assert_eq!(scene.told(), rpc(accepted("SQLite")));
    assert_eq!(scene.ended(&id)["by"]["responder"], "command_line");
    let id = scene.ask("question");
    scene.machine.does(&["reject", &id]);
    assert_eq!(scene.told(), rpc(json!({ "action": "decline" })));
    let id = scene.ask("choices");
    scene.machine.does(&["answer", &id, "DuckDB"]);
    assert_eq!(scene.told(), rpc(json!({ "answer": "DuckDB", "wasFreeform": true })));
}

#[test]
fn a_question_is_answered_at_the_keyboard() {
    let mut scene = Scene::new(&COPILOT);
    let id = scene.ask("question");
    scene.key("answer Postgres");
    let settled = scene.ended(&id);
    assert_eq!(settled["by"], json!({ "responder": "dialog", "name": "Copilot" }));
    assert_eq!(settled["outcome"]["values"]["database"], "Postgres");
    let late = scene.machine.run(&["answer", &id, "SQLite"]);
    assert_eq!(late.code, 4, "{late:?}");
}

#[test]
fn a_permission_and_a_plan_are_decided_here() {
    let mut scene = Scene::new(&COPILOT);
    let id = scene.ask("permission");
    scene.machine.does(&["allow", &id]);
    assert_eq!(scene.told(), rpc(json!({ "kind": "approve-once" })));
    let id = scene.ask("permission");
    scene.machine.does(&["allow", &id, "--always"]);
    let approval = json!({ "kind": "commands", "commandIdentifiers": ["rm"] });
    assert_eq!(scene.told(), rpc(json!({ "kind": "approve-for-session", "approval": approval })));
    let id = scene.ask("permission");
    scene.machine.does(&["deny", &id, "--reason", "Not today."]);
    assert_eq!(scene.told(), rpc(json!({ "kind": "reject", "feedback": "Not today." })));
    let id = scene.ask("plan");
    assert!(scene.machine.ok(&["show", &id]).contains("Change the port"));
    scene.machine.does(&["answer", &id, "interactive"]);
    assert_eq!(scene.told(), rpc(json!({ "approved": true, "selectedAction": "interactive" })));
}

#[test]
fn a_question_names_the_folder_that_its_session_works_in() {
    let mut scene = Scene::new(&COPILOT);
    scene.key("cd /other/project");
    scene.agent.expect("another folder", |line| line.starts_with("cd"));
    scene.attach();
    scene.key("ask question");
    let questions = scene.machine.questions(1);
    assert_eq!(questions[0]["question"]["project"], "/other/project");
    let status = scene.machine.ok(&["status"]);
    assert!(status.contains("/other/project"), "{status}");
}

#[test]
fn what_was_open_before_is_answered_after_askbridge_was_killed() {
    for what in ["question", "permission"] {
        let mut scene = Scene::new(&COPILOT);
        scene.ask(what);
        scene.attach();
        let id = scene.machine.question();
        let answer: &[&str] = if what == "question" { &["answer", &id, "1"] } else { &["allow", &id] };
        scene.machine.does(answer);
        assert_eq!(scene.told().0, "rpc", "{what}");
    }
}

#[test]
fn what_happens_in_a_gap_is_learnt_afterwards() {
    let mut scene = Scene::new(&COPILOT);
    let id = scene.ask("question");
    scene.key("gap");
    scene.agent.expect("a gap", |line| line.starts_with("gap"));
    scene.key("answer Postgres");
    // The log has the answer.
    assert_eq!(scene.ended(&id)["outcome"]["values"]["database"], "Postgres");
    let id = scene.ask("question");
    scene.machine.does(&["answer", &id, "SQLite"]);
    assert_eq!(scene.told().0, "keyboard");
    assert_eq!(scene.told(), rpc(accepted("SQLite")));
}

#[test]
fn a_copilot_that_is_killed_takes_its_questions_with_it() {
    let mut scene = Scene::new(&COPILOT);
    let id = scene.ask("question");
    scene.restart();
    scene.machine.questions(0);
    let late = scene.machine.run(&["answer", &id, "1"]);
    assert!([3, 4, 6].contains(&late.code), "{late:?}");
    // The process in its place has an inbox of its own.
    let id = scene.ask("question");
    scene.machine.does(&["answer", &id, "1"]);
    assert_eq!(scene.told(), rpc(accepted("Postgres")));
}

#[test]
fn a_server_with_a_token_is_attached_to_with_it() {
    let mut scene = Scene::with(&COPILOT, |command| {
        command.env("COPILOT_CONNECTION_TOKEN", "top secret");
    });
    let id = scene.ask("question");
    scene.machine.does(&["answer", &id, "1"]);
    assert_eq!(scene.told().0, "rpc");
    let log = scene.log();
    assert!(!log.contains("secret"), "{log}");
    let without = scene.machine.start(&["attach", "copilot", &scene.port]);
    without.expect_stderr("a hint", |text| text.contains("COPILOT_CONNECTION_TOKEN"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_server_on_this_machine_is_found() {
    let machine = TestMachine::new();
    let mut agent = Process::spawn(machine.command(&["mock", "copilot", "--ui-server"]).arg0("copilot"));
    agent.expect("a port", |line| line.starts_with("listening "));
    let attached = machine.start(&["attach", "copilot", "--log", "info"]);
    attached.expect_stderr("an attachment", |text| text.contains("attached to Copilot"));
    agent.send("ask question");
    let id = machine.question();
    machine.does(&["answer", &id, "1"]);
    agent.expect("an answer", |line| line.starts_with("told req-1 rpc"));
}

#[test]
fn one_of_two_that_answer_at_once_is_told_to_be_late() {
    Scene::new(&COPILOT).race(&accepted("SQLite"));
}
