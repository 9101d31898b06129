//! `askbridge attach opencode` beside a terminal of opencode: the mock of its server has the keyboard.

use std::time::Instant;

use askbridge::limits;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::answers::machine::name;
use crate::attach::scene::{Kind, PAUSES, Scene};

pub(crate) const OPENCODE: Kind =
    Kind { name: "opencode", attached: "attached to opencode", secret: "OPENCODE_SERVER_PASSWORD" };

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
fn what_led_to_a_question_is_known() {
    let mut scene = Scene::new(&OPENCODE);
    scene.key("say The build **fails**.");
    let id = scene.ask("question");
    assert_eq!(
        scene.machine.ok(&["show", "--context", &id]),
        "The build **fails**.\n\nIts last tool call:\n  failed  make\n"
    );
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
fn a_flood_of_questions_that_have_no_room_is_counted_in_the_log() {
    const ASKED: usize = 300;
    let mut scene = Scene::new(&OPENCODE);
    scene.key(&"ask question\n".repeat(ASKED));
    let open = scene.machine.questions(limits::OPEN_PER_SESSION);
    // The next one that has room is behind all that had none.
    scene.machine.does(&["answer", &name(&open[0]), "1"]);
    scene.machine.questions(limits::OPEN_PER_SESSION - 1);
    scene.key("ask question");
    scene.machine.questions(limits::OPEN_PER_SESSION);
    let mut attached = scene.attached.take().expect("an attachment");
    kill_process(Pid::from_raw(attached.id().cast_signed()).expect("a process"), Signal::TERM)
        .expect("it runs");
    attached.wait();
    let log = attached.whole_stderr();
    let refused = ASKED - limits::OPEN_PER_SESSION;
    let written = usize::try_from(askbridge_os::limits::LOG_REPEATED).expect("a number");
    let left = "a question is left to the agent's own dialog";
    assert!(log.contains(&format!("{} more warnings were not written: {left}", refused - written)), "{log}");
    assert_eq!(log.matches(left).count(), written + 1, "{log}");
}

#[test]
fn a_permission_is_allowed_or_denied_here() {
    let mut scene = Scene::new(&OPENCODE);
    let id = scene.ask("permission");
    scene.machine.does(&["allow", &id, "--yes"]);
    assert_eq!(scene.told(), http(json!({ "reply": "once" })));
    let id = scene.ask("permission");
    scene.machine.does(&["allow", &id, "--always", "--yes"]);
    assert_eq!(scene.told(), http(json!({ "reply": "always" })));
    let id = scene.ask("edit");
    let shown = scene.machine.ok(&["show", &id]);
    assert!(shown.contains("serve(8080)") && shown.contains("main.rs"), "{shown}");
    scene.machine.does(&["reject", &id, "--reason", "Not today."]);
    assert_eq!(scene.told(), http(json!({ "reply": "reject", "message": "Not today." })));
    assert_eq!(scene.ended(&id)["remark"], "Not today.");
}

#[test]
fn projects_have_questions_of_their_own() {
    let mut scene = Scene::new(&OPENCODE);
    scene.key("ask question /other/project");
    let questions = scene.machine.questions(1);
    assert_eq!(questions[0]["question"]["project"], "/other/project");
    scene.machine.does(&["answer", &crate::answers::machine::name(&questions[0]), "SQLite"]);
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
    scene.key("gap answer Postgres");
    // The lists say that it is over, and not how.
    assert_eq!(scene.ended(&id)["outcome"], json!({ "status": "rejected", "reason": "withdrawn" }));
    assert_eq!(scene.told().0, "keyboard");
    scene.key("gap ask question");
    let id = scene.machine.question();
    scene.machine.does(&["answer", &id, "SQLite"]);
    assert_eq!(scene.told(), http(json!({ "answers": [["SQLite"]] })));
}

#[test]
fn a_project_that_fails_does_not_keep_the_others_out() {
    let mut scene = Scene::alone(&OPENCODE, |_| {});
    scene.key("ask question /failing/project");
    scene.key("fail /failing/project");
    scene.agent.expect("its failure", |line| line.starts_with("failing "));
    scene.attach();
    let id = scene.ask("question");
    scene.machine.does(&["answer", &id, "1"]);
    assert_eq!(scene.told().0, "http");
}

#[test]
fn a_stream_that_ends_at_once_is_not_opened_again_in_a_loop() {
    let mut scene = Scene::new(&OPENCODE);
    // It is on the list each time, and stays the same question.
    let id = scene.ask("question");
    let began = Instant::now();
    scene.key("break 3");
    scene.key("gap");
    for _ in 0..3 {
        scene.agent.expect("a stream that ends", |line| line.starts_with("broken"));
    }
    assert!(began.elapsed() >= PAUSES, "{:?}", began.elapsed());
    scene.key("ask several");
    scene.machine.questions(2);
    scene.machine.does(&["answer", &id, "SQLite"]);
    assert_eq!(scene.told(), http(json!({ "answers": [["SQLite"]] })));
}

// Which projects are of this process is known by the time at which it started.
#[cfg(target_os = "linux")]
#[test]
fn what_was_open_before_in_another_project_is_answered() {
    let mut scene = Scene::alone(&OPENCODE, |_| {});
    scene.key("ask question /other/project");
    scene.agent.expect("a question", |line| line.starts_with("asked "));
    scene.attach();
    let id = scene.machine.question();
    scene.machine.does(&["answer", &id, "SQLite"]);
    assert_eq!(scene.told(), http(json!({ "answers": [["SQLite"]] })));
}

#[test]
fn a_server_whose_own_project_fails_is_named() {
    let mut scene = Scene::alone(&OPENCODE, |_| {});
    let own = std::env::current_dir().expect("a folder");
    scene.key(&format!("fail {}", own.display()));
    scene.agent.expect("its failure", |line| line.starts_with("failing "));
    let attached = scene.machine.start(&["attach", "opencode", &scene.port]);
    attached.expect_stderr("a problem", |text| text.contains("opencode at") && text.contains("/question"));
}

#[test]
fn a_project_that_fails_after_a_gap_keeps_its_questions() {
    let mut scene = Scene::new(&OPENCODE);
    scene.key("ask question /failing/project");
    let id = scene.machine.question();
    scene.key("fail /failing/project");
    scene.key("gap ask question");
    let questions = scene.machine.questions(2);
    assert!(questions.iter().any(|question| crate::answers::machine::name(question) == id), "{questions:?}");
    scene.machine.does(&["answer", &id, "SQLite"]);
    assert_eq!(scene.told(), http(json!({ "answers": [["SQLite"]] })));
}

#[test]
fn a_server_that_is_killed_takes_its_questions_with_it() {
    assert_eq!(Scene::new(&OPENCODE).outlives_its_agent(), http(json!({ "answers": [["Postgres"]] })));
}

#[test]
fn a_server_with_a_password_is_attached_to_with_it() {
    Scene::wants_its_secret(&OPENCODE);
}

#[cfg(target_os = "linux")]
#[test]
fn a_server_on_this_machine_is_found() {
    Scene::is_found(&OPENCODE);
}

#[test]
fn a_server_that_is_not_opencode_is_named_and_left_alone() {
    let other = Scene::alone(&Kind { name: "copilot", attached: "", secret: "" }, |_| {});
    let attached = other.machine.start(&["attach", "opencode", &other.port]);
    attached.expect_stderr("a problem", |text| {
        text.contains(&format!("opencode at http://127.0.0.1:{}", other.port))
    });
    let refused = other.machine.run(&["attach", "opencode", "https://127.0.0.1:1"]);
    assert!(refused.code == 2 && refused.stderr.contains("https is not supported"), "{refused:?}");
}
