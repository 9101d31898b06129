//! `askbridge attach copilot` beside a terminal of Copilot: the mock of its server has the keyboard.

use std::time::Instant;

use serde_json::{Value, json};

use crate::attach::scene::{Kind, PAUSES, Scene};

pub(crate) const COPILOT: Kind =
    Kind { name: "copilot", attached: "attached to Copilot", secret: "COPILOT_CONNECTION_TOKEN" };

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
fn what_led_to_a_question_is_known() {
    let mut scene = Scene::new(&COPILOT);
    scene.key("say The build **fails**.");
    let id = scene.ask("question");
    assert_eq!(
        scene.machine.ok(&["show", "--context", &id]),
        "The build **fails**.\n\nIts last tool call:\n  failed  make\n"
    );
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
    scene.machine.does(&["allow", &id, "--yes"]);
    assert_eq!(scene.told(), rpc(json!({ "kind": "approve-once" })));
    let id = scene.ask("permission");
    scene.machine.does(&["allow", &id, "--always", "--yes"]);
    let approval = json!({ "kind": "commands", "commandIdentifiers": ["rm"] });
    assert_eq!(scene.told(), rpc(json!({ "kind": "approve-for-session", "approval": approval })));
    let id = scene.ask("permission");
    scene.machine.does(&["reject", &id, "--reason", "Not today."]);
    assert_eq!(scene.told(), rpc(json!({ "kind": "reject", "feedback": "Not today." })));
    let id = scene.ask("plan");
    assert!(scene.machine.ok(&["show", &id]).contains("Change the port"));
    scene.machine.does(&["answer", &id, "interactive", "--yes"]);
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
    // While it is attached, too.
    scene.machine.does(&["answer", &crate::answers::machine::name(&questions[0]), "1"]);
    scene.key("cd /third/project");
    scene.key("ask question");
    let is_there =
        |questions: &[Value]| matches!(questions, [one] if one["question"]["project"] == "/third/project");
    scene.machine.watch().until("a question of the third project", is_there);
}

#[test]
fn what_was_open_before_is_answered_after_askbridge_was_killed() {
    for what in ["question", "permission"] {
        let mut scene = Scene::new(&COPILOT);
        scene.ask(what);
        scene.attach();
        let id = scene.machine.question();
        let answer: &[&str] =
            if what == "question" { &["answer", &id, "1"] } else { &["allow", &id, "--yes"] };
        scene.machine.does(answer);
        assert_eq!(scene.told().0, "rpc", "{what}");
    }
}

#[test]
fn what_happens_in_a_gap_is_learnt_afterwards() {
    let mut scene = Scene::new(&COPILOT);
    let id = scene.ask("question");
    scene.key("gap answer Postgres");
    // The log has the answer.
    assert_eq!(scene.ended(&id)["outcome"]["values"]["database"], "Postgres");
    assert_eq!(scene.told().0, "keyboard");
    scene.key("gap ask question");
    let id = scene.machine.question();
    scene.machine.does(&["answer", &id, "SQLite"]);
    assert_eq!(scene.told(), rpc(accepted("SQLite")));
}

#[test]
fn a_permission_that_ended_in_a_gap_is_withdrawn_and_a_form_stays() {
    let mut scene = Scene::new(&COPILOT);
    scene.key("ask permission");
    scene.key("ask question");
    scene.machine.questions(2);
    // Copilot keeps the events of its forms for some time only.
    scene.key("gap approve; forget; ask choices");
    let is_meant = |question: &Value| question["question"]["purpose"] == "permission";
    let questions = scene
        .machine
        .watch()
        .until("what is open", |questions| questions.len() == 2 && !questions.iter().any(is_meant));
    assert_eq!(questions.len(), 2, "{questions:?}");
}

#[test]
fn a_session_that_is_not_shown_is_joined_again() {
    let mut scene = Scene::new(&COPILOT);
    let id = scene.ask("question");
    scene.key("session another");
    scene.agent.expect("a session", |line| line == "joined 1 another");
    // The first attempts to join them again break off. They are not made in a loop.
    let began = Instant::now();
    scene.key("break 3");
    scene.key("gap");
    scene.key("answer Postgres");
    assert_eq!(scene.ended(&id)["outcome"]["values"]["database"], "Postgres");
    assert!(began.elapsed() >= PAUSES, "{:?}", began.elapsed());
    scene.key("ask question");
    let id = scene.machine.question();
    scene.machine.does(&["answer", &id, "SQLite"]);
    assert_eq!(scene.told().0, "keyboard");
    assert_eq!(scene.told(), rpc(accepted("SQLite")));
}

#[test]
fn an_answer_in_a_gap_waits_for_the_next_connection() {
    let mut scene = Scene::new(&COPILOT);
    let id = scene.ask("question");
    scene.key("break 3");
    scene.key("gap");
    scene.agent.expect("a gap", |line| line.starts_with("gap"));
    scene.machine.does(&["answer", &id, "SQLite"]);
    assert_eq!(scene.told(), rpc(accepted("SQLite")));
}

#[test]
fn a_session_that_ended_in_a_gap_takes_its_questions_with_it() {
    let mut scene = Scene::new(&COPILOT);
    let id = scene.ask("question");
    scene.key("session another");
    scene.key("gap leave session-1");
    assert_eq!(scene.ended(&id)["outcome"], json!({ "status": "rejected", "reason": "withdrawn" }));
}

#[test]
fn the_last_of_many_sessions_is_followed() {
    let mut scene = Scene::new(&COPILOT);
    let first = scene.ask("question");
    for number in 2..=17 {
        scene.key(&format!("session session-{number}"));
    }
    scene.key("ask choices");
    let is_last =
        |questions: &[Value]| matches!(questions, [one] if one["question"]["fields"][0]["name"] == "q0");
    let questions = scene.machine.watch().until("the question of the last session", is_last);
    let id = crate::answers::machine::name(&questions[0]);
    scene.machine.does(&["answer", &id, "SQLite"]);
    assert_eq!(scene.told(), rpc(json!({ "answer": "SQLite", "wasFreeform": false })));
    // The oldest session is left to its own dialog, until it is shown again.
    assert_eq!(scene.ended(&first)["outcome"]["reason"], "withdrawn");
    scene.key("session session-1");
    let id = scene.machine.question();
    scene.machine.does(&["answer", &id, "SQLite"]);
    assert_eq!(scene.told(), rpc(accepted("SQLite")));
}

#[test]
fn a_copilot_that_is_killed_takes_its_questions_with_it() {
    assert_eq!(Scene::new(&COPILOT).outlives_its_agent(), rpc(accepted("Postgres")));
}

#[test]
fn a_server_with_a_token_is_attached_to_with_it() {
    Scene::wants_its_secret(&COPILOT);
}

#[cfg(target_os = "linux")]
#[test]
fn a_server_on_this_machine_is_found() {
    Scene::is_found(&COPILOT);
}
