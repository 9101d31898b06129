//! Questions of a chain are answered from anywhere on the machine, as those of `askbridge run` are.

use std::{
    fs,
    io::{Read, Write},
    net::TcpStream,
    path::Path,
    process::Command,
};

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::proxy::conductor::{Conductor, QUESTION, SPELLINGS, cancel};
use crate::support::Process;
use crate::support::running::DEADLINE;

const Q: &str = "\"q\"";
const ANSWERED: &str = r#"{"jsonrpc":"2.0","id":"q","result":{"status":"answered","answers":[["b"]]}}"#;

/// A machine of its own, and a chain on it.
fn chain(spelling: &'static str, options: &[&str]) -> (TempDir, Conductor) {
    let folder = tempfile::tempdir().unwrap();
    let mut component = askbridge(folder.path(), &[&["proxy"], options].concat());
    // The client takes native requests, although it declares nothing.
    component.env("ASKBRIDGE_BRIDGE_CLIENT_QUESTIONS", "native");
    let conductor = Conductor::of(spelling, &mut component).initialized();
    (folder, conductor)
}

fn askbridge(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_askbridge"));
    command.args(args).env("XDG_RUNTIME_DIR", folder).env("XDG_STATE_HOME", folder).env("USER", "somebody");
    command
}

/// Runs a command to its end, and returns its exit code and what it prints.
fn run(folder: &TempDir, args: &[&str]) -> (Option<i32>, String) {
    let mut process = Process::spawn(&mut askbridge(folder.path(), args));
    process.close_stdin();
    let mut printed = Vec::new();
    while let Some(line) = process.next_line() {
        printed.extend(line);
    }
    (process.wait().code(), String::from_utf8(printed).unwrap())
}

fn listing(folder: &TempDir) -> Value {
    let (code, printed) = run(folder, &["list", "--json"]);
    assert_eq!(code, Some(0));
    serde_json::from_str(&printed).unwrap()
}

/// Returns the only question that is open. The client has it, so that it is in the inbox by now.
fn question(folder: &TempDir) -> Value {
    let mut listing = listing(folder);
    assert_eq!(listing["questions"].as_array().map(Vec::len), Some(1), "{listing}");
    listing["questions"][0].take()
}

fn name(question: &Value) -> &str {
    question["id"].as_str().unwrap()
}

