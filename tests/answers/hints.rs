//! The hints that a question waits, and that no text of an agent acts on a terminal (I10).

use serde_json::{Value, json};

use crate::answers::machine::{ASKBRIDGE, TestMachine, end, name};

#[test]
fn a_question_that_the_client_cannot_show_is_announced_on_stderr() {
    let machine = TestMachine::new();
    let client = machine.client("silent", "a question", &["--client-questions", "none"], &[]);
    let id = machine.question();
    client.expect_stderr("the hint", |text| {
        text.contains(&format!("question {id} waits: askbridge answer {id} shows it and asks you"))
    });
}

#[test]
fn a_question_that_the_client_cannot_show_is_announced_in_the_chat() {
    let machine = TestMachine::new();
    let mut client = machine.client("silent", "a question", &["--client-questions", "none"], &[]);
    let id = machine.question();
    machine.ok(&["answer", &id, "Option B"]);
    let command = format!("Answer it in a terminal: askbridge answer {id} shows it");
    client.expect("the hint", |line| line.contains(&command));
    client.expect("the answer", |line| line.contains("You chose: "));
}

#[test]
fn the_hint_in_the_chat_can_be_switched_off() {
    let machine = TestMachine::new();
    let options = ["--client-questions", "none", "--no-chat-hint"];
    let mut client = machine.client("silent", "a question", &options, &[]);
    let id = machine.question();
    client.expect_stderr("the hint", |text| text.contains(" waits: "));
    machine.ok(&["answer", &id, "Option B"]);
    client.expect("the answer", |line| {
        assert!(!line.contains("askbridge answer"), "{line}");
        line.contains("You chose: ")
    });
}

#[test]
fn a_client_that_says_nothing_for_ten_seconds_is_announced_on_stderr() {
    let machine = TestMachine::new();
    let client = machine.client("silent", "a question", &[], &[]);
    let id = machine.question();
    client.expect_stderr("the hint", |text| text.contains(&format!("question {id} waits: ")));
}

#[test]
fn a_question_that_will_soon_be_rejected_is_announced_on_stderr() {
    let machine = TestMachine::new();
    let client = machine.client("silent", "a question", &["--timeout", "500ms"], &[]);
    client.expect_stderr("the warning", |text| {
        text.contains("will soon be rejected, because four fifths of its time are over: askbridge extend ")
    });
}

#[test]
fn a_permission_prompt_says_how_to_answer_elsewhere() {
    let machine = TestMachine::new();
    let approve = ["mock-client", "--tier", "approve", "--", ASKBRIDGE, "run", "--", ASKBRIDGE, "mock-agent"];
    let mut client = machine.start(&[&approve[..], &["--dialect", "claude"]].concat());
    client.expect("the question", |line| line.contains("Approved: "));
    let left = |questions: &[Value]| questions.iter().any(|view| view["elsewhere"] == true);
    let id = name(&machine.watch().until("that it is left to others", left)[0]);
    client.expect_stderr("the hint", |text| text.contains(&format!("askbridge answer {id} shows it")));
    machine.ok(&["answer", &id, "Option B"]);
    client.expect("the answer", |line| line.contains("You chose: Option B"));

    let mut asked = machine.start(&[
        "run",
        "--client-questions",
        "permission",
        "--",
        "sh",
        "-c",
        ASKS,
        "sh",
        &question("?"),
    ]);
    let prompt = asked.expect("the prompt", |line| line.contains("request_permission"));
    let prompt: Value = serde_json::from_str(&prompt).unwrap();
    let id = machine.question();
    assert_eq!(prompt["params"]["options"][0]["name"], format!("Answer elsewhere: askbridge answer {id}"));
}

const ASKS: &str = r#"printf '%s\n' "$1"; exec cat"#;

