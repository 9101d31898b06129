//! Answers as texts on the command line, for every kind of field.

use std::fs;

use askbridge::exit;
use serde_json::{Value, json};

use crate::{
    machine::{ASKBRIDGE, TestMachine, name},
    support::Process,
};

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
fn an_option_is_named_by_its_value_or_its_label_and_never_by_its_number() {
    let field =
        json!([{ "name": "c", "label": "?", "kind": "choice", "required": true, "options": options() }]);
    for (typed, value) in [("1", "1"), ("One", "2"), ("TEN", "1"), ("both", "a, b")] {
        check(&field, &[typed], json!([[value]]));
    }
    refuse(&field, &["3"], "has no option \"3\", only 1, 2, a, b");
    refuse(&field, &["1", "2"], "takes one value, and 2 are given");
    let other = json!([{ "name": "c", "label": "?", "kind": "choice", "other": true, "options": options() }]);
    check(&other, &["3"], json!([["3"]]));
}

#[test]
fn several_options_are_separated_by_commas_or_given_one_by_one() {
    let field = json!([{ "name": "m", "label": "?", "kind": "choices", "max": 2, "options": options() }]);
    check(&field, &["1,2"], json!([["1", "2"]]));
    check(&field, &["ten", "One", "1"], json!([["1", "2"]]));
    check(&field, &["a, b"], json!([["a, b"]]));
    check(&field, &["--field", "m=1", "--field", "m=both"], json!([["1", "a, b"]]));
    refuse(&field, &["1,2", "Both"], "must have at most 2 entries");
    refuse(&field, &["1,7"], "has no option \"7\"");
}

#[test]
fn a_text_beside_the_options_may_have_commas() {
    let field =
        json!([{ "name": "m", "label": "?", "kind": "choices", "other": true, "options": options() }]);
    check(&field, &["yes, but later"], json!([["yes, but later"]]));
    check(&field, &["1, yes"], json!([["1, yes"]]));
    check(&field, &["one, TEN"], json!([["2", "1"]]));
    check(&field, &["--field", "m=1,2", "--field", "m=yes, 1"], json!([["1", "2", "yes, 1"]]));
    check(&field, &["One", "later, perhaps"], json!([["2", "later, perhaps"]]));
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
    refuse(&fields, &["", "many"], "is a number, not \"many\"");
    refuse(&fields, &["", "0"], "must be at least 1, is 0");
    refuse(&fields, &["", "", "maybe"], "is \"yes\" or \"no\", not \"maybe\"");
    refuse(&fields, &["", "", "", "perhaps"], "is \"Do it\" or \"Leave it\"");
    refuse(&fields, &["1", "2", "y", "y", "z"], "one value too many: the question has 4 fields");
    refuse(&fields, &["--field", "x=1"], "NAME is one of t, n, b, c");
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
        bridge.send(&json!({ "jsonrpc": "2.0", "id": "ask", "result": outcome }).to_string());
    }
    let kept = |questions: &[Value]| questions.iter().any(|view| view["kept"]["values"]["q0"] == "A");
    let id = name(&machine.watch().until("what was answered", kept)[0]);
    assert!(machine.ok(&["show", &id]).contains("answered so far: q0=A"));
    machine.ok(&["answer", &id, "--field", "q1=because"]);
    bridge.expect_stderr("the answer", |text| text.contains(r#""answers":[["A"],["because"]]"#));
}
