//! Questions of the mock agent, answered by the client: I4 through the real program, and the first row of the
//! settling table.

use std::fs;

use serde_json::{Value, json};

use crate::bridge::client::{Client, QUESTION, chosen, rejected};
use crate::bridge::program::{ASKBRIDGE, bridge, native_bridge, sh};

#[test]
fn answers_in_every_shape_reach_the_agent_as_the_one_that_it_knows() {
    let mut client = Client::new();
    for (given, said) in [
        (json!({ "status": "answered", "answers": [["option-a"]] }), "You chose: option-a"),
        (json!({ "status": "answered", "answers": [["Option B"]] }), "You chose: option-b"),
        (rejected("user"), "The question was rejected: user"),
        (
            json!({ "outcome": "answered", "_meta": { "sandboxagent.dev": { "answers": [["option-a"]] } } }),
            "You chose: option-a",
        ),
        (
            json!({ "outcome": "selected", "_meta": { "sandboxagent.dev": { "answers": [["Option A"]] } } }),
            "You chose: option-a",
        ),
        (json!({ "answers": { "Choose one option": "Option B" } }), "You chose: option-b"),
        (json!({ "answers": { "0": { "mode": "option", "value": "Option A" } } }), "You chose: option-a"),
        (json!({ "questionId": "q", "values": ["option-b"] }), "You chose: option-b"),
    ] {
        let id = client.ask("a question");
        client.answer(id, given.clone());
        let (_, told) = client.end_of("turn");
        assert_eq!(told, format!("I have a question.{said}"), "{given}");
    }
}

#[test]
fn several_fields_and_several_choices_are_answered_at_once() {
    let mut client = Client::new();
    for (prompt, answers, said) in [
        ("many question", json!([["Auth", "Billing"]]), "You chose: Auth, Billing"),
        ("free question", json!([["a/b"]]), "You wrote: a/b"),
        (
            "fields question",
            json!([["SQLite"], ["Auth", "Search"], ["none"]]),
            "You answered: Database: SQLite; Features: Auth, Search; Notes: none",
        ),
    ] {
        let id = client.ask(prompt);
        client.answer(id, json!({ "status": "answered", "answers": answers }));
        assert_eq!(client.end_of("turn").1, format!("I have a question.{said}"));
    }
    let id = client.ask("fields question");
    let by_text = json!({ "answers": {
        "Which database should we use?": "Postgres",
        "Which features do you want?": "Auth, Billing",
        "Anything else?": "no",
    } });
    client.answer(id, by_text);
    let said = "You answered: Database: Postgres; Features: Auth, Billing; Notes: no";
    assert_eq!(client.end_of("turn").1, format!("I have a question.{said}"));
}

#[test]
fn an_error_or_a_result_of_no_meaning_is_no_answer() {
    let mut client = Client::new();
    let error = |code: i32| ("error", json!({ "code": code, "message": "oops" }));
    let results = [json!({ "colour": "red" }), json!(null), json!(true)].map(|result| ("result", result));
    for (member, value) in [error(-32603), error(-32800), error(7)].into_iter().chain(results) {
        let id = client.ask("a question");
        let mut response = json!({ "jsonrpc": "2.0", "id": id });
        response[member] = value;
        client.send(&response);
        // The client is asked in the next way, under another ID.
        let prompt = client.next("a prompt", |message| message["method"] == "session/request_permission");
        let option = &prompt["params"]["options"][1]["optionId"];
        let outcome = json!({ "outcome": { "outcome": "selected", "optionId": option } });
        client.send(&json!({ "jsonrpc": "2.0", "id": prompt["id"], "result": outcome }));
        assert_eq!(client.end_of("turn").1, "I have a question.You chose: option-a", "{response}");
    }
}

