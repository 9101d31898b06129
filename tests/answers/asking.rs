//! `askbridge ask`: what it prints, and the exit code for each outcome.

use std::{fs, process::Command};

use askbridge_os::exit;
use serde_json::{Value, json};

use crate::answers::machine::{TestMachine, end};
use crate::answers::terminal::Terminal;
use crate::support::Process;

const YES_OR_NO: [&str; 6] = ["ask", "--question", "Deploy?", "--option", "y=Yes", "--option=n=No way"];

fn waits(process: &Process) -> String {
    let stderr = process.expect_stderr("the hint", |text| text.contains(" waits: ") && text.ends_with('\n'));
    stderr.split_whitespace().nth(2).unwrap().to_owned()
}

#[test]
fn the_answer_is_printed_with_one_value_per_line() {
    let machine = TestMachine::new();
    for (options, answer, said, printed) in [
        (&[][..], &["No Way"][..], ": No way", "n\n"),
        (&["--many"], &["n,1"], ": No way, Yes", "n\ny\n"),
        (&["--other"], &["on Monday"], " with free text: “on Monday”", "on Monday\n"),
    ] {
        let asks = machine.start(&[&YES_OR_NO, options].concat());
        let id = waits(&asks);
        assert_eq!(machine.question(), id);
        assert!(machine.ok(&["show", &id]).contains("asked by askbridge ask in "));
        assert_eq!(machine.ok(&[&["answer", &id], answer].concat()), format!("{id} answered{said}\n"));
        let run = end(asks);
        assert_eq!((run.code, run.stdout.as_str()), (i32::from(exit::OK), printed), "{run:?}");
    }
    assert_eq!(machine.names(), [""; 0], "no socket is left");
}

/// The form of REST and that of agents are the same question.
#[test]
fn a_form_has_the_members_of_rest_or_of_an_agents_request() {
    let machine = TestMachine::new();
    let file = machine.path().join("form.json");
    let form = file.to_str().unwrap();
    for asked in [
        json!({ "message": "Set up?", "fields": [{ "name": "go", "label": "Go?", "kind": "boolean" }], "submit": "Do it" }),
        json!({ "prompt": "Set up?", "_meta": { "askbridge": { "fields": [{ "name": "go", "label": "Go?", "kind": "boolean" }] } } }),
    ] {
        fs::write(&file, asked.to_string()).unwrap();
        let asks = machine.start(&["ask", "--form", form]);
        let id = waits(&asks);
        assert!(machine.ok(&["show", &id]).contains("Set up?"));
        machine.ok(&["answer", &id, "yes"]);
        assert_eq!(end(asks).stdout, "true\n", "{asked}");
    }
    for (asked, why) in [
        (json!({ "fields": [{ "name": "x", "label": "X", "kind": "text" }], "colour": 1 }), "colour"),
        (json!({ "subject": { "title": "Pay" }, "purpose": "permission" }), "over HTTP"),
        (json!({ "fields": [] }), "field"),
    ] {
        fs::write(&file, asked.to_string()).unwrap();
        let run = machine.run(&["ask", "--form", form]);
        assert!(run.code == i32::from(exit::FAILED) && run.stderr.contains(why), "{asked}: {run:?}");
    }
}

#[test]
fn without_options_the_answer_is_a_text() {
    let machine = TestMachine::new();
    let asks = machine.start(&["ask", "--question", "Why?"]);
    machine.ok(&["answer", &waits(&asks), "two\nlines"]);
    assert_eq!(end(asks).stdout, "two\nlines\n");
}

#[test]
fn each_outcome_has_its_exit_code() {
    let machine = TestMachine::new();
    let asks = machine.start(&YES_OR_NO);
    machine.ok(&["reject", &waits(&asks), "--reason", "not on a Friday"]);
    let run = end(asks);
    assert_eq!((run.code, run.stdout.as_str()), (i32::from(exit::REJECTED), ""));
    assert!(run.stderr.contains("rejected by the command line (somebody): not on a Friday"), "{run:?}");

    let run = machine.run(&[&YES_OR_NO[..], &["--timeout", "50ms"]].concat());
    assert_eq!((run.code, run.stdout.as_str()), (i32::from(exit::TIMED_OUT), ""), "{run:?}");
    assert!(run.stderr.contains("no answer came in time"), "{run:?}");

    let run = machine.run(&["ask", "--form", "/nowhere/form.json"]);
    assert_eq!((run.code, run.stdout.as_str()), (i32::from(exit::FAILED), ""), "{run:?}");
    let run = machine.run(&["ask", "--question", &"x".repeat(5000)]);
    assert_eq!((run.code, run.stdout.as_str()), (i32::from(exit::FAILED), ""), "{run:?}");
    assert!(run.stderr.contains("longer than 4000 characters"), "{run:?}");
}

#[test]
fn a_confirmation_is_said_by_the_exit_code() {
    let machine = TestMachine::new();
    let asked = ["ask", "--confirm", "Deploy?", "--agent", "a hook"];
    for (answer, code, printed) in [
        (&["answer", "y"][..], exit::OK, "yes\n"),
        (&["answer", "No"], exit::REJECTED, "no\n"),
        (&["reject"], exit::UNCONFIRMED, ""),
    ] {
        let asks = machine.start(&asked);
        let id = waits(&asks);
        let question = machine.questions(1).remove(0);
        assert_eq!((&question["question"]["agent"]), &json!("a hook"));
        let folder = std::env::current_dir().unwrap();
        assert_eq!(question["question"]["project"].as_str(), folder.to_str());
        machine.ok(&[&[answer[0], &id], &answer[1..]].concat());
        let run = end(asks);
        assert_eq!((run.code, run.stdout.as_str()), (i32::from(code), printed), "{run:?}");
    }
    let run = machine.run(&[&asked[..], &["--timeout", "50ms"]].concat());
    assert_eq!((run.code, run.stdout.as_str()), (i32::from(exit::TIMED_OUT), ""), "{run:?}");
    let asks = machine.start(&["ask", "Deploy?", "--option", r"a\=b=A", "--option", "c"]);
    machine.ok(&["answer", &waits(&asks), "A"]);
    assert_eq!(end(asks).stdout, "a=b\n");
}

