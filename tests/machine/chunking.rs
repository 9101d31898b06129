//! However the bytes arrive, the same lines leave in the same order, and no line lands inside another (I2).

use std::time::Duration;

use askbridge::limits::{HOLD, STREAM};
use askbridge_core::{
    acp::{Bridge, Config, Tier},
    desk::{Submission, Ticket, TicketedSubmission},
    engine::{Event, Output, Peer},
    question::{Provenance, Responder},
};
use proptest::{prelude::*, test_runner::FileFailurePersistence};
use serde::de::IgnoredAny;

use crate::machine::asks;
use crate::machine::conversation::told;
use crate::support::stage::{Stage, arrived};

/// Lines of one peer that come one after the other.
#[derive(Clone, Debug)]
struct Burst {
    from: Peer,
    lines: Vec<String>,
}

fn ordinary(length: usize) -> String {
    format!(r#"{{"jsonrpc":"2.0","method":"ordinary","params":{{"text":"{}"}}}}"#, "x".repeat(length))
}

fn line(from: Peer) -> BoxedStrategy<String> {
    let id = 0..3u8;
    let session = 0..2u8;
    let length = prop_oneof![8 => 0..40usize, 2 => STREAM - 80..STREAM + 80, 1 => Just(HOLD - 64)];
    let call = |id: u8, method: &str, params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
    };
    match from {
        Peer::Client => prop_oneof![
            3 => length.clone().prop_map(ordinary),
            3 => (id.clone(), 0..24usize).prop_map(|(id, how)| {
                let request = serde_json::json!({ "method": "_sandboxagent/session/request_question" });
                format!(r#"{{"jsonrpc":"2.0","id":{id},{}}}"#, asks::answer(&request, how))
            }),
            2 => (id, session.clone(), length.clone()).prop_map(move |(id, session, length)| {
                let text = "x".repeat(length);
                call(id, "session/prompt", &format!(r#"{{"sessionId":"{session}","prompt":["{text}"]}}"#))
            }),
            1 => session.prop_map(|session| {
                format!(r#"{{"jsonrpc":"2.0","method":"session/cancel","params":{{"sessionId":"{session}"}}}}"#)
            }),
        ]
        .boxed(),
        Peer::Agent => prop_oneof![
            3 => length.prop_map(ordinary),
            4 => (id.clone(), session, 0..asks::COUNT).prop_map(move |(id, session, how)| {
                let (method, params) = asks::ask(how, session, 0);
                call(id, method, &params.to_string())
            }),
            2 => id.clone().prop_map(|id| {
                format!(r#"{{"jsonrpc":"2.0","method":"$/cancel_request","params":{{"requestId":{id}}}}}"#)
            }),
            2 => id.prop_map(|id| format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)),
        ]
        .boxed(),
    }
}

fn burst() -> impl Strategy<Value = Burst> {
    let lines = |from| prop::collection::vec(line(from), 1..6).prop_map(move |lines| Burst { from, lines });
    prop_oneof![lines(Peer::Client), lines(Peer::Agent)]
}

/// What arrives at each peer, and what the shell is told. How these are interleaved depends on when the shell polls.
fn played(bursts: &[Burst], piece: usize) -> ([Vec<u8>; 2], Vec<Output>) {
    let mut stage = Stage::new(Bridge::new(Config { tier: Some(Tier::Extension), ..Config::default() }));
    let mut out = Vec::new();
    for burst in bursts {
        let bytes = format!("{}\n", burst.lines.join("\n"));
        for bytes in bytes.as_bytes().chunks(piece.max(bytes.len() / 400)) {
            out.extend(stage.receive(burst.from, bytes));
        }
    }
    (Peer::ALL.map(|peer| arrived(&out, peer)), told(&out))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 100,
        ..ProptestConfig::with_failure_persistence(FileFailurePersistence::WithSource("seeds"))
    })]

    #[test]
    fn any_chunking_gives_the_same_bytes_and_outputs(
        bursts in prop::collection::vec(burst(), 1..8), piece in 1..6000usize,
    ) {
        let at_once = played(&bursts, usize::MAX);
        prop_assert!(played(&bursts, piece) == at_once, "in pieces of {piece}");
    }

    #[test]
    fn own_lines_never_land_inside_another_line(
        parts in prop::collection::vec((any::<bool>(), 1..3000usize, 0..4u8), 1..60),
    ) {
        let mut stage = Stage::new(Bridge::new(Config::default()));
        // Long lines of both peers go through in parts, while questions open and are settled.
        let mut rest = [Vec::new(), Vec::new()];
        let mut got = [Vec::new(), Vec::new()];
        let mut number = 0;
        for (from_client, length, what) in parts {
            let from = if from_client { Peer::Client } else { Peer::Agent };
            let mut out = Vec::new();
            let left = &mut rest[from as usize];
            if left.is_empty() {
                *left = format!("{}\n", ordinary(2 * STREAM)).into_bytes();
                if from == Peer::Agent {
                    number += 1;
                    let (method, params) = asks::ask(0, 0, 0);
                    let ask = format!(r#"{{"id":{number},"method":"{method}","params":{params}}}"#);
                    out.extend(stage.line(from, &ask));
                }
            }
            let part: Vec<u8> = left.drain(..length.min(left.len())).collect();
            out.extend(stage.receive(from, &part));
            if what == 0 && number > 0 {
                let by = Provenance { responder: Responder::CommandLine, name: None };
                let submission = Submission::Reject(None);
                out.extend(stage.handle(Event::Submitted(TicketedSubmission { ticket: Ticket(1), number, submission, by })));
            }
            for peer in Peer::ALL {
                got[peer as usize].extend(arrived(&out, peer));
            }
        }
        for peer in Peer::ALL {
            let out = stage.receive(peer, &std::mem::take(&mut rest[peer as usize]));
            for to in Peer::ALL {
                got[to as usize].extend(arrived(&out, to));
            }
        }
        for got in got {
            for line in got.split_inclusive(|byte| *byte == b'\n') {
                prop_assert!(serde_json::from_slice::<IgnoredAny>(line).is_ok(), "{}", line.escape_ascii());
            }
        }
    }
}

const REQUEST: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"session/request_permission","params":{"sessionId":"s","#,
    r#""toolCall":{"toolCallId":"c","title":"Run"},"options":[{"optionId":"a","name":"A","kind":"allow_once"}]}}"#,
    "\n"
);

#[test]
fn bytes_that_pass_unchanged_are_counted_unless_others_come_between() {
    let received = |from: Peer, text: &str| {
        let mut bridge = Bridge::new(Config { advertise: true, ..Config::default() });
        bridge.space(from).extend_from_slice(text.as_bytes());
        bridge.received(from, Duration::ZERO)
    };
    let ordinary = "{\"method\":\"x\"}\n";
    for text in [ordinary, &ordinary[..5], &ordinary.repeat(2), REQUEST, &[ordinary, REQUEST].concat()] {
        // The beginning of a short line is not forwarded yet.
        let passed = if text.ends_with('\n') { text.len() } else { 0 };
        assert_eq!(received(Peer::Agent, text), Some(passed), "{text}");
    }
    let initialize =
        "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"clientCapabilities\":{}}}\n";
    assert_eq!(received(Peer::Client, initialize), None);
}

/// A prompt of this many bytes.
fn prompt(id: u8, length: usize) -> String {
    let begins = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"session/prompt\",\"params\":{{\"sessionId\":\"s\",\"prompt\":[\""
    );
    let ends = "\"]}}\n";
    format!("{begins}{}{ends}", "x".repeat(length - begins.len() - ends.len()))
}

#[test]
fn a_long_prompt_goes_on_before_its_end_is_there_and_begins_its_turn() {
    for length in [STREAM + 1, HOLD, HOLD + 1, 2 * HOLD] {
        for piece in [STREAM, 5000, usize::MAX] {
            let mut stage = Stage::new(Bridge::new(Config::default()));
            let prompt = prompt(1, length);
            let (first, rest) = prompt.split_at(piece.min(length));
            assert_eq!(
                arrived(&stage.receive(Peer::Client, first.as_bytes()), Peer::Agent),
                first.as_bytes()
            );
            assert_eq!(arrived(&stage.receive(Peer::Client, rest.as_bytes()), Peer::Agent), rest.as_bytes());
            // A permission in a turn is ended by the end of that turn.
            stage.receive(Peer::Agent, REQUEST.replace("\"id\":1", "\"id\":2").as_bytes());
            assert_eq!(stage.bridge.open_questions(), 1);
            let ended = "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"stopReason\":\"end_turn\"}}\n";
            stage.receive(Peer::Agent, ended.as_bytes());
            assert_eq!(stage.bridge.open_questions(), 0, "{length} in pieces of {piece}");
        }
    }
}

#[test]
fn a_prompt_is_read_as_a_whole_while_a_question_is_open_or_its_beginning_does_not_say_all() {
    let held = |stage: &mut Stage, prompt: &str| {
        let (first, rest) = prompt.split_at(2 * STREAM);
        assert_eq!(arrived(&stage.receive(Peer::Client, first.as_bytes()), Peer::Agent), b"");
        assert_eq!(arrived(&stage.receive(Peer::Client, rest.as_bytes()), Peer::Agent), prompt.as_bytes());
    };
    let long = prompt(1, 3 * STREAM);
    let mut stage = Stage::new(Bridge::new(Config::default()));
    held(&mut stage, &long.replace("\"id\":1,", "").replace("]}}", "]},\"id\":1}"));
    held(&mut stage, &long.replace("\"sessionId\":\"s\",", "").replace("]}}", "],\"sessionId\":\"s\"}}"));
    stage.receive(Peer::Agent, REQUEST.as_bytes());
    assert_eq!(stage.bridge.open_questions(), 1);
    held(&mut stage, &long);
}

#[test]
fn two_requests_of_one_read_are_read_in_their_order() {
    let both = [REQUEST, &REQUEST.replace("\"id\":1", "\"id\":2")].concat();
    let mut stage = Stage::new(Bridge::new(Config::default()));
    let out = stage.receive(Peer::Agent, both.as_bytes());
    assert_eq!(arrived(&out, Peer::Client), both.as_bytes());
    assert_eq!(stage.bridge.open_questions(), 2);
}