#[test]
fn a_second_answer_is_dropped() {
    // I4: exactly one. Dropped means that the mock does not complain of an answer that it does not wait for.
    let mut client = Client::new();
    let id = client.ask("a question");
    client.answer(id, chosen("option-a"));
    client.answer(id, chosen("option-b"));
    client.send(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": 1, "message": "late" } }));
    // A response to no request goes through. It comes last: complaints about the others would precede its own.
    client.answer(4711, chosen("option-b"));
    let stderr = client.process.expect_stderr("the complaint", |text| text.contains("with the id 4711"));
    assert_eq!(stderr.matches("to no open request").count(), 1, "{stderr}");
    assert_eq!(client.end_of("turn").1, "I have a question.You chose: option-a");
}

#[test]
fn a_question_that_outlives_its_turn_is_answered() {
    let mut client = Client::new();
    client.prompt("turn", "ask a question later");
    assert_eq!(client.end_of("turn").0, "end_turn");
    let (id, _) = client.question();
    client.answer(id, chosen("option-a"));
    client.hears("You chose: option-a");
}

#[test]
fn ids_of_every_spelling_are_answered_with_it() {
    // A number and a string are two IDs, and every ID keeps its spelling. The agent is a script, so that each line is
    // known to the byte.
    let ids =
        ["0", "-1", "1", "2.0", r#""1""#, r#""\u0032""#, "18446744073709551616", "1e400", "null", "1.50"];
    let mut script = String::new();
    for id in ids {
        script += &format!(
            "agent> {{\"id\":{id},\"method\":\"_sandboxagent\\/session\\/request_question\",\
             \"params\":{{\"sessionId\":\"s\",\"prompt\":\"?\",\"options\":[\"A\"]}}}}\n"
        );
    }
    for id in ids {
        script += &format!(
            "agent< {{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"status\":\"answered\",\"answers\":[[\"A\"]]}}}}\n"
        );
    }
    script += "agent! exit 3\n";
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), script).unwrap();
    let agent = [ASKBRIDGE, "mock-agent", "--script", file.path().to_str().unwrap()];
    let mut client = Client::start(&mut native_bridge(&agent));
    for id in ids {
        let question = client.process.expect("a question", |line| line.contains("request_question"));
        assert!(question.starts_with(&format!("{{\"id\":{id},")), "{question}");
    }
    for id in ids {
        client.process.send(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"result":{{"status":"answered","answers":[["A"]]}}}}"#
        ));
    }
    assert_eq!(client.rest(), (vec![], Some(3)), "1 says that the script was not followed");
}

#[test]
fn a_question_that_cannot_be_read_or_is_too_large_is_an_error_to_the_agent() {
    // I4: the client never sees it, the agent gets exactly one response.
    let long = "x".repeat(300 * 1024);
    let params = |prompt: &str| format!(r#"{{"sessionId":"s","prompt":"{prompt}","options":["A"]}}"#);
    for params in ["[]", "{}", "7", &params(&long)] {
        let question = format!(r#"{{"jsonrpc":"2.0","id":5,"method":"{QUESTION}","params":{params}}}"#);
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), question + "\n").unwrap();
        let path = file.path().to_str().unwrap();
        // What it hears goes to stderr, and is what ends it.
        let agent = [&sh("cat \"$0\"; read -r line; echo \"$line\" >&2; exit 4")[..], &[path]].concat();
        let mut client = Client::start(&mut bridge(&agent));
        assert_eq!(client.message(), None, "the client sees nothing of it");
        assert_eq!(client.process.wait().code(), Some(4));
        let heard = client.process.expect_stderr("the error", |text| text.contains('\n'));
        let heard: Value = serde_json::from_str(heard.lines().next().unwrap()).unwrap();
        assert_eq!((&heard["id"], &heard["error"]["code"]), (&json!(5), &json!(-32602)));
    }
}

#[test]
fn a_question_is_forwarded_as_it_was_asked() {
    // I1: what the agent said is what the client gets, made-up ids stay inside.
    let question = r#"{ "method":"_sandboxagent/session/request_question" , "id":1.0, "params":{"options":["A"],"prompt":"\u003f","sessionId":"s"}, "x":1e400}"#;
    let agent = format!("printf '%s\\n' '{question}'; read -r line; exit 2");
    let mut client = Client::start(&mut native_bridge(&sh(&agent)));
    assert_eq!(client.process.next_line(), Some(format!("{question}\n").into_bytes()));
    client.process.send(r#"{"id":1.0,"result":{"status":"answered","answers":[["A"]]}}"#);
    assert_eq!(client.rest(), (vec![], Some(2)));
}

#[test]
fn initialize_promises_the_extension_both_ways() {
    // The one ordinary method that is rewritten, and only by those members.
    let asked = r#"{"method":"initialize", "id":0, "params":{"x":1.0,"clientCapabilities":{}}}"#;
    let told = r#"{"id":0, "result":{"agentCapabilities":{"z":1e400}}}"#;
    let script = format!("read -r line; echo \"$line\" >&2; printf '%s\\n' '{told}'");
    let mut client = Client::start(&mut bridge(&sh(&script)));
    client.process.send(asked);
    let extension = r#""_meta":{"sandboxagent.dev":{"extensions":{"sessionRequestQuestion":true}}}"#;
    let promises = r#""elicitation":{"form":{}},"_meta":{"sandboxagent.dev":{"extensions":{"sessionRequestQuestion":true}},"kiro":{"userInput":true}}"#;
    let got = String::from_utf8(client.process.next_line().unwrap()).unwrap();
    assert_eq!(got, format!("{}\n", told.replace("1e400", &format!("1e400,{extension}"))));
    let heard = client.process.expect_stderr("the line", |text| text.contains('\n'));
    let promised =
        asked.replace("\"clientCapabilities\":{}", &format!("\"clientCapabilities\":{{{promises}}}"));
    assert_eq!(heard.lines().next(), Some(&*promised));
    assert_eq!(client.end().1, Some(0));
}
