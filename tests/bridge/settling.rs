//! The settling table, row by row, with the mock agent: questions that end without an answer of the client.

use std::{
    fs,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::bridge::client::{Client, QUESTION, chosen, rejected};
use crate::bridge::program::{ASKBRIDGE, bridge, bridge_with};

/// A client of an agent that plays this script, and exits with 1 if it is not followed.
fn scripted(options: &[&str], script: &str) -> (Client, tempfile::NamedTempFile) {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), script).unwrap();
    let agent = [ASKBRIDGE, "mock-agent", "--script", file.path().to_str().unwrap()];
    let options = [&["--client-questions", "native"], options].concat();
    (Client::start(&mut bridge_with(&options, &agent)), file)
}

fn question(id: &str) -> String {
    let params = json!({ "sessionId": "s", "questionId": id, "prompt": "?", "options": [["a", "A"]] });
    json!({ "jsonrpc": "2.0", "id": id, "method": QUESTION, "params": params }).to_string()
}

/// The line that rejects a question, as the agent gets it.
fn rejection(id: &str, reason: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":"{id}","result":{{"status":"rejected","_meta":{{"askbridge":{{"reason":"{reason}"}}}}}}}}"#
    )
}

#[test]
fn a_withdrawn_question_that_the_client_does_not_answer_is_an_error_after_two_seconds() {
    let mut client = Client::new();
    let started = Instant::now();
    let id = client.ask("withdraw a question");
    client.cancelled(id);
    let said = client.end_of("turn").1;
    assert!(said.starts_with("I have a question.The question failed: -32800"), "{said}");
    assert!(started.elapsed() >= Duration::from_secs(2));
    client.answer(id, chosen("option-a"));
    client.hears("came too late and was not used: the agent does not wait for it any more");
    assert_eq!(client.end(), (vec![], Some(0)), "the late answer is dropped");
}

#[test]
fn a_prompt_instead_of_an_answer_rejects_the_question_and_waits_for_the_turn() {
    let mut client = Client::new();
    let id = client.ask("a question");
    client.prompt("instead", "neither, do something else");
    client.cancelled(id);
    let said = "I have a question.The question was rejected: replied_in_chat";
    assert_eq!(client.end_of("turn"), ("end_turn".to_owned(), said.to_owned()));
    // The mock refuses a prompt while a turn is running.
    let said = "neither, do something else";
    assert_eq!(client.end_of("instead"), ("end_turn".to_owned(), said.to_owned()));
}

#[test]
fn a_prompt_is_not_about_a_question_that_came_when_no_turn_was_running() {
    let script = format!(
        "agent> {}\nagent< {}\nagent> {}\nagent< {}\n",
        question("one"),
        r#"{"jsonrpc":"2.0","id":"p","method":"session/prompt","params":{"sessionId":"s"}}"#,
        r#"{"id":$id,"result":{"stopReason":"end_turn"}}"#,
        rejection("one", "client_gone"),
    );
    let (mut client, _file) = scripted(&[], &script);
    client.next("a question", |message| message["method"] == QUESTION);
    assert_eq!(client.call("p", "session/prompt", json!({ "sessionId": "s" }))["error"], json!(null));
    assert_eq!(client.end(), (vec![], Some(0)));
}

#[test]
fn a_held_prompt_is_answered_as_cancelled_when_the_turn_is() {
    let mut client = Client::new();
    client.ask("a question, forever");
    client.prompt("instead", "hello");
    client.hears("replied_in_chat");
    client.notify("session/cancel", json!({ "sessionId": "session-1" }));
    assert_eq!(client.end_of("instead").0, "cancelled");
    assert_eq!(client.end_of("turn").0, "cancelled");
    client.prompt("after", "hello");
    assert_eq!(client.end_of("after"), ("end_turn".to_owned(), "hello".to_owned()));
}

