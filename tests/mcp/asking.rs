//! What an agent asks, and what it gets.

use std::fs;

use askbridge_os::exit;
use serde_json::json;

use crate::answers::machine::{ASKBRIDGE, TestMachine};
use crate::mcp::client::{McpClient, question, which};

#[test]
fn question_is_listed_and_its_answer_is_the_result() {
    let machine = TestMachine::new();
    let mut client = McpClient::start(&machine, &[]);
    let call = client.call("ask_user_question", &which());
    let id = machine.question();
    let shown = machine.ok(&["show", &id]);
    for part in ["Which database?", "SQLite", "What Postgres is", "Test Agent"] {
        assert!(shown.contains(part), "{part} is missing: {shown}");
    }
    assert!(machine.ok(&["status"]).contains("Test Agent"));
    assert_eq!(machine.does(&["answer", &id, "2"]), format!("{id} answered"));
    let (text, structured) = client.result(call);
    assert_eq!(text, "The person answered.\n1. Which database?\n   Answer: Postgres");
    assert_eq!(structured["answers"][0]["selected"], json!(["Postgres"]));
}

#[test]
fn several_questions_take_options_own_words_and_notes() {
    let machine = TestMachine::new();
    let mut client = McpClient::start(&machine, &[]);
    let questions = [
        question("Which parts?", "Parts", &["Auth", "Search"], true),
        question("Which region?", "Region", &["EU", "US"], false),
        question("Who pays?", "Billing", &["We", "They"], false),
    ];
    let call = client.call("ask_user_question", &json!({ "questions": questions }));
    let id = machine.question();
    machine.ok(&[
        "answer",
        &id,
        "--field",
        "q0=Auth",
        "--field",
        "q0=Search",
        "--text",
        "q1=On the moon",
        "--note",
        "q1=soon",
    ]);
    let (text, structured) = client.result(call);
    assert_eq!(
        text,
        "The person answered 2 of 3 questions, and left the rest unanswered. This is not consent: do not assume an \
         answer.\n1. Which parts?\n   Answers: Auth; Search\n2. Which region?\n   In their own words: On the moon\n   \
         Note: soon\n3. Who pays?\n   Not answered"
    );
    assert_eq!(structured["answers"][2]["answered"], false);
}

#[test]
fn rejection_has_the_reason_of_the_person() {
    let machine = TestMachine::new();
    let mut client = McpClient::start(&machine, &[]);
    let call = client.call("ask_user_question", &which());
    machine.ok(&["reject", &machine.question(), "--reason", "not on a Friday"]);
    let (text, structured) = client.result(call);
    assert!(text.starts_with("The person rejected the question"), "{text}");
    assert!(text.ends_with("The person said: not on a Friday"), "{text}");
    assert_eq!(
        (&structured["status"], &structured["remark"]),
        (&json!("rejected"), &json!("not on a Friday"))
    );
}

#[test]
fn ticket_leads_to_the_answer_later_and_again() {
    let machine = TestMachine::new();
    let mut client = McpClient::start(&machine, &["--wait", "50ms"]);
    let call = client.call("ask_user_question", &which());
    let (text, structured) = client.result(call);
    let id = machine.question();
    assert_eq!((&structured["status"], &structured["ticket"]), (&json!("waiting"), &json!(id)));
    assert!(text.contains("Call wait_for_answer"), "{text}");
    let ticket = json!({ "ticket": id });
    let call = client.call("wait_for_answer", &ticket);
    assert_eq!(client.result(call).1, structured, "the same ticket comes again");
    machine.ok(&["answer", &id, "SQLite"]);
    for _ in 0..2 {
        let call = client.call("wait_for_answer", &ticket);
        assert!(client.result(call).0.ends_with("Answer: SQLite"));
    }
}

