//! Responses that cannot be written yet, where a ledger follows them: nothing of them is written before it is noted that their
//! delivery begins.

use std::time::Duration;

use askbridge_core::{
    acp::{Bridge, Config},
    desk::{Notice, Submission, Ticket, TicketedSubmission},
    engine::{Event, Output, Peer},
    question::{Outcome, Provenance, Reason, Responder},
};

const ASKS: &[u8] = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"_sandboxagent/session/request_question","#,
    r#""params":{"sessionId":"s","prompt":"Which?","options":["A","B"]}}"#,
    "\n"
)
.as_bytes();
const LINE: &[u8] = b"{\"jsonrpc\":\"2.0\",\"method\":\"x\"}\n";
const NOW: Duration = Duration::ZERO;

fn bridge(has_ledger: bool) -> Bridge {
    let mut config = Config { tier: Some(askbridge_core::acp::Tier::None), ..Config::default() };
    config.common.has_ledger = has_ledger;
    let mut bridge = Bridge::new(config);
    bridge.receive(Peer::Agent, ASKS, NOW);
    outputs(&mut bridge);
    bridge
}

/// Returns what the bridge tells about its delivery and its end.
fn outputs(bridge: &mut Bridge) -> Vec<String> {
    let mut said = Vec::new();
    while let Some(output) = bridge.poll() {
        match output {
            Output::Waits(id) => said.push(format!("{} waits", id.number)),
            Output::Begins(id) => said.push(format!("{} begins", id.number)),
            Output::Notice(Notice::Verdict(_, verdict)) => said.push(format!("verdict {verdict:?}")),
            _ => {}
        }
    }
    said
}

fn rejects(bridge: &mut Bridge) {
    let by = Provenance { responder: Responder::CommandLine, name: None };
    let submission = Submission::Reject(None);
    bridge.handle(Event::Submitted(TicketedSubmission { ticket: Ticket(1), number: 1, submission, by }), NOW);
}

/// Returns what is to be written to the agent.
fn queued(bridge: &Bridge) -> String {
    let bytes: Vec<u8> = bridge.outbox(Peer::Agent).chunks().flatten().copied().collect();
    String::from_utf8(bytes).expect("text")
}

/// The agent reads all that is queued.
fn read(bridge: &mut Bridge) {
    let count = queued(bridge).len();
    bridge.wrote(Peer::Agent, count);
    bridge.flushed(Peer::Agent);
}

fn outcome(bridge: &mut Bridge) -> Option<Outcome> {
    let changes = bridge.take_changes()?;
    let settlement = changes.questions.first()?.settlement.as_ref()?;
    Some(settlement.outcome.clone())
}

/// Returns the beginning of a response to another request, which goes on before its end has come.
fn half() -> String {
    format!(r#"{{"jsonrpc":"2.0","id":9007,"error":"{}"#, "x".repeat(10_000))
}

const RESPONSE: &str = r#""id":1,"result""#;

#[test]
fn a_response_that_can_be_written_at_once_does_not_wait() {
    for (has_ledger, is_blocked) in [(true, false), (false, true)] {
        let mut bridge = bridge(has_ledger);
        if is_blocked {
            bridge.receive(Peer::Client, LINE, NOW);
        }
        rejects(&mut bridge);
        assert!(queued(&bridge).contains(RESPONSE));
        assert_eq!(outputs(&mut bridge), [""; 0]);
        read(&mut bridge);
        assert_eq!(outputs(&mut bridge), ["verdict Ok(())"]);
    }
}

#[test]
fn a_response_behind_something_else_is_written_once_it_is_noted_that_it_begins() {
    // A whole line that is not written yet, and a long line that goes through and has no end yet.
    let half = half();
    for (before, written) in [(LINE, false), (half.as_bytes(), true)] {
        let mut bridge = bridge(true);
        bridge.receive(Peer::Client, before, NOW);
        if written {
            read(&mut bridge);
        }
        rejects(&mut bridge);
        assert_eq!(outputs(&mut bridge), ["1 waits"]);
        assert!(!queued(&bridge).contains(RESPONSE));
        if written {
            bridge.receive(Peer::Client, b"\"}\n", NOW);
        }
        assert_eq!(outputs(&mut bridge), [""; 0], "something else is still to be written");
        read(&mut bridge);
        assert_eq!(outputs(&mut bridge), ["1 begins"]);
        assert!(!queued(&bridge).contains(RESPONSE), "it is not noted yet");
        read(&mut bridge);
        assert_eq!(outputs(&mut bridge), [""; 0], "it is asked for once");
        bridge.handle(Event::Begins(1), NOW);
        assert!(queued(&bridge).contains(RESPONSE));
        read(&mut bridge);
        assert_eq!(outputs(&mut bridge), ["verdict Ok(())"]);
        assert_eq!(outcome(&mut bridge), Some(Outcome::Rejected(Reason::User)));
    }
}

#[test]
fn what_waits_when_the_agent_reads_no_more_was_not_begun() {
    for is_asked in [false, true] {
        let mut bridge = bridge(true);
        bridge.receive(Peer::Client, LINE, NOW);
        rejects(&mut bridge);
        outputs(&mut bridge);
        if is_asked {
            read(&mut bridge);
            outputs(&mut bridge);
        }
        bridge.broke(Peer::Agent, NOW);
        assert_eq!(outputs(&mut bridge), ["1 waits", "verdict Err(Unavailable)"]);
        assert_eq!(outcome(&mut bridge), Some(Outcome::Rejected(Reason::AgentGone)));
        bridge.handle(Event::Begins(1), NOW);
        assert_eq!(queued(&bridge), "", "it is over");
    }
}

#[test]
fn a_response_to_an_agent_that_read_no_more_before_was_not_begun() {
    let mut bridge = bridge(true);
    bridge.broke(Peer::Agent, NOW);
    rejects(&mut bridge);
    assert_eq!(outputs(&mut bridge), ["1 waits", "verdict Err(Unavailable)"]);
}

#[test]
fn the_agents_stdin_is_closed_behind_what_waits() {
    let half = half();
    for (before, is_read) in [(LINE, false), (half.as_bytes(), true)] {
        let mut bridge = bridge(true);
        bridge.receive(Peer::Client, before, NOW);
        if is_read {
            read(&mut bridge);
        }
        rejects(&mut bridge);
        bridge.ended(Peer::Client, NOW);
        if !is_read {
            read(&mut bridge);
        }
        assert_eq!(outputs(&mut bridge), ["1 waits", "1 begins"]);
        assert!(!bridge.outbox(Peer::Agent).is_ending());
        bridge.handle(Event::Begins(1), NOW);
        assert!(queued(&bridge).contains(RESPONSE) && bridge.outbox(Peer::Agent).is_ending());
    }
}