#[test]
fn an_answer_from_the_command_line_reaches_the_agent_and_the_client_loses_its_question() {
    for spelling in SPELLINGS {
        let (folder, mut conductor) = chain(spelling, &[]);
        conductor.question(Q);
        let question = question(&folder);
        assert_eq!(question["question"]["sessionId"], "s", "{question}");
        let id = name(&question);
        let (code, said) = run(&folder, &["answer", id, "B"]);
        assert!(code == Some(0) && said.starts_with(&format!("{id} answered: ")), "{said}");
        conductor.hears(ANSWERED);
        conductor.hears(&cancel(Q));
        assert_eq!(listing(&folder)["questions"], json!([]));
        // What the client says now is too late, and so is what others say.
        conductor.says(r#"{"jsonrpc":"2.0","id":"q","result":{"values":["a"]}}"#);
        assert_eq!(run(&folder, &["answer", id, "b"]).0, Some(0), "the same answer");
        assert_eq!(run(&folder, &["answer", id, "a"]).0, Some(4), "another answer");
        conductor.leaves();
    }
}

#[test]
fn what_the_agent_of_a_chain_said_led_to_its_question_and_what_the_client_says_did_not() {
    for spelling in SPELLINGS {
        let (folder, mut conductor) = chain(spelling, &[]);
        let said = |text: &str| {
            let content = json!({ "type": "text", "text": text });
            let update = json!({ "sessionUpdate": "agent_message_chunk", "content": content });
            json!({ "sessionId": "s", "update": update }).to_string()
        };
        conductor.agent_tells("session/update", &said("I look at it."));
        let by_client = format!(r#"{{"method":"session/update","params":{}}}"#, said("Never."));
        conductor.says(&by_client);
        conductor.process.expect("both", |line| line.contains("Never."));
        conductor.question(Q);
        let question = question(&folder);
        assert_eq!(question["hasContext"], true);
        let led = run(&folder, &["show", "--context", name(&question)]);
        assert_eq!(led, (Some(0), "I look at it.\n".to_owned()));
        assert_eq!(run(&folder, &["reject", name(&question)]).0, Some(0));
        conductor.hears_rejection(Q, "user");
        conductor.hears(&cancel(Q));
        conductor.leaves();
    }
}

#[test]
fn an_answer_of_the_client_is_seen_by_the_others() {
    let (folder, mut conductor) = chain("proxy", &[]);
    conductor.question(Q);
    let question = question(&folder);
    conductor.says(r#"{"jsonrpc":"2.0","id":"q","result":{"values":["B"]}}"#);
    conductor.hears(ANSWERED);
    assert_eq!(run(&folder, &["answer", name(&question), "a"]).0, Some(4));
    conductor.leaves();
}

#[test]
fn more_time_and_a_rejection_reach_the_chain() {
    let (folder, mut conductor) = chain("proxy", &["--timeout", "1h"]);
    conductor.question(Q);
    let before = question(&folder);
    let id = name(&before);
    assert_eq!(run(&folder, &["extend", id, "1h"]).0, Some(0));
    assert_ne!(question(&folder)["deadline"], before["deadline"]);
    assert_eq!(run(&folder, &["answer", id, "neither"]).0, Some(5));
    assert_eq!(run(&folder, &["reject", id]).0, Some(0));
    conductor.hears_rejection(Q, "user");
    conductor.hears(&cancel(Q));
    conductor.leaves();
}

#[test]
fn a_question_that_the_client_cannot_show_waits_for_the_others() {
    let (folder, mut conductor) = chain("proxy", &["--client-questions", "none"]);
    conductor.agent_asks(Q, QUESTION, r#"{"sessionId":"s","prompt":"?","options":[["a","A"],["b","B"]]}"#);
    let hint = conductor.process.expect_stderr("the hint", |text| text.contains("askbridge answer "));
    let question = question(&folder);
    let id = name(&question);
    assert!(hint.contains(&format!("askbridge answer {id}")), "{hint}");
    conductor.process.expect("the hint in the chat", |line| {
        line.starts_with(r#"{"jsonrpc":"2.0","method":"session/update""#)
            && line.contains(&format!("askbridge answer {id}"))
    });
    let (code, shown) = run(&folder, &["show", id]);
    assert_eq!(code, Some(0));
    assert!(shown.contains("under an ACP conductor"), "{shown}");
    assert_eq!(run(&folder, &["answer", id, "b"]).0, Some(0));
    conductor.hears(ANSWERED);
    conductor.leaves();
}

#[test]
fn a_chain_serves_its_questions_over_http() {
    let (folder, mut conductor) = chain("proxy", &["--serve=127.0.0.1:0"]);
    let said = conductor.process.expect_stderr("an address", |text| {
        text.split_once("listening on http://").is_some_and(|(_, rest)| rest.contains('\n'))
    });
    let address = said.split_once("listening on http://").unwrap().1.split(',').next().unwrap();
    let token = fs::read_to_string(folder.path().join("askbridge/token")).unwrap();
    conductor.question(Q);
    let body = r#"{"answers":[["b"]]}"#;
    let path = format!("/v1/questions/{}/reply", name(&question(&folder)));
    let mut http = TcpStream::connect(address).unwrap();
    http.set_read_timeout(Some(DEADLINE)).unwrap();
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: {address}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
        token.trim_end(),
        body.len()
    );
    http.write_all(request.as_bytes()).unwrap();
    let mut reply = String::new();
    http.read_to_string(&mut reply).unwrap();
    assert!(reply.starts_with("HTTP/1.1 204 "), "{reply}");
    conductor.hears(ANSWERED);
    conductor.hears(&cancel(Q));
    conductor.leaves();
}

#[test]
fn questions_of_a_chain_without_an_inbox_are_not_found() {
    let (folder, mut conductor) = chain("proxy", &["--no-inbox"]);
    conductor.question(Q);
    assert_eq!(listing(&folder)["questions"], json!([]));
    conductor.passes(ANSWERED);
    conductor.leaves();
}
