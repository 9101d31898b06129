//! Answers as texts on the command line, for every kind of field.

use std::fs;

use askbridge_os::exit;
use serde_json::{Value, json};

use crate::answers::machine::{ASKBRIDGE, TestMachine, end, name};
use crate::support::Process;

/// A bridge around an agent that asks this once, and says again what it hears.
fn asked(machine: &TestMachine, fields: &Value) -> (Process, String) {
    let params = json!({ "sessionId": "s", "_meta": { "askbridge": { "fields": fields } } });
    let method = "_sandboxagent/session/request_question";
    let line = json!({ "jsonrpc": "2.0", "id": "ask", "method": method, "params": params });
    let agent = r#"printf '%s\n' "$1"; exec cat"#;
    let args = ["run", "--client-questions", "none", "--", "sh", "-c", agent, "sh", &line.to_string()];
    let bridge = machine.start(&args);
    let id = name(&machine.questions(1)[0]);
    (bridge, id)
}

fn heard(bridge: &mut Process) -> Value {
    let line = bridge.expect("the answer", |line| line.contains("\"result\""));
    serde_json::from_str::<Value>(&line).unwrap()["result"].clone()
}

#[track_caller]
fn check(fields: &Value, args: &[&str], answers: Value) -> Value {
    let machine = TestMachine::new();
    let (mut bridge, id) = asked(&machine, fields);
    let run = machine.run(&[&["answer", &id], args].concat());
    assert_eq!(run.code, 0, "{args:?}: {run:?}");
    let heard = heard(&mut bridge);
    assert_eq!(heard["answers"], answers, "{args:?}: {heard}");
    heard
}

#[track_caller]
fn refuse(fields: &Value, args: &[&str], why: &str) {
    let machine = TestMachine::new();
    let (_bridge, id) = asked(&machine, fields);
    let run = machine.run(&[&["answer", &id], args].concat());
    assert_eq!(run.code, i32::from(exit::DOES_NOT_FIT), "{args:?}: {run:?}");
    assert!(run.stderr.contains(why), "{args:?}: {run:?}");
    assert_eq!(machine.questions(1).len(), 1, "it stays open");
}

fn options() -> Value {
    json!([{ "value": "1", "label": "Ten" }, { "value": "2", "label": "One" }, { "value": "a, b", "label": "Both" }])
}

#[test]
fn an_option_is_named_by_its_value_its_label_or_its_number() {
    let field =
        json!([{ "name": "c", "label": "?", "kind": "choice", "required": true, "options": options() }]);
    for (typed, value) in [("1", "1"), ("One", "2"), ("TEN", "1"), ("both", "a, b"), ("3", "a, b")] {
        check(&field, &[typed], json!([[value]]));
    }
    refuse(&field, &["4"], "“?” has no option “4”: choose Ten, One, Both, or a number from 1 to 3\n");
    refuse(&field, &["1", "2"], "“?” takes one value, but 2 are given");
    refuse(&field, &["--text", "Ten"], "“?” accepts no free text");
    let other = json!([{ "name": "c", "label": "?", "kind": "choice", "other": true, "options": options() }]);
    check(&other, &["3"], json!([["a, b"]]));
    check(&other, &["--text", "3"], json!([["3"]]));
    check(&other, &["--text", "-"], json!([["-"]]));
    refuse(&other, &["Tne"], "has no option “Tne”: did you mean Ten? (`--text TEXT` sends a text unchanged)");
}

#[test]
fn several_options_are_separated_by_commas_or_given_one_by_one() {
    let field = json!([{ "name": "m", "label": "?", "kind": "choices", "max": 2, "options": options() }]);
    check(&field, &["1,2"], json!([["1", "2"]]));
    check(&field, &["ten", "One", "1"], json!([["1", "2"]]));
    check(&field, &["a, b"], json!([["a, b"]]));
    check(&field, &["--field", "m=1", "--field", "m=both"], json!([["1", "a, b"]]));
    refuse(&field, &["1,2", "Both"], "must have at most 2 entries");
    refuse(&field, &["1,7"], "has no option “7”");
}

