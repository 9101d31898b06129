//! `askbridge attach codex` beside a terminal of Codex: the mock of its app server has the keyboard.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::answers::machine::TestMachine;
use crate::support::Process;

/// An app server with a keyboard, and what attaches to it.
pub(crate) struct Scene {
    pub machine: TestMachine,
    pub daemon: Process,
    attached: Option<Process>,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let machine = TestMachine::new();
        let socket = socket(&machine);
        let mut daemon = machine.start(&["mock", "codex-daemon", "--socket", &socket]);
        daemon.expect("a socket", |line| line.starts_with("listening "));
        let mut scene = Scene { machine, daemon, attached: None };
        scene.attach();
        scene
    }

    /// Attaches to the app server, and waits until its inbox is there.
    fn attach(&mut self) {
        // The process before is killed.
        self.attached = None;
        let attached = self.machine.start(&["attach", "codex", &socket(&self.machine), "--log", "info"]);
        attached.expect_stderr("an attachment", |text| text.contains("attached to Codex"));
        self.attached = Some(attached);
    }

    fn key(&mut self, line: &str) {
        self.daemon.send(line);
    }

    /// Asks, and returns the ID of the question.
    fn ask(&mut self, what: &str) -> String {
        self.key(&format!("ask {what}"));
        self.machine.question()
    }

    /// Waits until the model is told of a request, and returns who answered and with what.
    fn told(&mut self, request: u32) -> String {
        let begin = format!("told {request} ");
        let line = self.daemon.expect("an end of the request", |line| line.starts_with(&begin));
        line[begin.len()..].to_owned()
    }

    /// Waits until no question is open, and returns how this one ended.
    fn ended(&self, id: &str) -> Value {
        self.machine.questions(0);
        let shown = self.machine.ok(&["show", id, "--json"]);
        let record: Value = serde_json::from_str(&shown).expect("JSON");
        record["settlement"].clone()
    }
}

fn socket(machine: &TestMachine) -> String {
    let path: PathBuf = machine.path().join("c.sock");
    path.to_str().expect("a path").to_owned()
}

/// Returns the result that the model got, without the client that gave it.
fn result(told: &str) -> Value {
    let (_, rest) = told.strip_prefix("result ").and_then(|rest| rest.split_once(' ')).expect(told);
    serde_json::from_str(rest).expect("JSON")
}

fn answers(text: &[&str]) -> Value {
    serde_json::json!({ "answers": { "db": { "answers": text } } })
}

#[test]
fn what_led_to_a_question_is_known() {
    let mut scene = Scene::new();
    scene.key("turn");
    scene.daemon.expect("a client that joins", |line| line.starts_with("joined "));
    scene.key("say The build **fails**.");
    let id = scene.ask("question");
    assert_eq!(
        scene.machine.ok(&["show", "--context", &id]),
        "The build **fails**.\n\nIts last tool call:\n  failed  make\n"
    );
}

#[test]
fn a_question_is_answered_here() {
    let mut scene = Scene::new();
    let id = scene.ask("question");
    let shown = scene.machine.ok(&["list"]);
    assert!(shown.contains("Codex") && shown.contains("Which database should we use?"), "{shown}");
    assert!(scene.machine.ok(&["status"]).contains("Codex"));
    scene.machine.does(&["answer", &id, "SQLite", "--note", "in WAL mode"]);
    assert_eq!(result(&scene.told(0)), answers(&["SQLite", "user_note: in WAL mode"]));
    assert_eq!(scene.ended(&id)["by"]["responder"], "command_line");
}

#[test]
fn a_question_is_answered_at_the_keyboard() {
    let mut scene = Scene::new();
    let id = scene.ask("question");
    scene.key("answer Postgres");
    assert!(scene.told(0).starts_with("result keyboard"));
    let settled = scene.ended(&id);
    assert_eq!(settled["by"], serde_json::json!({ "responder": "dialog", "name": "Codex" }));
    assert_eq!(settled["outcome"]["values"]["db"], "Postgres", "the record of the thread has the answer");
    let late = scene.machine.run(&["answer", &id, "SQLite"]);
    assert_eq!(late.code, 4, "{late:?}");
}

#[test]
fn an_interrupted_turn_ends_its_question() {
    let mut scene = Scene::new();
    let id = scene.ask("question");
    scene.key("interrupt");
    assert_eq!(scene.told(0), "interrupted");
    assert_eq!(scene.ended(&id)["outcome"]["reason"], "cancelled");
}

#[test]
fn a_command_is_allowed_or_denied_here() {
    let mut scene = Scene::new();
    let id = scene.ask("command");
    scene.machine.does(&["allow", &id]);
    assert_eq!(result(&scene.told(0))["decision"], "accept");
    let id = scene.ask("command");
    scene.machine.does(&["reject", &id]);
    assert_eq!(result(&scene.told(1))["decision"], "cancel");
    let id = scene.ask("command");
    scene.machine.does(&["allow", &id, "--always", "--yes"]);
    let rule = &result(&scene.told(2))["decision"]["acceptWithExecpolicyAmendment"];
    assert_eq!(rule["execpolicy_amendment"], serde_json::json!(["touch", "made-by-codex"]));
}