#[test]
fn progress_comes_where_a_token_came() {
    let machine = TestMachine::new();
    let mut client = McpClient::start(&machine, &[]);
    let params =
        json!({ "name": "ask_user_question", "arguments": which(), "_meta": { "progressToken": "token" } });
    let call = client.request("tools/call", &params);
    let id = machine.question();
    let line = client.process.expect("progress", |line| line.contains("notifications/progress"));
    assert!(line.contains(r#""progressToken":"token""#) && line.contains(&id), "{line}");
    machine.ok(&["answer", &id, "SQLite"]);
    assert_eq!(client.result(call).1["status"], "answered");
}

#[test]
fn questions_of_several_calls_have_their_own_answers() {
    let machine = TestMachine::new();
    let mut client = McpClient::start(&machine, &[]);
    let calls: Vec<_> = (1..=3)
        .map(|number| {
            let text = format!("Question {number}?");
            let call = client.call(
                "ask_user_question",
                &json!({ "questions": [question(&text, "H", &["A", "B"], false)] }),
            );
            (call, text)
        })
        .collect();
    for question in machine.questions(3).into_iter().rev() {
        let id = question["id"].as_str().unwrap();
        let label = question["question"]["fields"][0]["label"].as_str().unwrap();
        machine.ok(&["answer", id, "--text", &format!("for {label}")]);
        let (call, _) = calls.iter().find(|(_, text)| text == label).unwrap_or_else(|| panic!("{question}"));
        assert!(client.result(*call).0.ends_with(&format!("In their own words: for {label}")));
    }
}

#[test]
fn client_of_the_next_protocol_needs_no_initialize() {
    let machine = TestMachine::new();
    let mut client = McpClient::silent(&machine, &[]);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "next-agent", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let discover = client.request("server/discover", &json!({ "_meta": meta }));
    let reply = client.reply(discover);
    assert!(reply["result"]["supportedVersions"].to_string().contains("2026-07-28"), "{reply}");
    let params = json!({ "name": "ask_user_question", "arguments": which(), "_meta": meta });
    let call = client.request("tools/call", &params);
    let id = machine.question();
    assert!(machine.ok(&["show", &id]).contains("next-agent"));
    machine.ok(&["answer", &id, "SQLite"]);
    let reply = client.reply(call);
    assert_eq!(reply["result"]["resultType"], "complete", "{reply}");
    assert_eq!(reply["result"]["structuredContent"]["status"], "answered", "{reply}");
}

#[test]
fn bad_input_opens_nothing_and_says_how_to_call() {
    let machine = TestMachine::new();
    let mut client = McpClient::start(&machine, &[]);
    for arguments in [json!({}), json!({ "questions": [] }), json!("Which database?")] {
        let call = client.call("ask_user_question", &arguments);
        let reply = client.reply(call);
        assert_eq!(reply["result"]["isError"], true, "{reply}");
        assert!(reply["result"]["content"][0]["text"].as_str().unwrap().contains("like this:"), "{reply}");
    }
    assert_eq!(machine.names(), [""; 0], "an inbox was opened for nothing");
}

#[test]
fn hostile_text_reaches_no_terminal_raw() {
    let machine = TestMachine::new();
    let mut client = McpClient::start(&machine, &[]);
    let evil = "\u{1b}]0;owned\u{7}\u{202e}Which?\r\n[31m";
    let call = client
        .call("ask_user_question", &json!({ "questions": [question(evil, evil, &[evil, "B"], false)] }));
    let id = machine.question();
    for command in [&["show", &id][..], &["list"], &["status"]] {
        let shown = machine.ok(command);
        assert!(!shown.contains(['\u{1b}', '\u{7}', '\u{202e}', '\r']), "{command:?}: {shown:?}");
    }
    let said = machine.ok(&["answer", &id, "1"]);
    assert!(!said.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{said:?}");
    let (text, structured) = client.result(call);
    assert!(text.contains("Answer: "), "{text:?}");
    assert_eq!(structured["answers"][0]["selected"], json!([evil.trim()]));
}

#[test]
#[cfg(target_os = "linux")]
fn agent_cannot_answer_itself() {
    let machine = TestMachine::new();
    let commands = machine.path().join("commands");
    let mut client = McpClient::of_agent(&machine, &commands);
    let call = client.call("ask_user_question", &which());
    let id = machine.question();
    fs::write(&commands, format!("{ASKBRIDGE} answer {id} SQLite\n")).unwrap();
    let said = client.process.expect("the exit code", |line| line.starts_with("{\"code\""));
    assert_eq!(said, format!("{{\"code\":{}}}", exit::OWN_AGENT));
    assert_eq!(machine.question(), id, "the question is open");
    machine.ok(&["answer", &id, "Postgres"]);
    assert!(client.result(call).0.ends_with("Answer: Postgres"));
}

#[test]
fn started_by_hand_at_a_terminal_it_says_what_it_is_for() {
    let machine = TestMachine::new();
    let help = machine.ok(&["mcp", "--help"]);
    assert!(help.contains("claude mcp add") && help.contains("--wait"), "{help}");
    assert_eq!(machine.run(&["mcp", "--wait", "0s"]).code, i32::from(exit::USAGE));
}
