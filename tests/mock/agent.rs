//! The mock agent as a process: its methods, and the behaviours that the words of a prompt choose.
//! The other dialects are left to `dialects.rs`.

use std::{fs, os::unix::process::ExitStatusExt};

use serde_json::{Value, json};

use crate::mock::peer::Client;

fn chosen(value: &str) -> Value {
    json!({ "status": "answered", "answers": [[value]] })
}

#[test]
fn initialize_returns_the_capabilities_in_both_versions() {
    let mut client = Client::start(&[]);
    let result = client.call("i", "initialize", &json!({ "protocolVersion": 7 }))["result"].clone();
    assert_eq!(result["protocolVersion"], 1);
    assert_eq!(result["authMethods"], json!([]));
    let capabilities = json!({
        "loadSession": true,
        "promptCapabilities": { "image": true, "audio": true, "embeddedContext": true },
        "sessionCapabilities": { "list": {}, "resume": {}, "fork": {}, "close": {} },
    });
    assert_eq!(result["agentCapabilities"], capabilities);
    let result = client.call("i", "initialize", &json!({ "protocolVersion": 2 }))["result"].clone();
    assert_eq!((&result["protocolVersion"], &result["capabilities"]), (&json!(2), &capabilities));
    assert!(result.get("agentCapabilities").is_none(), "version 2 has another name for it");
    assert_eq!(client.end().code(), Some(0));
}

#[test]
fn ids_are_echoed_in_their_own_spelling() {
    let mut client = Client::start(&[]);
    for id in ["0", "-1", "1.50", "1e3", "18446744073709551616", r#""x""#, r#""\u0030""#, "null"] {
        client.process.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"session/list"}}"#));
        let expected = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"sessions":[]}}}}"#);
        assert_eq!(client.process.next_line().unwrap(), format!("{expected}\n").into_bytes());
    }
}