#[test]
fn a_text_beside_the_options_may_have_commas() {
    let field =
        json!([{ "name": "m", "label": "?", "kind": "choices", "other": true, "options": options() }]);
    check(&field, &["yes, but later"], json!([["yes, but later"]]));
    refuse(&field, &["1, yes"], "has no option “yes”");
    refuse(&field, &["One", "later, perhaps"], "has no option “later”");
    check(&field, &["one, TEN"], json!([["2", "1"]]));
    check(&field, &["--field", "m=1,2", "--text", "yes, 1"], json!([["1", "2", "yes, 1"]]));
    check(&field, &["One", "--text", "later, perhaps"], json!([["2", "later, perhaps"]]));
}

#[test]
fn each_kind_of_field_is_read() {
    let fields = json!([
        { "name": "t", "label": "Text", "kind": "text" },
        { "name": "n", "label": "Number", "header": "Num", "kind": "number", "integer": true, "min": 1 },
        { "name": "b", "label": "Flag", "kind": "boolean" },
        { "name": "c", "label": "Sure?", "kind": "confirm", "yes": "Do it", "no": "Leave it" },
    ]);
    check(&fields, &["a=b, c", "2", "No", "Do it"], json!([["a=b, c"], ["2"], ["false"], ["Do it"]]));
    check(&fields, &["", "2", "", "n"], json!([[], ["2"], [], ["Leave it"]]));
    let named = ["--field", "Num=3", "--field", "Sure?=yes", "--field", "t=x=y"];
    check(&fields, &named, json!([["x=y"], ["3"], [], ["Do it"]]));
    let notes = ["", "2", "--note", "n=few", "--note", "all of it"];
    let heard = check(&fields, &notes, json!([[], ["2"], [], []]));
    assert_eq!(heard["_meta"]["askbridge"]["notes"], json!({ "0": "all of it", "1": "few" }));
    refuse(&fields, &["", "many"], "“Num” (n) must be a number, is “many”");
    refuse(&fields, &["", "0"], "“Num” (n) must be at least 1, is 0");
    refuse(&fields, &["", "", "maybe"], "“Flag” (b) must be “yes” or “no”, is “maybe”");
    refuse(&fields, &["", "", "", "perhaps"], "“Sure?” (c) must be “Do it” or “Leave it”");
    refuse(&fields, &["1", "2", "y", "y", "z"], "the question has 4 fields, but 5 values are given");
    refuse(&fields, &["--field", "x=1"], "NAME is one of t, n, b, c");
}

#[test]
fn a_value_may_be_read_from_stdin() {
    let text = |name: &str| json!({ "name": name, "label": "?", "kind": "text" });
    for (args, stdin, values) in [
        (&["-", "b"][..], "a\nb\n\n", json!([["a\nb\n"], ["b"]])),
        (&["--field", "t=b", "--field", "s=-"], "a\r\n", json!([["a"], ["b"]])),
        (&["a", "-"], "", json!([["a"], []])),
    ] {
        let machine = TestMachine::new();
        let (mut bridge, id) = asked(&machine, &json!([text("s"), text("t")]));
        let mut answers = machine.start(&[&["answer", &id], args].concat());
        answers.send_bytes(stdin.as_bytes());
        answers.close_stdin();
        let run = end(answers);
        assert_eq!(run.code, 0, "{args:?}: {run:?}");
        assert_eq!(heard(&mut bridge)["answers"], values, "{args:?}");
    }
    let machine = TestMachine::new();
    let run = machine.run(&["answer", "k3-1", "-", "-"]);
    assert_eq!(run.code, i32::from(exit::USAGE), "{run:?}");
    for (bytes, code) in [(&b"\xff"[..], exit::FAILED), (&[b'x'; 600_000], exit::DOES_NOT_FIT)] {
        let mut answers = machine.start(&["answer", "k3-1", "-"]);
        answers.send_bytes(bytes);
        answers.close_stdin();
        let run = end(answers);
        assert!(
            run.code == i32::from(code) && run.stderr.contains("stdin") | run.stderr.contains("\"-\""),
            "{run:?}"
        );
    }
}

#[test]
fn the_success_line_says_what_was_understood() {
    let fields = json!([
        { "name": "d", "label": "Which database?", "header": "Database", "kind": "choice", "other": true, "options": options() },
        { "name": "t", "label": "Token", "kind": "text", "secret": true },
    ]);
    let machine = TestMachine::new();
    let (_bridge, id) = asked(&machine, &fields);
    let said = machine.ok(&["answer", &id, "2", "hunter2", "--note", "d=for now"]);
    assert_eq!(said, format!("{id} answered: Database: One (note: “for now”); Token: (secret)\n"));
    let machine = TestMachine::new();
    let (_bridge, id) = asked(&machine, &json!([fields[0]]));
    let said = machine.ok(&["answer", &id, "--text", "2\u{1b}[2J"]);
    assert_eq!(said, format!("{id} answered with free text: “2\u{241b}[2J”\n"));
    assert!(machine.ok(&["show", &id]).contains(" ago: free text “2"));
}

