//! Whatever an agent and its host say in their own protocol, the agent's lines reach the host as they are, the host's
//! lines reach the agent as they are or not at all, and the bytes do not depend on how they arrive (I1, I2, I3). The
//! first byte says which protocol; then each line is one of the agent (`a`) or of the host (`h`), or what another
//! responder submits (`r`: the number of the question, and the option that it chooses; without one, it rejects).
//!
//! ```sh
//! mkdir -p fuzz/corpus/hosted
//! RUSTC_BOOTSTRAP=1 cargo fuzz run hosted fuzz/corpus/hosted fuzz/seeds/hosted -- -max_total_time=300
//! ```
#![no_main]

use askbridge_core::{
    desk::{Submission, Ticket, TicketedSubmission},
    engine::{Bridge, Config, Event, Peer, Protocol},
    hosted::{ClaudeBridge, CodexBridge},
    question::{Answer, Provenance, Responder, Value},
};
use libfuzzer_sys::fuzz_target;

#[expect(dead_code, reason = "the target uses a part of it")]
#[path = "../../tests/support/stage.rs"]
mod stage;

use stage::{Stage, arrived};

fuzz_target!(|data: &[u8]| {
    let Some((first, moves)) = data.split_first() else { return };
    match first {
        b'1' => same_at_any_chunking(moves, || CodexBridge::new(Config::default())),
        _ => same_at_any_chunking(moves, || ClaudeBridge::new(Config::default())),
    }
});

fn same_at_any_chunking<P: Protocol>(moves: &[u8], bridge: impl Fn() -> Bridge<P>) {
    assert_eq!(
        play(moves, bridge(), usize::MAX),
        play(moves, bridge(), 7),
        "another chunking says other things"
    );
}

/// Plays the moves, and returns what arrived at each peer.
fn play<P: Protocol>(moves: &[u8], bridge: Bridge<P>, piece: usize) -> [Vec<u8>; 2] {
    let mut stage = Stage::new(bridge);
    let mut arrives = [Vec::new(), Vec::new()];
    for step in moves.split(|byte| *byte == b'\n') {
        let Some((kind, rest)) = step.split_first() else { continue };
        let from = match kind {
            b'a' => Peer::Agent,
            b'h' => Peer::Client,
            b'r' => {
                let out = stage.handle(submission(rest));
                Peer::ALL.iter().for_each(|peer| arrives[*peer as usize].extend(arrived(&out, *peer)));
                continue;
            }
            _ => continue,
        };
        let line = [rest, b"\n"].concat();
        let mut passed = [Vec::new(), Vec::new()];
        for bytes in line.chunks(piece.min(line.len())) {
            let out = stage.receive(from, bytes);
            Peer::ALL.iter().for_each(|peer| passed[*peer as usize].extend(arrived(&out, *peer)));
        }
        let onward = &passed[from.other() as usize];
        match from {
            Peer::Agent => assert!(onward.starts_with(&line), "changed: {}", line.escape_ascii()),
            Peer::Client => assert!(onward.is_empty() || *onward == line, "changed: {}", line.escape_ascii()),
        }
        Peer::ALL.iter().for_each(|peer| arrives[*peer as usize].extend(&passed[*peer as usize]));
    }
    arrives
}

fn submission(rest: &[u8]) -> Event {
    let (digit, option) = rest.split_first().unwrap_or((&b'1', b""));
    let option = String::from_utf8_lossy(option).into_owned();
    let submission = match option.is_empty() {
        true => Submission::Reject(None),
        false => {
            let values = [("q0".to_owned(), Value::Text(option))].into();
            Submission::answer(Answer { values, ..Answer::default() }, None)
        }
    };
    let by = Provenance { responder: Responder::CommandLine, name: None };
    let number = u64::from(digit.wrapping_sub(b'0'));
    Event::Submitted(TicketedSubmission { ticket: Ticket(1), number, submission, by })
}