#[test]
fn an_invalid_line_or_request_gets_its_error_code() {
    let mut client = Client::start(&[]);
    for (line, id, code) in [
        ("{oops", "null", -32700),
        ("[]", "null", -32600),
        (r#"{"id":1,"method":"session/other"}"#, "1", -32601),
        (r#"{"id":2,"method":"initialize","params":{}}"#, "2", -32602),
        (r#"{"id":3,"method":"session/new","params":{"cwd":"here"}}"#, "3", -32602),
        (r#"{"id":4,"method":"session/prompt","params":{"sessionId":1,"prompt":[]}}"#, "4", -32602),
        (r#"{"id":5,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}"#, "5", -32002),
        (r#"{"id":6,"method":"session/list","params":{"cursor":"c"}}"#, "6", -32602),
    ] {
        client.process.send("{\"method\":\"unknown/notification\"}\n");
        client.process.send(line);
        let answer = client.process.next_line().unwrap();
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        assert_eq!((answer["id"].to_string().as_str(), &answer["error"]["code"]), (id, &json!(code)));
    }
    assert_eq!(client.end().code(), Some(0));
}

#[test]
fn a_prompt_without_behaviour_is_repeated_in_chunks() {
    let mut client = Client::in_session(true);
    client.prompt("p", "one two three\nfour five");
    client.response("p");
    assert!((2..=3).contains(&client.said.len()), "{:?}", client.said);
    assert_eq!(client.said.concat(), "one two three\nfour five");
}

#[test]
fn the_agent_reports_every_response() {
    for (result, said) in [
        (r#""result":{"status":"answered","answers":[["option-a"]]}"#, "You chose: option-a"),
        (r#""result":{"status":"rejected"}"#, "The question was rejected"),
        (
            r#""result":{"status":"rejected","_meta":{"askbridge":{"reason":"timeout"}}}"#,
            "The question was rejected: timeout",
        ),
        (
            r#""error":{"code":-32601,"message":"method not found"}"#,
            "The question failed: -32601 method not found",
        ),
        (r#""result":{"action":"decline"}"#, r#"The answer was not understood: {"action":"decline"}"#),
    ] {
        let mut client = Client::in_session(true);
        client.prompt("p", "Please ask me a QUESTION.");
        let (id, params) = client.question();
        assert_eq!((id, &params["questionId"]), (0, &json!("q-1")));
        assert_eq!(params["options"], json!([["option-a", "Option A"], ["option-b", "Option B"]]));
        client.process.send(&format!(r#"{{"jsonrpc":"2.0","id":0,{result}}}"#));
        let end = ("end_turn".to_owned(), format!("I have a question.{said}"));
        assert_eq!(client.turn_end("p"), end);
    }
}

#[test]
fn fields_many_free_and_confirm_change_the_question() {
    let mut client = Client::in_session(true);
    client.prompt("fields", "a question with fields");
    let (id, params) = client.question();
    assert_eq!(params["questions"].as_array().unwrap().len(), 3);
    client.answer(id, &json!({ "status": "answered", "answers": [["SQLite"], ["Auth", "Search"], ["no"]] }));
    let said = "I have a question.You answered: Database: SQLite; Features: Auth, Search; Notes: no";
    assert_eq!(client.turn_end("fields").1, said);

    client.prompt("many", "a question with many options");
    let (id, params) = client.question();
    assert_eq!(params["questions"][0]["multiple"], true);
    client.answer(id, &json!({ "status": "answered", "answers": [["Auth", "Billing"]] }));
    assert_eq!(client.turn_end("many").1, "I have a question.You chose: Auth, Billing");

    client.prompt("free", "a free question");
    let (id, params) = client.question();
    assert_eq!(params["options"], json!([]));
    client.answer(id, &chosen("my branch"));
    assert_eq!(client.turn_end("free").1, "I have a question.You wrote: my branch");

    client.prompt("confirm", "a question to confirm: confirm");
    let (id, params) = client.question();
    assert_eq!(params["options"], json!([["yes", "Yes"], ["no", "No"]]));
    client.answer(id, &chosen("no"));
    assert_eq!(client.turn_end("confirm").1, "I have a question.You chose: no");
}

#[test]
fn several_questions_are_answered_in_any_order() {
    let mut client = Client::in_session(true);
    client.prompt("p", "several questions");
    let ids = [(); 3].map(|()| client.question().0);
    assert_eq!(ids, [0, 1, 2]);
    client.answer(2, &chosen("option-b"));
    client.answer(0, &json!({ "status": "rejected" }));
    client.answer(1, &chosen("option-a"));
    let said = "I have a question.[q-3] You chose: option-b[q-1] The question was rejected\
                [q-2] You chose: option-a";
    assert_eq!(client.turn_end("p"), ("end_turn".to_owned(), said.to_owned()));
}

#[test]
fn a_withdrawn_question_still_waits_for_its_response() {
    let mut client = Client::in_session(true);
    client.prompt("p", "a question that you withdraw");
    let (id, _) = client.question();
    let withdrawn = client.next("the withdrawal", |message| message["method"] == "$/cancel_request");
    assert_eq!(withdrawn["params"], json!({ "requestId": id }));
    client.process.send(r#"{"id":0,"error":{"code":-32800,"message":"cancelled"}}"#);
    assert_eq!(client.turn_end("p").1, "I have a question.The question failed: -32800 cancelled");
}

#[test]
fn a_later_question_comes_after_the_turn() {
    let mut client = Client::in_session(true);
    client.prompt("p", "a question, later");
    assert_eq!(client.turn_end("p").0, "end_turn");
    let (id, _) = client.question();
    client.answer(id, &chosen("option-a"));
    client.next("the report", |message| message["method"] == "session/update");
    assert_eq!(client.said, ["You chose: option-a"]);
}

#[test]
fn the_agent_exits_or_crashes_while_a_question_is_open() {
    for (prompt, code, signal) in [
        ("a question and exit", Some(7), None),
        ("a question and exit 3", Some(3), None),
        ("a question and crash", None, Some(9)),
    ] {
        let mut client = Client::in_session(true);
        client.prompt("p", prompt);
        client.question();
        let status = client.process.wait();
        assert_eq!((status.code(), status.signal()), (code, signal), "{prompt}");
    }
}

#[test]
fn a_flood_has_the_requested_length() {
    let mut client = Client::in_session(true);
    client.prompt("p", "flood 1000 and stderr");
    client.response("p");
    assert_eq!(client.said.iter().filter(|text| text.starts_with("update ")).count(), 1000);
    assert_eq!(client.said[999], "update 1000\n");
    client.process.expect_stderr("the line", |text| text.contains("a line on stderr"));
    client.said.clear();
    client.prompt("p", "flood");
    client.response("p");
    assert_eq!(client.said.iter().filter(|text| text.starts_with("update ")).count(), 40_000);
}

#[test]
fn an_agent_that_outlives_its_stdin_ends_by_a_signal() {
    let mut client = Client::start(&["--wire"]);
    client.call("new", "session/new", &json!({ "cwd": "/src/project" }));
    client.prompt("p", "outlive your stdin");
    client.response("p");
    client.process.close_stdin();
    client.process.expect_stderr("the end of stdin", |text| text.contains("agent < (end)"));
    let pid = rustix::process::Pid::from_raw(client.process.id().cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    assert_eq!(client.process.wait().signal(), Some(15));
}

#[test]
fn a_cancelled_turn_waits_for_its_question_if_the_client_advertised_the_dialect() {
    let mut client = Client::in_session(true);
    client.prompt("p", "question");
    let (id, _) = client.question();
    client.notify("session/cancel", &json!({ "sessionId": "session-1" }));
    // The agent answers in order: if the turn did not wait, its end would come before this response.
    client.call("list", "session/list", &json!({}));
    client.answer(id, &json!({ "status": "rejected", "_meta": { "askbridge": { "reason": "cancelled" } } }));
    let said = "I have a question.The question was rejected: cancelled";
    assert_eq!(client.turn_end("p"), ("cancelled".to_owned(), said.to_owned()));
}

#[test]
fn a_cancelled_turn_ends_at_once_if_the_client_did_not_advertise_the_dialect() {
    let mut client = Client::in_session(false);
    client.prompt("p", "question");
    let (id, _) = client.question();
    client.notify("session/cancel", &json!({ "sessionId": "session-1" }));
    assert_eq!(client.turn_end("p").0, "cancelled");
    client.answer(id, &chosen("option-a"));
    client.next("the report", |message| message["method"] == "session/update");
    assert_eq!(client.said, ["You chose: option-a"]);
}

#[test]
fn a_turn_that_lasts_forever_ends_when_it_is_cancelled() {
    let mut client = Client::in_session(true);
    client.prompt("p", "forever");
    client.prompt("second", "hello");
    assert_eq!(client.response("second")["error"]["code"], -32600, "one turn at a time");
    client.notify("session/cancel", &json!({ "sessionId": "session-1" }));
    assert_eq!(client.turn_end("p").0, "cancelled");
    client.prompt("third", "hello");
    assert_eq!(client.turn_end("third"), ("end_turn".to_owned(), "hello".to_owned()));
}

#[test]
fn a_prompt_cancelled_by_its_id_is_an_error_and_its_questions_are_withdrawn() {
    let mut client = Client::in_session(true);
    client.prompt("p", "question");
    let (id, _) = client.question();
    client.notify("$/cancel_request", &json!({ "requestId": "other" }));
    client.notify("$/cancel_request", &json!({ "requestId": "p" }));
    let withdrawn = client.next("the withdrawal", |message| message["method"] == "$/cancel_request");
    assert_eq!(withdrawn["params"], json!({ "requestId": id }));
    assert_eq!(client.response("p")["error"]["code"], -32800);
}

#[test]
fn the_agent_handles_other_requests_while_a_question_is_open() {
    let mut client = Client::in_session(true);
    client.call("new", "session/new", &json!({ "cwd": "/other", "mcpServers": [] }));
    client.prompt("p", "question");
    let (id, _) = client.question();
    let prompt =
        json!([{ "type": "text", "text": "hello" }, { "type": "image", "data": "", "mimeType": "" }]);
    let params = json!({ "sessionId": "session-2", "prompt": prompt });
    client.request("other", "session/prompt", &params);
    assert_eq!(client.turn_end("other").1, "I have a question.hello\n[image]");
    client.answer(id, &chosen("option-a"));
    assert_eq!(client.turn_end("p").1, "You chose: option-a");
}

#[test]
fn a_closed_session_ends_its_turn_and_can_be_loaded_again() {
    let mut client = Client::in_session(true);
    client.prompt("p", "hello there");
    client.response("p");
    client.prompt("q", "question");
    let (id, _) = client.question();
    client.request("close", "session/close", &json!({ "sessionId": "session-1" }));
    assert_eq!(client.turn_end("q").0, "cancelled");
    assert_eq!(client.response("close")["result"], json!({}));
    client.answer(id, &chosen("option-a"));
    client.prompt("closed", "hello");
    assert_eq!(client.response("closed")["error"]["code"], -32002);
    assert!(client.said.is_empty(), "a closed session gets no updates");

    let list = client.call("list", "session/list", &json!({ "cwd": "/src/project" }));
    let listed = json!([{ "sessionId": "session-1", "cwd": "/src/project", "title": "hello there" }]);
    assert_eq!(list["result"]["sessions"], listed);
    let load = json!({ "sessionId": "session-1", "cwd": "/src/project", "mcpServers": [] });
    assert_eq!(client.call("load", "session/load", &load)["result"], json!({}));
    assert_eq!(client.said.concat(), "hello therehello therequestionI have a question.");
}

#[test]
fn a_second_response_is_reported_on_stderr() {
    let mut client = Client::in_session(true);
    client.prompt("p", "question");
    let (id, _) = client.question();
    client.answer(id, &chosen("option-a"));
    client.answer(id, &chosen("option-b"));
    client.response("p");
    client
        .process
        .expect_stderr("the complaint", |text| text.contains("a response to no open request, with the id 0"));
}

#[test]
fn wire_shows_every_line_on_stderr() {
    let mut client = Client::start(&["--wire"]);
    client.process.send(r#"{"jsonrpc":"2.0","id":"i","method":"session/list"}"#);
    let read = r#"agent < {"jsonrpc":"2.0","id":"i","method":"session/list"}"#;
    let written = r#"agent > {"jsonrpc":"2.0","id":"i","result":{"sessions":[]}}"#;
    client.process.expect_stderr("both lines", |text| text.lines().take(2).eq([read, written]));
}

#[test]
fn a_script_uses_the_ids_of_the_client() {
    let script = tempfile::NamedTempFile::new().unwrap();
    let text = "# a question\nagent< {\"method\":\"session/prompt\"}\nagent> {\"id\":7,\"session\":\"$session\"}\n\
                client< {\"id\":7}\nagent< {\"id\":7,\"result\":{}}\nagent> {\"id\":$id,\"result\":1.0}\n\
                agent! exit 4\n";
    fs::write(script.path(), text).unwrap();
    let mut client = Client::start(&["--script", script.path().to_str().unwrap()]);
    client.process.send(r#"{"id":1.5,"method":"session/prompt","params":{"sessionId":"s-1"}}"#);
    assert_eq!(client.process.next_line().unwrap(), b"{\"id\":7,\"session\":\"s-1\"}\n");
    client.process.send(r#"{"id":7,"result":{"status":"rejected"}}"#);
    assert_eq!(client.process.next_line().unwrap(), b"{\"id\":1.5,\"result\":1.0}\n");
    assert_eq!(client.process.wait().code(), Some(4));
}

#[test]
fn a_mismatch_with_the_script_and_a_missing_script_are_errors() {
    let script = tempfile::NamedTempFile::new().unwrap();
    fs::write(script.path(), "\nagent< {\"method\":\"initialize\"}\n").unwrap();
    let path = script.path().to_str().unwrap();
    for (line, complaint) in [
        (Some("\x1b[31m"), ":2: awaited {\"method\":\"initialize\"}, but got ␛[31m\n"),
        (None, ":2: awaited {\"method\":\"initialize\"}, but stdin ended\n"),
    ] {
        let mut client = Client::start(&["--script", path]);
        line.into_iter().for_each(|line| client.process.send(line));
        client.process.close_stdin();
        assert_eq!(client.process.wait().code(), Some(1));
        client.process.expect_stderr(complaint, |text| text.ends_with(complaint) && text.contains(path));
    }
    let mut client = Client::start(&["--script", "/nowhere/script.txt"]);
    assert_eq!(client.process.wait().code(), Some(2));
    client
        .process
        .expect_stderr("the path", |text| text.contains("cannot read the script /nowhere/script.txt"));
}

#[test]
fn a_session_is_forked_with_what_was_said_and_chosen() {
    let mut client = Client::in_session(true);
    client.prompt("p", "hello there");
    client.response("p");
    let mode = json!({ "sessionId": "session-1", "modeId": "code" });
    assert_eq!(client.call("mode", "session/set_mode", &mode)["result"], json!({}));
    let option = json!({ "sessionId": "session-1", "configId": "tone", "value": "kind" });
    let options = client.call("option", "session/set_config_option", &option)["result"].clone();
    let fork = json!({ "sessionId": "session-1", "cwd": "/src/project", "mcpServers": [] });
    let forked = client.call("fork", "session/fork", &fork)["result"].clone();
    assert_eq!(
        (&forked["sessionId"], &forked["modes"]["currentModeId"]),
        (&json!("session-2"), &json!("code"))
    );
    assert_eq!(forked["configOptions"], options["configOptions"]);
    let load = json!({ "sessionId": "session-2", "cwd": "/src/project", "mcpServers": [] });
    client.call("load", "session/load", &load);
    assert_eq!(client.said.concat(), "hello therehello therehello there");
}