#[test]
fn closing_the_session_rejects_its_questions_before_the_agent_hears_of_it() {
    for method in ["session/close", "session/delete"] {
        let close = json!({ "jsonrpc": "2.0", "id": "c", "method": method, "params": { "sessionId": "s" } });
        let script = format!(
            "agent> {}\nagent< {}\nagent< {close}\nagent> {}\nagent! exit 5\n",
            question("one"),
            rejection("one", "session_closed"),
            r#"{"id":$id,"result":{}}"#,
        );
        let (mut client, _file) = scripted(&[], &script);
        client.next("a question", |message| message["method"] == QUESTION);
        client.send(&close);
        let cancel =
            json!({ "jsonrpc": "2.0", "method": "$/cancel_request", "params": { "requestId": "one" } });
        assert_eq!(client.rest(), (vec![cancel, json!({ "id": "c", "result": {} })], Some(5)));
    }
}

#[test]
fn a_question_without_an_answer_in_time_is_rejected_and_a_late_answer_is_dropped() {
    let mut client = Client::with(&["--timeout", "200ms"]);
    let started = Instant::now();
    let id = client.ask("a question");
    client.cancelled(id);
    assert!(started.elapsed() >= Duration::from_millis(200));
    client.answer(id, chosen("option-a"));
    let late = "came too late and was not used: its time was over";
    let (ends, said) = client.end_of("turn");
    assert!(ends == "end_turn" && said.contains("The question was rejected: timeout"), "{ends}: {said}");
    // The answer and the end of the turn cross.
    if !said.contains(late) {
        client.hears(late);
    }
    client.answer(4711, chosen("option-b"));
    let stderr = client.process.expect_stderr("the complaint", |text| text.contains("with the id 4711"));
    assert_eq!(stderr.matches("to no open request").count(), 1, "{stderr}");
}

#[test]
fn a_question_in_another_session_stays_open() {
    // Each of these concerns its own session only.
    let script = format!(
        "agent> {}\nagent< *\nagent< *\nagent< *\nagent< {}\nagent! exit 6\n",
        question("one"),
        rejection("one", "client_gone"),
    );
    let (mut client, _file) = scripted(&["--timeout", "1h"], &script);
    client.next("a question", |message| message["method"] == QUESTION);
    client.notify("session/cancel", json!({ "sessionId": "other" }));
    client.request("p", "session/prompt", json!({ "sessionId": "other" }));
    client.request("c", "session/close", json!({ "sessionId": "other" }));
    assert_eq!(client.end(), (vec![], Some(6)));
}

#[test]
fn a_question_inside_a_batch_is_forwarded_and_not_taken_up() {
    // The bridge does not follow it: its end rejects nothing, and its answer is the client's batch.
    let batch = format!("[{}]", question("one"));
    let answer = r#"[{"jsonrpc":"2.0","id":"one","result":{"status":"rejected"}}]"#;
    let agent =
        format!("printf '%s\\n' '{batch}'; read -r line; [ \"$line\" = '{answer}' ] && ! read -r line");
    let mut client = Client::start(&mut bridge(&["sh", "-c", &agent]));
    assert_eq!(client.process.next_line(), Some(format!("{batch}\n").into_bytes()));
    client.process.send(answer);
    assert_eq!(client.end(), (vec![], Some(0)));
}

#[test]
fn an_id_that_is_open_already_is_refused_and_the_first_question_goes_on() {
    let mut reused = question("one");
    reused.push('\n');
    let script = format!(
        "agent> {reused}agent> {reused}agent< {}\nagent< {}\nagent! exit 7\n",
        r#"{"jsonrpc":"2.0","id":"one","error":{"code":-32600,"message":""}}"#,
        r#"{"jsonrpc":"2.0","id":"one","result":{}}"#,
    );
    let (mut client, _file) = scripted(&[], &script);
    client.next("a question", |message| message["method"] == QUESTION);
    client.send(&json!({ "jsonrpc": "2.0", "id": "one", "result": rejected("user") }));
    assert_eq!(client.rest(), (vec![], Some(7)));
}
