//! A prompt, a permission, the client's response to it, and the end of the turn are in the outbox before they are read, and
//! are read before anything happens that they may matter to.

use std::time::Duration;

use askbridge::{
    acp::{Bridge, Config, Event, Output, Peer},
    desk::{Submission, Submitted, Ticket},
    limits,
    question::{Outcome, Provenance, Reason, Responder},
};

use crate::stage::{Out, Stage, arrived};

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
    let reads_next: [fn(&mut Bridge); 6] = [
        |bridge| receive(bridge, Peer::Client, r#""method":"session/cancel","params":{"sessionId":"s"}"#),
        // It may be to a request that is unread.
        |bridge| receive(bridge, Peer::Client, r#""id":7,"result":{}"#),
        // It may have the id of one.
        |bridge| receive(bridge, Peer::Agent, r#""id":1,"method":"fs/read_text_file","params":{}"#),
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

/// A peer says this, and it is written.
fn receive(bridge: &mut Bridge, from: Peer, members: &str) {
    pass(bridge, from, format!("{{\"jsonrpc\":\"2.0\",{members}}}\n").as_bytes());
}

#[test]
fn a_whole_turn_goes_on_before_it_is_read() {
    let mut bridge = Bridge::new(Config::default());
    for id in 1..=3 {
        let said = |line: &[u8]| String::from_utf8_lossy(line).replace("\"id\":1", &format!("\"id\":{id}"));
        receive(
            &mut bridge,
            Peer::Client,
            &format!(r#""id":{id},"method":"session/prompt","params":{{"sessionId":"s"}}"#),
        );
        pass(&mut bridge, Peer::Agent, said(REQUEST).as_bytes());
        receive(
            &mut bridge,
            Peer::Agent,
            r#""method":"session/update","params":{"update":{"sessionUpdate":"plan"}}"#,
        );
        pass(&mut bridge, Peer::Client, said(RESPONSE).as_bytes());
        receive(&mut bridge, Peer::Agent, &format!(r#""id":{id},"result":{{"stopReason":"end_turn"}}"#));
    }
    let is_about_bytes = |output| matches!(output, Output::Queued(..) | Output::Intercepted(..));
    while let Some(output) = bridge.poll_ready() {
        assert!(is_about_bytes(output), "nothing is read");
    }
    assert!(bridge.next_deadline() == Some(limits::UNREAD) && !bridge.has_changes());
    bridge.handle(Event::Tick, limits::UNREAD);
    while bridge.poll_ready().is_some() {}
    let settled = bridge.take_changes().expect("they are read").questions;
    assert_eq!(settled.iter().filter(|record| record.settlement.is_some()).count(), 3);
    assert_eq!(bridge.next_deadline(), None);
}

#[test]
fn only_ordinary_lines_go_on_in_one_piece() {
    let received = |bytes: &[u8]| {
        let mut bridge = Bridge::new(Config::default());
        bridge.space(Peer::Agent).extend_from_slice(bytes);
        bridge.received(Peer::Agent, Duration::ZERO)
    };
    let ordinary = b"{\"method\":\"x\"}\n";
    assert!(received(ordinary) && received(&ordinary[..5]) && received(&[&ordinary[..], ordinary].concat()));
    assert!(!received(REQUEST) && !received(&[&ordinary[..], REQUEST].concat()));
}

#[test]
fn only_so_much_is_left_unread() {
    let mut bridge = Bridge::new(Config::default());
    let long = "x".repeat(limits::UNREAD_BYTES);
    let prompt = |text: &str| format!(r#""id":1,"method":"session/prompt","params":{{"text":"{text}"}}"#);
    receive(&mut bridge, Peer::Client, &prompt(&long));
    assert!(bridge.held_bytes() > limits::UNREAD_BYTES, "alone, a line of any length waits");
    for _ in 0..=limits::UNREAD_LINES {
        receive(&mut bridge, Peer::Client, &prompt("x"));
    }
    assert!((1..1000).contains(&bridge.held_bytes()), "the others were read for the last one");
    for _ in 0..limits::UNREAD_LINES {
        receive(&mut bridge, Peer::Client, &prompt(&long[..2000]));
        assert!(bridge.held_bytes() <= limits::UNREAD_BYTES);
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

/// Plays these lines, and returns what arrives at each peer, as it is read at once and late.
fn both_ways(play: impl Fn(&mut Stage) -> Vec<Out>) -> [[Vec<u8>; 2]; 2] {
    [false, true].map(|reads_late| {
        let mut stage = Stage { reads_late, ..Stage::new(Bridge::new(Config::default())) };
        let mut out = play(&mut stage);
        out.extend(stage.pass(limits::UNREAD));
        Peer::ALL.map(|peer| arrived(&out, peer))
    })
}

#[test]
fn a_response_that_is_a_question_as_well_is_read_first() {
    let prompt = r#"{"id":5,"method":"session/prompt","params":{"sessionId":"s"}}"#;
    let both = concat!(
        r#"{"id":5,"result":{},"method":"_sandboxagent/session/request_question","#,
        r#""params":{"sessionId":"s","questions":[{"question":"Which?","options":[{"label":"a"}]}]}}"#
    );
    let [at_once, late] = both_ways(|stage| {
        stage.bridge.receive(Peer::Agent, b"{\"id\":5,\"result\":{}}\n", stage.now);
        let mut out = stage.line(Peer::Client, prompt);
        out.extend(stage.line(Peer::Agent, both));
        out
    });
    assert_eq!(late, at_once);
}

#[test]
fn the_response_to_initialize_is_read_first() {
    let [at_once, late] = both_ways(|stage| {
        let lines = [
            (Peer::Client, r#"{"id":0,"method":"initialize","params":{"protocolVersion":1}}"#),
            (Peer::Client, r#"{"id":5,"method":"session/prompt","params":{"sessionId":"s"}}"#),
            (Peer::Agent, r#"{"id":0,"result":{"protocolVersion":1,"agentCapabilities":{}}}"#),
        ];
        lines.into_iter().flat_map(|(from, line)| stage.line(from, line)).collect()
    });
    assert_eq!(late, at_once);
}

#[test]
fn a_response_to_two_requests_does_not_answer_the_settled_one() {
    let second = String::from_utf8_lossy(REQUEST).replace("\"id\":1", "\"id\":2");
    let response = r#"{"id":1,"result":{"outcome":{"outcome":"selected","optionId":"a"}},"id":2}"#;
    let [at_once, late] = both_ways(|stage| {
        let mut out = stage.receive(Peer::Agent, &[REQUEST, second.as_bytes()].concat());
        let by = Provenance { responder: Responder::CommandLine, name: None };
        let submission = Submission::Reject(None);
        out.extend(stage.handle(Event::Submitted(Submitted {
            ticket: Ticket(1),
            number: 2,
            submission,
            by,
        })));
        out.extend(stage.line(Peer::Client, response));
        out
    });
    let to_agent = &late[Peer::Agent as usize];
    assert!(!to_agent.is_empty() && !to_agent.ends_with(format!("{response}\n").as_bytes()));
    assert_eq!(late, at_once);
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
