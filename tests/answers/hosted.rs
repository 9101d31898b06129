//! Agents that ask the program that hosts them, each in its own protocol: the real bridge, and the commands beside it.
//! What each line leads to is left to the transcripts.

use std::{
    fs,
    path::PathBuf,
    process::Command,
    sync::mpsc::{Receiver, sync_channel},
    thread,
    time::Duration,
};

use askbridge_os::exit;
use serde_json::{Value, json};

use crate::answers::machine::{TestMachine, end};
use crate::support::Process;

const DEADLINE: Duration = Duration::from_secs(120);

/// A protocol, the agent's request in it, and the host's response.
struct Hosted {
    protocol: &'static str,
    name: &'static str,
    request: Value,
    response: Value,
    /// The line that takes the request back from the host, if the bridge sends one.
    cancel: Option<Value>,
}

fn hosted() -> [Hosted; 2] {
    let options =
        json!([{ "label": "Postgres", "description": "" }, { "label": "SQLite", "description": "" }]);
    let asked = json!([{ "id": "db", "header": "Database", "question": "Which one?", "options": options }]);
    let (tool, id) = (json!({ "questions": asked }), "r1");
    let can_use = json!({ "subtype": "can_use_tool", "tool_name": "AskUserQuestion", "input": tool });
    let allow = json!({ "behavior": "allow", "updatedInput": { "answers": { "Which one?": "Postgres" } } });
    let success = json!({ "subtype": "success", "request_id": id, "response": allow });
    let params = json!({ "threadId": "t", "turnId": "u", "itemId": "i", "questions": asked });
    [
        Hosted {
            protocol: "claude",
            name: "Claude Code",
            request: json!({ "type": "control_request", "request_id": id, "request": can_use }),
            response: json!({ "type": "control_response", "response": success }),
            cancel: Some(json!({ "type": "control_cancel_request", "request_id": id })),
        },
        Hosted {
            protocol: "codex",
            name: "Codex",
            request: json!({ "method": "item/tool/requestUserInput", "id": 7, "params": params }),
            response: json!({ "id": 7, "result": { "answers": { "db": { "answers": ["Postgres"] } } } }),
            cancel: None,
        },
    ]
}

/// Starts a bridge around an agent that asks and writes down what it hears. Returns it once the host has the request,
/// with the question's ID, and what the agent heard when it has ended.
fn asking(machine: &TestMachine, hosted: &Hosted, name: &str) -> (Process, String, Receiver<String>) {
    let path = machine.path().join(name);
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    let request = hosted.request.to_string();
    let agent = ["sh", "-c", r#"printf '%s\n' "$1"; cat > "$2"; :"#, "sh", &request, path.to_str().unwrap()];
    let run = ["run", "--protocol", hosted.protocol, "--"];
    let mut bridge = machine.start(&[&run[..], &agent].concat());
    let heard = heard(path);
    bridge.expect("the request", |line| *line == *request);
    (bridge, machine.question(), heard)
}

fn heard(path: PathBuf) -> Receiver<String> {
    let (sender, receiver) = sync_channel(1);
    thread::spawn(move || sender.send(fs::read_to_string(path).unwrap()));
    receiver
}

#[test]
fn answer_of_the_command_line_reaches_the_agent_and_the_host_is_told() {
    for hosted in hosted() {
        let machine = TestMachine::new();
        let (mut bridge, id, heard) = asking(&machine, &hosted, "heard");
        assert!(machine.ok(&["list"]).contains(hosted.name), "{}", hosted.protocol);
        assert_eq!(machine.run(&["answer", &id, "SQLite"]).code, 0);
        if let Some(cancel) = &hosted.cancel {
            bridge.expect("that the host is told", |line| {
                serde_json::from_str::<Value>(line).ok().as_ref() == Some(cancel)
            });
        }
        // Too late.
        bridge.send(&hosted.response.to_string());
        bridge.send(r#"{"type":"user"}"#);
        bridge.close_stdin();
        let heard = heard.recv_timeout(DEADLINE).unwrap();
        let [answer, next] = &heard.lines().collect::<Vec<_>>()[..] else { panic!("{heard}") };
        assert!(answer.contains("SQLite") && *next == r#"{"type":"user"}"#, "{heard}");
    }
}

#[test]
fn answer_of_the_host_goes_on_byte_for_byte_and_others_come_too_late() {
    for hosted in hosted() {
        let machine = TestMachine::new();
        let (mut bridge, id, heard) = asking(&machine, &hosted, "heard");
        let response = hosted.response.to_string().replace(':', ": ");
        bridge.send(&response);
        let mut watch = machine.watch();
        watch.until("that none is open", <[Value]>::is_empty);
        assert_eq!(machine.run(&["answer", &id, "SQLite"]).code, i32::from(exit::SETTLED));
        bridge.close_stdin();
        assert_eq!(heard.recv_timeout(DEADLINE).unwrap(), format!("{response}\n"));
    }
}

#[test]
fn host_that_leaves_and_agent_that_is_killed_end_the_question() {
    for hosted in hosted() {
        let machine = TestMachine::new();
        let (mut bridge, _, heard) = asking(&machine, &hosted, "left");
        bridge.close_stdin();
        let heard = heard.recv_timeout(DEADLINE).unwrap();
        assert_eq!(heard.lines().count(), 1, "{heard}");
        assert!(["Postgres", "SQLite", "allow"].iter().all(|word| !heard.contains(word)), "{heard}");
        assert_eq!(end(bridge).code, 0);
        let request = hosted.request.to_string();
        let agent = ["sh", "-c", r#"printf '%s\n' "$1"; read -r line; kill -9 $$"#, "sh", &request];
        let run = ["run", "--protocol", hosted.protocol, "--"];
        let mut bridge = machine.start(&[&run[..], &agent].concat());
        let id = machine.question();
        bridge.send("{}");
        assert_eq!(end(bridge).code, 128 + 9);
        assert_ne!(machine.run(&["answer", &id, "SQLite"]).code, 0);
    }
}
