//! A permission, and the client's response to it, are in the outbox before they are read, and are read before anything
//! else happens.

use std::time::Duration;

use askbridge::{
    acp::{Bridge, Config, Event, Peer},
    question::{Outcome, Reason},
};

use crate::stage::{Stage, arrived};

const REQUEST: &[u8] = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"sessionId":"s","#,
    r#""toolCall":{"toolCallId":"c","title":"Run"},"options":[{"optionId":"a","name":"A","kind":"allow_once"}]}}"#,
    "\n"
)
.as_bytes();
const RESPONSE: &[u8] =
    b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"outcome\":{\"outcome\":\"selected\",\"optionId\":\"a\"}}}\n";

/// Reads bytes of a peer as a shell does, and takes what is for the other one. Nothing is polled.
fn pass(bridge: &mut Bridge, from: Peer, bytes: &[u8]) {
    bridge.space(from).extend_from_slice(bytes);
    bridge.received(from, Duration::ZERO);
    let to = from.other();
    let queued: Vec<u8> = bridge.outbox(to).chunks().flatten().copied().collect();
    assert_eq!(queued, bytes, "it goes on");
    bridge.wrote(to, queued.len());
    bridge.flushed(to);
}

/// Polls what comes out, and returns how the question is settled for those that follow it.
fn settled(bridge: &mut Bridge) -> Option<Outcome> {
    while bridge.poll().is_some() {}
    let [record] = &bridge.take_changes()?.questions[..] else { return None };
    record.settlement.as_ref().map(|settlement| settlement.outcome.clone())
}

#[test]
fn permission_and_its_response_go_on_before_they_are_read() {
    let mut bridge = Bridge::new(Config::default());
    pass(&mut bridge, Peer::Agent, REQUEST);
    assert_eq!(bridge.open_questions(), 0, "it is not read yet");
    assert_eq!(settled(&mut bridge), None);
    assert_eq!(bridge.open_questions(), 1);
    pass(&mut bridge, Peer::Client, RESPONSE);
    assert_eq!(bridge.open_questions(), 1, "it is not read yet");
    // The agent has it: the shell does not say so again.
    assert!(matches!(settled(&mut bridge), Some(Outcome::Answered(_))));
}

#[test]
fn what_comes_next_finds_it_read() {
    let reads_next: [fn(&mut Bridge); 5] = [
        |bridge| bridge.receive(Peer::Client, b"{}\n", Duration::ZERO),
        |bridge| bridge.receive(Peer::Agent, b"{}\n", Duration::ZERO),
        |bridge| bridge.handle(Event::Tick, Duration::ZERO),
        |bridge| bridge.ended(Peer::Agent, Duration::ZERO),
        |bridge| assert!(bridge.poll().is_some() && bridge.poll().is_some() && bridge.poll().is_some()),
    ];
    for next in reads_next {
        let mut bridge = Bridge::new(Config::default());
        pass(&mut bridge, Peer::Agent, REQUEST);
        next(&mut bridge);
        assert_eq!(bridge.open_questions(), 1);
    }
}

#[test]
fn two_lines_of_one_read_are_read_in_their_order() {
    let second = String::from_utf8_lossy(REQUEST).replace("\"id\":1", "\"id\":2");
    let mut stage = Stage::new(Bridge::new(Config::default()));
    let out = stage.receive(Peer::Agent, &[REQUEST, second.as_bytes()].concat());
    assert_eq!(arrived(&out, Peer::Client), [REQUEST, second.as_bytes()].concat());
    assert_eq!(stage.bridge.open_questions(), 2);
}

#[test]
fn response_to_an_agent_that_reads_no_more_is_undeliverable() {
    let mut bridge = Bridge::new(Config::default());
    pass(&mut bridge, Peer::Agent, REQUEST);
    assert_eq!(settled(&mut bridge), None);
    bridge.space(Peer::Client).extend_from_slice(RESPONSE);
    bridge.received(Peer::Client, Duration::ZERO);
    bridge.broke(Peer::Agent, Duration::ZERO);
    assert_eq!(settled(&mut bridge), Some(Outcome::Rejected(Reason::AgentGone)));
}
