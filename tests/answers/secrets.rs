//! A typed secret is for the agent alone: once its question is settled, no command prints it.
//! What a server replies is tested in `tests/http/secrets.rs`.

use serde_json::{Value, json};

use crate::answers::machine::{TestMachine, end};
use crate::support::Process;

/// The agent asks what stands in its argument, and says on stderr what it is told.
const AGENT: &str = r#"printf '%s\n' "$1"; while IFS= read -r line; do printf 'got %s\n' "$line" >&2; done"#;
const SECRET: &str = "correct horse battery";

fn asks() -> String {
    let fields = json!([
        { "name": "token", "label": "The token", "kind": "text", "secret": true },
        { "name": "where", "label": "Where", "kind": "text" },
    ]);
    let params = json!({ "sessionId": "s", "prompt": "?", "_meta": { "askbridge": { "fields": fields } } });
    let method = "_sandboxagent/session/request_question";
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }).to_string()
}

#[test]
fn no_command_prints_a_typed_secret_after_settling() {
    let machine = TestMachine::new();
    let run = ["run", "--client-questions", "none", "--", "sh", "-c", AGENT, "sh"];
    let mut bridge = Process::spawn(machine.command(&run).arg(asks()));
    let mut watch = machine.watch();
    let id = machine.question();
    machine.does(&["answer", &id, SECRET, "here"]);
    bridge.expect_stderr("the answer", |text| text.contains(SECRET));
    watch.until("no question", |open| open.is_empty());
    let (shown, history) = (["show", &id, "--json"], ["history", "show", &id, "--json"]);
    let marked =
        [&shown[..], &["show", &id], &history, &["history", "--json"], &["history"], &["history", "export"]];
    let others = [
        &["answer", &id, "another", "here"][..],
        &["answer", &id, SECRET, "there"],
        &["reject", &id],
        &["list", "--json"],
        &["list"],
        &["status", "--json"],
        &["history", "show", &id],
        &["history", "verify", "--json"],
    ];
    let check = || {
        for args in marked.iter().chain(&others) {
            let run = machine.run(args);
            assert!(!run.stdout.contains(SECRET) && !run.stderr.contains(SECRET), "{args:?}: {run:?}");
            if marked.contains(args) {
                assert!(run.stdout.contains("(secret)"), "{args:?}: {run:?}");
            }
        }
    };
    check();
    let json: Value = serde_json::from_str(&machine.run(&shown).stdout).unwrap();
    assert_eq!(json["settlement"]["outcome"]["values"], json!({ "token": "(secret)", "where": "here" }));
    bridge.close_stdin();
    bridge.wait();
    let late = machine.run(&["answer", &id, "another", "here"]);
    assert!(late.stderr.contains("(secret)") && !late.stderr.contains(SECRET), "{late:?}");
}

#[test]
fn a_program_that_asks_prints_its_secret_and_no_other_command_does() {
    let machine = TestMachine::new();
    let field = json!({ "name": "token", "label": "The token", "kind": "text", "secret": true });
    let form = json!({ "prompt": "?", "_meta": { "askbridge": { "fields": [field] } } });
    let mut asks = machine.start(&["ask", "--form", "-"]);
    asks.send(&form.to_string());
    asks.close_stdin();
    let id = machine.question();
    machine.does(&["answer", &id, SECRET]);
    let asked = end(asks);
    assert!(asked.code == 0 && asked.stdout.contains(SECRET), "{asked:?}");
    let run = machine.run(&["history", "--json"]);
    assert!(run.stdout.contains("(secret)") && !run.stdout.contains(SECRET), "{run:?}");
}