fn question(text: &str) -> String {
    let method = "_sandboxagent/session/request_question";
    let field = json!({ "question": text, "header": text, "options": [{ "value": text, "label": text, "description": text, "preview": text }] });
    let other = json!({ "question": "two", "options": [text] });
    let params = json!({ "sessionId": text, "questions": [field, other], "toolCallId": text });
    json!({ "jsonrpc": "2.0", "id": "ask", "method": method, "params": params }).to_string()
}

#[test]
fn without_an_inbox_only_the_client_answers() {
    let machine = TestMachine::new();
    let client = ["mock-client", "--tier", "permission", "--"];
    let bridge = [ASKBRIDGE, "run", "--no-inbox", "--", ASKBRIDGE, "mock-agent"];
    let run = machine.run(&[&client[..], &bridge].concat());
    assert!(run.code == 0 && run.stdout.contains("You chose: "), "{run:?}");
    assert!(!machine.sockets().exists());
    let options = ["--no-inbox", "--client-questions", "none"];
    let client = machine.client("silent", "a question", &options, &[]);
    client.expect_stderr("the warning", |text| text.contains("nothing else can answer it"));
}

#[test]
fn hostile_text_does_not_act_on_a_terminal() {
    let machine = TestMachine::new();
    let hostile = "\x1b]0;title\x07\x1b[2J\u{202e}evil\r\u{9b}31m\u{200b}\u{2028}\x08\x7f\u{e0041}";
    let bridge = machine.start(&[
        "run",
        "--client-questions",
        "none",
        "--",
        "sh",
        "-c",
        ASKS,
        "sh",
        &question(hostile),
    ]);
    let mut watch = machine.start(&["list", "--watch"]);
    let opened = watch.expect("the question", |line| line.starts_with("opened "));
    let id = machine.question();
    let refused = machine.run(&["answer", &id, "neither", "x"]);
    let listed = machine.ok(&["list", "--json"]);
    let shown = [machine.ok(&["list"]), machine.ok(&["show", &id]), refused.stderr, opened, listed];
    machine.ok(&["answer", &id, hostile, hostile, "--note", hostile]);
    let settled = watch.expect("the end", |line| line.starts_with("settled "));
    let stderr = bridge.expect_stderr("the hint", |text| text.contains("waits"));
    let conflict = machine.run(&["reject", &id]).stderr;
    let json = machine.ok(&["show", "--json", &id]);
    let view: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(view["question"]["fields"][0]["label"], hostile, "it is told whole");
    let after = [settled, stderr, conflict, machine.ok(&["show", &id]), json, asked_as_json(hostile)];
    for text in shown.into_iter().chain(after) {
        let bad = |c: char| (c.is_control() && c != '\n') || "\u{202e}\u{200b}\u{2028}\u{e0041}".contains(c);
        assert!(!text.contains(bad), "{text:?}");
        assert!(!text.is_empty());
    }
}

#[test]
fn the_hint_is_on_stderr_wherever_the_log_goes() {
    let file = |machine: &TestMachine| machine.path().join("log").display().to_string();
    for to_file in [true, false] {
        let machine = TestMachine::new();
        let file = file(&machine);
        let log: &[&str] = if to_file { &["--log-file", &file] } else { &["--log", "error"] };
        let client =
            machine.client("silent", "a question", &[log, &["--client-questions", "none"]].concat(), &[]);
        let id = machine.question();
        client.expect_stderr("the hint", |text| {
            text.contains(&format!(
                "askbridge: question {id} waits: askbridge answer {id} shows it and asks you\n"
            ))
        });
    }
}

/// What a program prints that asks, where this is the answer and the remark on it.
fn asked_as_json(answer: &str) -> String {
    let machine = TestMachine::new();
    let asks = machine.start(&["ask", "--json", "--question", "?"]);
    machine.ok(&["answer", &machine.question(), answer, "--note", answer]);
    let printed = end(asks).stdout;
    let settled: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!(settled["outcome"]["values"], json!({ "q0": answer }));
    printed
}
