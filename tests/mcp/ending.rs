//! How a question ends that the agent does not wait for any more, and how the server ends.

use askbridge_os::exit;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::answers::machine::{TestMachine, end};
use crate::mcp::client::{McpClient, which};

/// Asks, and returns the ID of the request and that of the question.
fn ask(machine: &TestMachine, client: &mut McpClient) -> (u64, String) {
    let call = client.call("ask_user_question", &which());
    (call, machine.question())
}

#[test]
fn cancelled_call_withdraws_its_question() {
    let machine = TestMachine::new();
    let mut client = McpClient::start(&machine, &[]);
    let (call, id) = ask(&machine, &mut client);
    client.notify("notifications/cancelled", &json!({ "requestId": call, "reason": "esc" }));
    machine.questions(0);
    assert_eq!(machine.run(&["answer", &id, "SQLite"]).code, i32::from(exit::SETTLED));
    let call = client.call("wait_for_answer", &json!({ "ticket": id }));
    assert_eq!(client.result(call).1["reason"], "cancelled");
}

#[test]
fn cancellation_after_the_answer_is_no_mistake() {
    let machine = TestMachine::new();
    let mut client = McpClient::start(&machine, &[]);
    let (call, id) = ask(&machine, &mut client);
    machine.ok(&["answer", &id, "SQLite"]);
    assert_eq!(client.result(call).1["status"], "answered");
    client.notify("notifications/cancelled", &json!({ "requestId": call }));
    let (call, id) = ask(&machine, &mut client);
    machine.ok(&["answer", &id, "Postgres"]);
    assert_eq!(client.result(call).1["status"], "answered");
}

#[test]
fn end_of_stdin_withdraws_the_questions_and_ends_the_server() {
    let machine = TestMachine::new();
    let mut client = McpClient::start(&machine, &[]);
    let mut watch = machine.watch();
    ask(&machine, &mut client);
    client.process.close_stdin();
    let run = end(client.process);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run:?}");
    watch.until("no question", <[Value]>::is_empty);
    assert_eq!(machine.names(), [""; 0], "no socket is left");
}

#[test]
fn signal_ends_the_server_with_its_code() {
    let machine = TestMachine::new();
    // No shell is in between, which the signal would end as well.
    let mut client = McpClient::bare(&machine);
    let (_, id) = ask(&machine, &mut client);
    let bridge = id.split('-').next().unwrap();
    assert!(machine.names().iter().any(|name| name.starts_with(bridge)));
    let server = Pid::from_raw(client.process.id().cast_signed()).unwrap();
    kill_process(server, Signal::TERM).unwrap();
    let run = end(client.process);
    assert_eq!((run.code, run.stderr.as_str()), (128 + 15, ""), "{run:?}");
    assert_eq!(machine.names(), [""; 0], "no socket is left");
}

#[test]
fn killed_server_leaves_no_question_that_can_be_answered() {
    let machine = TestMachine::new();
    let mut client = McpClient::start(&machine, &[]);
    let (_, id) = ask(&machine, &mut client);
    drop(client);
    let run = machine.run(&["answer", &id, "SQLite"]);
    assert_ne!(run.code, 0, "{run:?}");
    machine.questions(0);
}

#[test]
fn server_that_was_asked_nothing_opens_no_inbox() {
    let machine = TestMachine::new();
    let mut client = McpClient::start(&machine, &[]);
    let list = client.request("tools/list", &json!({}));
    assert_eq!(client.reply(list)["result"]["tools"].as_array().unwrap().len(), 2);
    assert_eq!(machine.names(), [""; 0]);
    client.process.close_stdin();
    assert_eq!(client.process.wait().code(), Some(0));
}

#[test]
fn log_has_no_text_of_a_question_below_trace() {
    let machine = TestMachine::new();
    for (level, has_text) in [("debug", false), ("trace", true)] {
        let mut client = McpClient::start(&machine, &["--log", level]);
        let (call, id) = ask(&machine, &mut client);
        machine.ok(&["answer", &id, "--text", "my own words"]);
        client.result(call);
        client.process.close_stdin();
        let run = end(client.process);
        assert_eq!(run.stderr.contains("Which database?"), has_text, "{level}: {}", run.stderr);
        assert_eq!(run.stderr.contains("my own words"), has_text, "{level}: {}", run.stderr);
    }
}