#[test]
fn the_changes_of_files_are_shown() {
    let mut scene = Scene::new();
    scene.key("turn");
    scene.daemon.expect("a client that joins", |line| line.starts_with("joined "));
    let id = scene.ask("files");
    let shown = scene.machine.ok(&["show", &id]);
    assert!(shown.contains("+new") && shown.contains("main.rs"), "{shown}");
    scene.machine.does(&["reject", &id]);
    assert_eq!(result(&scene.told(0))["decision"], "decline");
}

#[test]
fn an_approval_counts_for_the_changes_that_were_shown() {
    let mut scene = Scene::new();
    scene.key("turn");
    scene.daemon.expect("a client that joins", |line| line.starts_with("joined "));
    let id = scene.ask("files");
    scene.key("change newer");
    scene.machine.watch().until("the change", |open| open.iter().any(|question| question["edition"] == 1));
    let shown = scene.machine.ok(&["show", &id]);
    assert!(shown.contains("+newer"), "{shown}");
    let early = scene.machine.run(&["allow", &id, "--seen", "0", "--yes"]);
    assert!(early.code != 0 && early.stderr.contains("has changed"), "{early:?}");
    scene.machine.does(&["allow", &id, "--seen", "1", "--yes"]);
    assert_eq!(result(&scene.told(0))["decision"], "accept");
}

#[test]
fn a_question_outlives_an_askbridge_that_is_killed() {
    let mut scene = Scene::new();
    scene.ask("question");
    scene.attach();
    let id = scene.machine.question();
    scene.machine.does(&["answer", &id, "1"]);
    assert_eq!(result(&scene.told(0)), answers(&["Postgres"]));
}

#[test]
fn a_restarted_server_is_attached_to_again() {
    let mut scene = Scene::new();
    let id = scene.ask("question");
    scene.key("restart");
    assert_eq!(scene.ended(&id)["outcome"]["reason"], "withdrawn");
    let id = scene.ask("question");
    scene.machine.does(&["answer", &id, "1"]);
    assert_eq!(result(&scene.told(0)), answers(&["Postgres"]));
}

#[test]
fn a_server_that_breaks_each_connection_is_not_connected_to_in_a_loop() {
    let mut scene = Scene::new();
    let id = scene.ask("question");
    let began = Instant::now();
    scene.key("break 5");
    for _ in 0..5 {
        scene.daemon.expect("a connection that breaks", |line| line.starts_with("broken"));
    }
    // Pauses of 0, 0.1, 0.2, 0.4 and 0.8 s before them.
    assert!(began.elapsed() >= Duration::from_millis(1500), "{:?}", began.elapsed());
    // The question stays open, and is answered once a connection lasts.
    scene.machine.does(&["answer", &id, "SQLite"]);
    assert_eq!(result(&scene.told(0)), answers(&["SQLite"]));
}

#[test]
fn a_server_that_is_gone_is_not_shown() {
    let mut scene = Scene::new();
    let id = scene.ask("question");
    let Scene { machine, daemon, attached } = scene;
    drop(daemon);
    machine.questions(0);
    let late = machine.run(&["answer", &id, "1"]);
    assert!([3, 4, 6].contains(&late.code), "{late:?}");
    // It goes on looking for the next one.
    let mut daemon = machine.start(&["mock", "codex-daemon", "--socket", &socket(&machine)]);
    daemon.send("ask question");
    let id = machine.question();
    machine.does(&["answer", &id, "1"]);
    daemon.expect("an answer", |line| line.starts_with("told 0 result"));
    drop(attached);
}

#[test]
fn an_attach_that_is_told_to_end_leaves_nothing_behind() {
    let mut scene = Scene::new();
    scene.ask("question");
    let mut attached = scene.attached.take().expect("it runs");
    let pid = Pid::from_raw(attached.id().cast_signed()).expect("a process");
    kill_process(pid, Signal::TERM).expect("it runs");
    assert_eq!(attached.wait().code(), Some(143));
    assert_eq!(scene.machine.names(), Vec::<String>::new());
    scene.key("approve");
    assert!(scene.told(0).starts_with("result keyboard"), "the question stayed open in Codex");
}

#[test]
fn the_inbox_attaches_where_that_is_set() {
    let mut scene = Scene::new();
    scene.attached = None;
    let home = scene.machine.path().join("home");
    std::fs::create_dir_all(home.join("app-server-control")).expect("a folder");
    let link = home.join("app-server-control/app-server-control.sock");
    // Codex' own path is a symlink as well.
    std::os::unix::fs::symlink(socket(&scene.machine), link).expect("a link");
    let mut command = scene.machine.command(&["inbox", "--addr", "0", "--log", "info"]);
    let inbox = Process::spawn(command.env("CODEX_HOME", &home).env("ASKBRIDGE_INBOX_ATTACH", "codex"));
    inbox.expect_stderr("an attachment", |text| text.contains("attached to Codex"));
    let id = scene.ask("question");
    scene.machine.does(&["answer", &id, "1"]);
    assert_eq!(result(&scene.told(0)), answers(&["Postgres"]));
}
