//! `askbridge attach opencode` beside a terminal of opencode: the mock of its server has the keyboard.

use std::os::unix::process::CommandExt;

use serde_json::{Value, json};

use crate::{
    machine::TestMachine,
    scene::{Kind, Scene},
    support::Process,
};

const OPENCODE: Kind = Kind { name: "opencode", attached: "attached to opencode" };

fn http(answer: Value) -> (String, Value) {
    ("http".to_owned(), answer)
}

#[test]
fn a_question_is_answered_here() {
    let mut scene = Scene::new(&OPENCODE);
    let id = scene.ask("several");
    let shown = scene.machine.ok(&["list"]);
    assert!(shown.contains("opencode"), "{shown}");
    scene.machine.does(&["answer", &id, "own text", "Auth,Search"]);
    assert_eq!(scene.told(), http(json!({ "answers": [["own text"], ["Auth", "Search"]] })));
    assert_eq!(scene.ended(&id)["by"]["responder"], "command_line");
    let id = scene.ask("question");
    scene.machine.does(&["reject", &id]);
    assert_eq!(scene.told(), http(Value::Null));
}

#[test]
fn a_question_is_answered_at_the_keyboard() {
    let mut scene = Scene::new(&OPENCODE);
    let id = scene.ask("question");
    scene.key("answer Postgres");
    let settled = scene.ended(&id);
    assert_eq!(settled["by"], json!({ "responder": "dialog", "name": "opencode" }));
    assert_eq!(settled["outcome"]["values"]["q0"], "Postgres");
    let late = scene.machine.run(&["answer", &id, "SQLite"]);
    assert_eq!(late.code, 4, "{late:?}");
    let id = scene.ask("question");
    scene.key("decline");
    assert_eq!(scene.ended(&id)["outcome"], json!({ "status": "rejected", "reason": "user" }));
}

#[test]
fn a_permission_is_allowed_or_denied_here() {
    let mut scene = Scene::new(&OPENCODE);
    let id = scene.ask("permission");
    scene.machine.does(&["allow", &id]);
    assert_eq!(scene.told(), http(json!({ "reply": "once" })));
    let id = scene.ask("permission");
    scene.machine.does(&["allow", &id, "--always"]);
    assert_eq!(scene.told(), http(json!({ "reply": "always" })));
    let id = scene.ask("edit");
    let shown = scene.machine.ok(&["show", &id]);
    assert!(shown.contains("serve(8080)") && shown.contains("main.rs"), "{shown}");
    scene.machine.does(&["deny", &id, "--reason", "Not today."]);
    assert_eq!(scene.told(), http(json!({ "reply": "reject", "message": "Not today." })));
    assert_eq!(scene.ended(&id)["remark"], "Not today.");
}

#[test]
fn projects_have_questions_of_their_own() {
    let mut scene = Scene::new(&OPENCODE);
    scene.key("ask question /other/project");
    let questions = scene.machine.questions(1);
    assert_eq!(questions[0]["question"]["project"], "/other/project");
    scene.machine.does(&["answer", &crate::machine::name(&questions[0]), "SQLite"]);
    assert_eq!(scene.told(), http(json!({ "answers": [["SQLite"]] })));
}

#[test]
fn a_question_outlives_an_askbridge_that_is_killed() {
    let mut scene = Scene::new(&OPENCODE);
    scene.ask("question");
    scene.attach();
    let id = scene.machine.question();
    scene.machine.does(&["answer", &id, "1"]);
    assert_eq!(scene.told(), http(json!({ "answers": [["Postgres"]] })));
}

#[test]
fn what_happens_in_a_gap_is_learnt_afterwards() {
    let mut scene = Scene::new(&OPENCODE);
    let id = scene.ask("question");
    scene.key("gap");
    scene.agent.expect("a gap", |line| line.starts_with("gap"));
    scene.key("answer Postgres");
    assert!(scene.ended(&id).is_object());
    scene.key("gap");
    // Whether this is told or listed depends on when the stream is opened again.
    let id = scene.ask("question");
    scene.machine.does(&["answer", &id, "SQLite"]);
    assert_eq!(scene.told(), ("keyboard".to_owned(), json!({ "answers": [["Postgres"]] })));
    assert_eq!(scene.told(), http(json!({ "answers": [["SQLite"]] })));
}

#[test]
fn a_server_that_is_killed_takes_its_questions_with_it() {
    let mut scene = Scene::new(&OPENCODE);
    let id = scene.ask("question");
    scene.restart();
    scene.machine.questions(0);
    let late = scene.machine.run(&["answer", &id, "1"]);
    assert!([3, 4, 6].contains(&late.code), "{late:?}");
    // The process in its place has an inbox of its own.
    let id = scene.ask("question");
    scene.machine.does(&["answer", &id, "1"]);
    assert_eq!(scene.told(), http(json!({ "answers": [["Postgres"]] })));
}

#[test]
fn a_server_with_a_password_is_attached_to_with_it() {
    let mut scene = Scene::with(&OPENCODE, |command| {
        command.env("OPENCODE_SERVER_PASSWORD", "top secret");
    });
    let id = scene.ask("question");
    scene.machine.does(&["answer", &id, "1"]);
    assert_eq!(scene.told().0, "http");
    let log = scene.log();
    assert!(!log.contains("secret"), "{log}");
    let without = scene.machine.start(&["attach", "opencode", &scene.port]);
    without.expect_stderr("a hint", |text| text.contains("OPENCODE_SERVER_PASSWORD"));
}

#[test]
fn a_server_that_is_not_opencode_is_named_and_left_alone() {
    let other = Scene::alone(&Kind { name: "copilot", attached: "" }, |_| {});
    let attached = other.machine.start(&["attach", "opencode", &other.port]);
    attached.expect_stderr("a problem", |text| {
        text.contains(&format!("opencode at http://127.0.0.1:{}", other.port))
    });
    let refused = other.machine.run(&["attach", "opencode", "https://127.0.0.1:1"]);
    assert!(refused.code == 2 && refused.stderr.contains("https is not supported"), "{refused:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_server_on_this_machine_is_found() {
    let machine = TestMachine::new();
    let mut agent = Process::spawn(machine.command(&["mock", "opencode"]).arg0("opencode"));
    agent.expect("a port", |line| line.starts_with("listening "));
    let attached = machine.start(&["attach", "opencode", "--log", "info"]);
    attached.expect_stderr("an attachment", |text| text.contains("attached to opencode"));
    agent.send("ask question");
    let id = machine
        .watch()
        .until("the question", |questions| !questions.is_empty())
        .iter()
        .map(crate::machine::name)
        .next();
    machine.does(&["answer", &id.expect("a question"), "1"]);
    agent.expect("an answer", |line| line.starts_with("told que_001 http"));
}

#[test]
fn one_of_two_that_answer_at_once_is_told_to_be_late() {
    Scene::new(&OPENCODE).race(&json!({ "answers": [["SQLite"]] }));
}
