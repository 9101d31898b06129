//! Forms by their schemas, over the real programs: what `show` prints, what `answer` takes, and what the agent gets.

use askbridge_os::exit;
use serde_json::{Value, json};

use crate::answers::machine::{TestMachine, name};
use crate::support::Process;

/// The agent asks what stands in its argument, and says again what it hears.
const AGENT: &str = r#"printf '%s\n' "$1"; exec cat"#;

fn asked(machine: &TestMachine, schema: &Value) -> (Process, String) {
    let params = json!({ "sessionId": "s", "mode": "form", "message": "Where does it go?", "requestedSchema": schema });
    let line = json!({ "jsonrpc": "2.0", "id": "ask", "method": "elicitation/create", "params": params });
    let bridge = machine.start(&["run", "--", "sh", "-c", AGENT, "sh", &line.to_string()]);
    let id = name(&machine.questions(1)[0]);
    (bridge, id)
}

fn heard(bridge: &mut Process) -> Value {
    let line = bridge.expect("the answer", |line| line.contains("\"result\""));
    serde_json::from_str::<Value>(&line).unwrap()["result"].clone()
}

#[test]
fn a_schema_that_is_not_understood_is_shown_and_answered_with_json() {
    let machine = TestMachine::new();
    let limits = json!({ "type": "object", "additionalProperties": { "type": "integer" } });
    let schema = json!({ "type": "object", "required": ["count", "limits"],
        "properties": { "count": { "type": "integer" }, "limits": limits } });
    let (mut bridge, id) = asked(&machine, &schema);
    let shown = machine.run(&["show", &id]).stdout;
    assert!(
        shown.contains("JSON that fits this schema") && shown.contains("\"additionalProperties\""),
        "{shown}"
    );
    for (typed, why) in [
        ("a few", "must be JSON"),
        (r#"{"cpu":"two"}"#, r#"does not fit its schema at /cpu: "two" is not of type "integer""#),
    ] {
        let run = machine.run(&["answer", &id, "1.0", typed]);
        assert_eq!(run.code, i32::from(exit::DOES_NOT_FIT), "{run:?}");
        assert!(run.stderr.contains(why), "{run:?}");
    }
    machine.does(&["answer", &id, "1.0", r#"{"cpu":2}"#]);
    let content = heard(&mut bridge)["content"].to_string();
    assert_eq!(
        serde_json::from_str::<Value>(&content).unwrap(),
        json!({ "count": 1, "limits": { "cpu": 2 } })
    );
    assert!(content.contains(r#""count":1,"#) || content.contains(r#""count":1}"#), "{content}");
}

#[test]
fn no_declines_a_form_without_fields_and_a_typed_secret_is_not_kept() {
    let machine = TestMachine::new();
    let (mut bridge, id) = asked(&machine, &json!({ "type": "object", "properties": {} }));
    machine.does(&["answer", &id, "no"]);
    assert_eq!(heard(&mut bridge)["action"], "decline");
    drop(bridge);
    let machine = TestMachine::new();
    let token = json!({ "anyOf": [{ "type": "string", "format": "password", "writeOnly": true }, { "type": "null" }] });
    let schema = json!({ "type": "object", "properties": { "token": token }, "required": ["token"] });
    let (mut bridge, id) = asked(&machine, &schema);
    machine.does(&["answer", &id, "hunter2"]);
    assert_eq!(heard(&mut bridge)["content"], json!({ "token": "hunter2" }));
    for args in [&["show", &id, "--json"][..], &["history", "--json"], &["list", "--json"]] {
        let run = machine.run(args);
        assert!(!run.stdout.contains("hunter2") && !run.stderr.contains("hunter2"), "{args:?}: {run:?}");
    }
}