#[test]
fn a_deadline_can_be_extended_while_the_command_waits() {
    let machine = TestMachine::new();
    let asks = machine.start(&[&YES_OR_NO[..], &["--timeout", "1h"]].concat());
    let id = waits(&asks);
    let said = machine.ok(&["extend", &id, "1h"]);
    let until = machine.questions(1)[0]["deadline"].as_str().unwrap().to_owned();
    assert_eq!(said, format!("{id} extended: ends in 119m, at {until}\n"));
    assert!(machine.ok(&["show", &id]).contains("ends in 119m"));
    machine.ok(&["answer", &id, "y"]);
    let run = end(asks);
    assert_eq!((run.stdout.as_str(), run.stderr.matches("waits").count()), ("y\n", 1), "{run:?}");
}

#[test]
fn a_person_at_a_terminal_is_warned_before_the_time_is_over() {
    let machine = TestMachine::new();
    // The last fifth is long: a busy machine may not see a short one.
    let mut terminal =
        Terminal::start(&machine, &["ask", "--confirm", "Deploy?", "--timeout", "8s"], 200, 24);
    terminal.expect(" waits: ");
    let id = terminal.text.split_whitespace().nth(2).unwrap().to_owned();
    terminal.expect(&format!(" are left: askbridge answer {id} VALUE, or askbridge extend {id} 10m\n"));
    terminal.expect("no answer came in time");
    assert_eq!(terminal.code(), i32::from(exit::TIMED_OUT));
    assert_eq!(terminal.text.matches(" are left: ").count(), 1, "{}", terminal.text);

    // A program that reads stderr has no use for it.
    let run = machine.run(&["ask", "--confirm", "Deploy?", "--timeout", "500ms"]);
    assert!(run.stderr.contains(" waits: ") && !run.stderr.contains(" left"), "{run:?}");
}

#[test]
fn an_interrupted_question_is_withdrawn() {
    let machine = TestMachine::new();
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        let asks = machine.start(&YES_OR_NO);
        waits(&asks);
        let mut watch = machine.watch();
        watch.until("the question", |questions| questions.len() == 1);
        let killed = Command::new("kill").args([format!("-{signal}"), asks.id().to_string()]).status();
        assert!(killed.unwrap().success());
        watch.until("no question", <[Value]>::is_empty);
        assert_eq!(end(asks).code, code);
        assert_eq!(machine.names(), [""; 0]);
    }
}

#[test]
fn a_whole_form_can_be_asked_and_its_outcome_printed_as_json() {
    let machine = TestMachine::new();
    let fields = json!([
        { "name": "when", "label": "When?", "kind": "text", "required": true },
        { "name": "count", "label": "How many?", "kind": "number" },
        { "name": "a", "label": "Sure?", "kind": "boolean" },
    ]);
    let form = json!({ "prompt": "The release", "_meta": { "askbridge": { "fields": fields } } }).to_string();
    let path = machine.path().join("form.json");
    fs::write(&path, &form).unwrap();
    let asks = machine.start(&["ask", "--form", path.to_str().unwrap()]);
    machine.ok(&["answer", &waits(&asks), "now", "2", "yes"]);
    assert_eq!(end(asks).stdout, "now\n2\ntrue\n", "in the order of the fields");

    let mut asks = machine.start(&["ask", "--form", "-", "--json"]);
    asks.send_bytes(form.as_bytes());
    asks.close_stdin();
    machine.ok(&["answer", &waits(&asks), "now", "--note", "count=few"]);
    let run = end(asks);
    let settled: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(settled["outcome"]["values"], json!({ "when": "now" }));
    assert_eq!(settled["outcome"]["notes"], json!({ "count": "few" }));
    assert_eq!(settled["by"], json!({ "responder": "command_line", "name": "somebody" }));

    for wrong in ["{}", "[]", "not JSON"] {
        let mut asks = machine.start(&["ask", "--form", "-"]);
        asks.send_bytes(wrong.as_bytes());
        asks.close_stdin();
        assert_eq!(end(asks).code, i32::from(exit::FAILED), "{wrong}");
    }
}

#[test]
fn a_question_of_a_program_has_its_origin_and_is_expiring_before_its_timeout() {
    let machine = TestMachine::new();
    let form = json!({ "sessionId": "", "prompt": "?", "options": ["a"] }).to_string();
    // It is expiring for the last fifth of its time, in which a watch has to have its turn.
    let mut asks = machine.start(&["ask", "--form", "-", "--timeout", "10s"]);
    asks.send_bytes(form.as_bytes());
    asks.close_stdin();
    let is_expiring = |questions: &[Value]| questions.iter().any(|question| question["expiring"] == true);
    let question = machine.watch().until("the warning", is_expiring).remove(0);
    assert_eq!((&question["question"]["origin"], &question["state"]), (&json!("program"), &json!("open")));
    assert_eq!(question["question"].get("sessionId"), None);
    assert_eq!(end(asks).code, i32::from(exit::TIMED_OUT));
}
