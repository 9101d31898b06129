//! Puts the bridge between an agent and a client in memory. The client shows no questions, so this program answers.
//! Run it with `cargo run --example embed --no-default-features`.
#![expect(clippy::print_stdout, reason = "it shows what happens")]

use std::{collections::BTreeMap, time::Duration};

use askbridge_core::{
    acp::{Bridge, Config, Tier},
    desk::{Notice, Submission, Ticket, TicketedSubmission},
    engine::{Event, Output, Peer},
    question::{Answer, Provenance, Responder, Value},
};

/// A line of the agent that has nothing to do with questions.
const UPDATE: &str = r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{}}}"#;
/// A question of the agent, with two options.
const QUESTION: &str = r#"{"jsonrpc":"2.0","id":1,"method":"_sandboxagent/session/request_question","params":
    {"sessionId":"s","questionId":"q","prompt":"Which one?","options":[["a","Option A"],["b","Option B"]]}}"#;

/// Takes the bytes that the bridge has for a peer. With real connections, they would be written there.
fn take(bridge: &mut Bridge, to: Peer) -> String {
    let bytes: Vec<u8> = bridge.outbox(to).chunks().flat_map(|chunk| chunk.to_vec()).collect();
    bridge.wrote(to, bytes.len());
    bridge.flushed(to);
    String::from_utf8_lossy(&bytes).into_owned()
}

fn main() {
    // The bridge does not read a clock: each call says how much time has passed since the start.
    let now = Duration::from_secs(1);
    // This program shows the questions itself, so the chat needs no hint that they wait.
    let config = Config { tier: Some(Tier::None), chat_hint: false, ..Config::default() };
    let mut bridge = Bridge::new(config);

    // Ordinary lines pass byte for byte, in whatever pieces they arrive.
    let (beginning, end) = UPDATE.split_at(20);
    bridge.receive(Peer::Agent, beginning.as_bytes(), now);
    bridge.receive(Peer::Agent, format!("{end}\n").as_bytes(), now);
    assert_eq!(take(&mut bridge, Peer::Client), format!("{UPDATE}\n"));

    // A question does not reach a client that cannot show it. It stays open.
    bridge.receive(Peer::Agent, format!("{}\n", QUESTION.replace('\n', "")).as_bytes(), now);
    assert_eq!(take(&mut bridge, Peer::Client), "");
    let changes = bridge.take_changes();
    let Some(record) = changes.and_then(|changes| changes.questions.into_iter().next()) else {
        panic!("no question is open")
    };
    println!("the agent asks: {}", record.question.heading());

    // A person answers the only field of the question with one of its options.
    let field = record.question.fields[0].name.clone();
    let values = BTreeMap::from([(field, Value::Text("b".to_owned()))]);
    let submission = Submission::answer(Answer { values, ..Answer::default() }, None);
    let by = Provenance { responder: Responder::CommandLine, name: None };
    let submitted = TicketedSubmission { ticket: Ticket(1), number: record.id.number, submission, by };
    bridge.handle(Event::Submitted(submitted), now);

    // The agent gets its response. Once that is written, the person is told that the answer arrived (I9).
    let response = take(&mut bridge, Peer::Agent);
    print!("the agent gets: {response}");
    assert!(response.contains(r#""answers":[["b"]]"#));
    let mut arrived = false;
    while let Some(output) = bridge.poll() {
        arrived |= output == Output::Notice(Notice::Verdict(Ticket(1), Ok(())));
    }
    assert!(arrived);
    println!("the answer arrived");
}