#[test]
fn a_note_without_a_place_is_said_and_one_without_a_field_is_refused() {
    let machine = TestMachine::new();
    let client = ["mock-client", "--tier", "silent", "--leave-open", "--prompt", "a question, forever", "--"];
    let bridge = [
        ASKBRIDGE,
        "run",
        "--client-questions",
        "none",
        "--",
        ASKBRIDGE,
        "mock-agent",
        "--dialect",
        "cursor",
    ];
    let _client = machine.start(&[&client[..], &bridge].concat());
    let id = name(&machine.questions(1)[0]);
    let run = machine.run(&["answer", &id, "1", "--note", "q=1"]);
    assert_eq!(run.code, i32::from(exit::DOES_NOT_FIT), "{run:?}");
    assert!(run.stderr.contains("--note takes NAME=TEXT, where NAME is "), "{run:?}");
    let run = machine.run(&["answer", &id, "1", "--note", "why not"]);
    assert_eq!((run.code, &*run.stdout), (0, &*format!("{id} answered: Option A\n")), "{run:?}");
    let said = format!("askbridge: {id}: the note is not sent: this agent accepts no notes\n");
    assert_eq!(run.stderr, said);
}

#[test]
fn a_number_may_be_negative() {
    let field = |name: &str| json!({ "name": name, "label": "?", "kind": "number" });
    let fields = json!([field("n"), field("m")]);
    check(&fields, &["-5", "-1.5e3"], json!([["-5"], ["-1500.0"]]));
    check(&fields, &["-5", "--field", "m=-1"], json!([["-5"], ["-1"]]));
    check(&fields, &["--field", "m=-1", "-5"], json!([["-5"], ["-1"]]));
    let heard = check(&fields, &["-5", "--note", "-1"], json!([["-5"], []]));
    assert_eq!(heard["_meta"]["askbridge"]["notes"], json!({ "0": "-1" }));
    let text = json!([{ "name": "t", "label": "?", "kind": "text" }]);
    check(&text, &["--", "--no"], json!([["--no"]]));
}

#[test]
fn a_part_that_was_answered_in_the_client_is_kept() {
    let machine = TestMachine::new();
    let questions = json!([{ "question": "Which?", "options": ["A", "B"] }, { "question": "Why?" }]);
    let params = json!({ "sessionId": "s", "questions": questions });
    let method = "_sandboxagent/session/request_question";
    let line = json!({ "jsonrpc": "2.0", "id": "ask", "method": method, "params": params }).to_string();
    let script = machine.path().join("script");
    fs::write(&script, format!("agent> {line}\nagent< *\n")).unwrap();
    let agent = [ASKBRIDGE, "mock-agent", "--wire", "--script", script.to_str().unwrap()];
    let args = [&["run", "--client-questions", "permission", "--"], &agent[..]].concat();
    let mut bridge = machine.start(&args);
    for choice in ["0", "elsewhere"] {
        let prompt = bridge.expect("a prompt", |line| line.contains("request_permission"));
        let prompt: Value = serde_json::from_str(&prompt).unwrap();
        let options = prompt["params"]["options"].as_array().unwrap();
        let chosen = options.iter().map(|option| option["optionId"].as_str().unwrap());
        let option = chosen.rev().find(|id| id.ends_with(&format!("-{choice}"))).unwrap();
        let outcome = json!({ "outcome": { "outcome": "selected", "optionId": option } });
        bridge.send(&json!({ "jsonrpc": "2.0", "id": prompt["id"], "result": outcome }).to_string());
    }
    let kept = |questions: &[Value]| questions.iter().any(|view| view["kept"]["values"]["q0"] == "A");
    let id = name(&machine.watch().until("what was answered", kept)[0]);
    assert!(machine.ok(&["show", &id]).contains("answered so far: Which?: A"));
    machine.ok(&["answer", &id, "--field", "q1=because"]);
    bridge.expect_stderr("the answer", |text| text.contains(r#""answers":[["A"],["because"]]"#));
}
