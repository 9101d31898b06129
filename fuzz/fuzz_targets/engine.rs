//! Whatever happens, a question that the agent asks, in whatever dialect, gets one response while the agent listens
//! (I4). Each line of the input is one event: a line of a peer (`c`, `a`), one that is too long to hold and begins like
//! this (`C`, `A`), time that passes, the end of a peer, or what another responder submits (`r`: the number of the
//! question, and the option that it chooses; without one, it rejects). A digit in the first place says in which way alone
//! the client is asked. That nothing is allowed by itself (I12) is left to `tests/machine`.
//!
//! ```sh
//! mkdir -p fuzz/corpus/engine
//! RUSTC_BOOTSTRAP=1 cargo fuzz run engine fuzz/corpus/engine fuzz/seeds/engine -- -max_total_time=300
//! ```
#![no_main]

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use askbridge_core::{
    acp::{Bridge, Config, Tier},
    desk::{Notice, Submission, Ticket, TicketedSubmission},
    dialect,
    engine::{Event, Output, Peer},
    question::{Answer, Provenance, Purpose, Responder, Value},
    wire::{
        envelope::{Envelope, Message, peek},
        id::key,
    },
};
use libfuzzer_sys::fuzz_target;
use serde::de::IgnoredAny;

#[path = "../../tests/support/members.rs"]
mod members;
#[expect(dead_code, reason = "the target uses a part of it")]
#[path = "../../tests/support/stage.rs"]
mod stage;

use members::Members;
use stage::{Out, Stage, arrived, long_line};

fuzz_target!(|data: &[u8]| {
    let mut world = World::new(data.first().and_then(|byte| tier(*byte)));
    for line in data.split(|byte| *byte == b'\n') {
        if let Some((kind, rest)) = line.split_first() {
            world.step(*kind, rest);
        }
    }
    world.end();
});

fn tier(byte: u8) -> Option<Tier> {
    match byte {
        b'1' => Some(Tier::Extension),
        b'2' => Some(Tier::Elicitation),
        b'3' => Some(Tier::Permission),
        b'4' => Some(Tier::None),
        _ => None,
    }
}

/// What a line of the agent asks.
#[derive(Clone, PartialEq)]
enum Asks {
    /// A question with this id.
    Question(String),
    /// A permission with this id. Beyond a limit, it goes to the client alone.
    Permission(String),
    /// One with this id that is not right: it is refused, unless the client takes the dialect and may judge better.
    Wrong(String),
    /// Nothing.
    Nothing,
}

/// A line of a peer, with its terminator.
struct Line {
    bytes: Vec<u8>,
    /// Whether it is short enough to be held.
    whole: bool,
}

/// A bridge, and what its agent has been told.
struct World {
    stage: Stage,
    /// How many responses the agent is owed, by the id of its questions.
    owed: BTreeMap<String, usize>,
    /// The ids of the questions that the client has seen.
    shown: BTreeSet<String>,
    /// The ids of permissions.
    permissions: BTreeSet<String>,
    /// Ids that the agent used for something else as well: what a response with one answers is ambiguous.
    shared: BTreeSet<String>,
    open: usize,
    client_speaks: bool,
    agent_speaks: bool,
    agent_listens: bool,
    agent_lives: bool,
    group_lives: bool,
    over: bool,
}

impl World {
    fn new(tier: Option<Tier>) -> Self {
        let mut config = Config { tier, ..Config::default() };
        config.common.timeout = Some(Duration::from_secs(60));
        World {
            stage: Stage::new(Bridge::new(config)),
            owed: BTreeMap::new(),
            shown: BTreeSet::new(),
            permissions: BTreeSet::new(),
            shared: BTreeSet::new(),
            open: 0,
            client_speaks: true,
            agent_speaks: true,
            agent_listens: true,
            agent_lives: true,
            group_lives: true,
            over: false,
        }
    }

    fn step(&mut self, kind: u8, rest: &[u8]) {
        if self.over {
            return;
        }
        match kind {
            b'c' | b'C' if self.client_speaks && self.agent_listens => self.client_line(rest, kind == b'c'),
            b'a' | b'A' if self.agent_speaks => self.agent_line(rest, kind == b'a'),
            b'r' => self.submit(rest),
            b'+' => self.wait(rest.first().map_or(0, |byte| u64::from(*byte))),
            b's' => self.happens(Event::Signal),
            b'e' if self.client_speaks && self.agent_listens => {
                self.client_speaks = false;
                let out = self.stage.end(Peer::Client);
                self.perform(&out);
            }
            b'b' => {
                let out = self.stage.break_off(Peer::Client);
                self.perform(&out);
            }
            b'o' if self.agent_speaks => {
                self.agent_speaks = false;
                let out = self.stage.end(Peer::Agent);
                self.perform(&out);
            }
            b'x' if self.agent_lives => {
                self.group_lives = rest.first() == Some(&b'g');
                (self.agent_lives, self.agent_listens) = (false, false);
                self.happens(Event::AgentExited { group: self.group_lives });
            }
            b'g' if !self.agent_lives && self.group_lives => {
                self.group_lives = false;
                self.happens(Event::GroupEnded);
            }
            _ => {}
        }
    }

    /// The client leaves: questions that wait are settled.
    fn end(&mut self) {
        let judged = self.agent_listens;
        let out = self.stage.break_off(Peer::Client);
        self.perform(&out);
        assert_eq!(self.open, 0, "questions are left open");
        for (id, owed) in &self.owed {
            assert!(
                !judged || *owed == 0 || self.shared.contains(id),
                "{owed} responses to {id} are missing"
            );
        }
    }

    fn wait(&mut self, seconds: u64) {
        let out = self.stage.pass(Duration::from_secs(seconds));
        self.perform(&out);
    }

    fn client_line(&mut self, line: &[u8], whole: bool) {
        let line = of(line, whole);
        let out = self.stage.receive(Peer::Client, &line.bytes);
        check_own(&out, &line);
        self.perform(&out);
    }

    fn agent_line(&mut self, line: &[u8], whole: bool) {
        let line = of(line, whole);
        let asks = asks(&line);
        let out = self.stage.receive(Peer::Agent, &line.bytes);
        check_own(&out, &line);
        let forwards = arrived(&out, Peer::Client).split_inclusive(is_end).any(|sent| sent == line.bytes);
        let opens = out.iter().any(|out| matches!(out, Out::Told(Output::Notice(Notice::Opened(_)))));
        match asks {
            Asks::Question(id) => {
                if self.permissions.contains(&*key(&id)) && self.waits(&id) {
                    self.shared.insert(key(&id).into_owned());
                }
                self.owes(&id);
                if opens && (forwards || shows(&out)) {
                    self.shown.insert(key(&id).into_owned());
                }
            }
            Asks::Permission(id) if opens => {
                assert!(forwards || shows(&out), "the client does not see a permission");
                self.permit(&id);
            }
            // The client alone answers it, as it answers any other request of the agent.
            Asks::Permission(_) => self.share(&line),
            Asks::Wrong(id) if !forwards => {
                assert!(!opens, "{out:?} opens what is no question");
                self.owes(&id);
            }
            Asks::Wrong(_) | Asks::Nothing => {
                assert!(!opens, "{out:?} opens what was not asked");
                self.share(&line);
            }
        }
        self.perform(&out);
    }

    /// Another responder chooses an option, or rejects.
    fn submit(&mut self, rest: &[u8]) {
        let Some((digit, option)) = rest.split_first() else { return };
        let option = String::from_utf8_lossy(option).into_owned();
        let submission = if option.is_empty() {
            Submission::Reject(None)
        } else {
            let values = [("q0".to_owned(), Value::Text(option))].into();
            Submission::answer(Answer { values, ..Answer::default() }, None)
        };
        let by = Provenance { responder: Responder::CommandLine, name: None };
        let number = u64::from(digit.wrapping_sub(b'0'));
        self.happens(Event::Submitted(TicketedSubmission { ticket: Ticket(1), number, submission, by }));
    }

    /// The agent is owed a response to a permission. While its id names two requests, all responses go on as they are.
    fn permit(&mut self, id: &str) {
        if self.waits(id) {
            self.shared.insert(key(id).into_owned());
        }
        self.permissions.insert(key(id).into_owned());
        self.shown.insert(key(id).into_owned());
        self.owes(id);
    }

    fn waits(&self, id: &str) -> bool {
        self.owed.get(&*key(id)).is_some_and(|owed| *owed > 0)
    }

    fn owes(&mut self, id: &str) {
        if self.agent_listens {
            *self.owed.entry(key(id).into_owned()).or_default() += 1;
        }
    }

    /// The agent uses an id for something that is no question.
    fn share(&mut self, line: &Line) {
        match Members::of(String::from_utf8_lossy(without_mark(&line.bytes)).as_bytes()) {
            Some(members) => self.shared.extend(members.all("id").map(|id| key(id).into_owned())),
            None => {
                let id = Message::read_prefix(&line.bytes).and_then(|message| message.id);
                self.shared.extend(id.map(|id| key(id).into_owned()));
            }
        }
    }

    fn happens(&mut self, event: Event) {
        let out = self.stage.handle(event);
        self.perform(&out);
    }

    fn perform(&mut self, out: &[Out]) {
        // What comes behind the end of its stdin, the agent does not hear.
        let ends = out.iter().position(|out| *out == Out::Told(Output::EndAgentInput));
        for line in arrived(&out[..ends.unwrap_or(out.len())], Peer::Agent).split_inclusive(is_end) {
            self.told(line);
        }
        self.agent_listens &= ends.is_none();
        for out in out {
            match out {
                Out::Told(Output::Notice(Notice::Opened(_))) => self.open += 1,
                Out::Told(Output::Notice(Notice::Decided { .. })) => {
                    assert!(self.open > 0, "a question is settled twice");
                    self.open -= 1;
                }
                Out::Told(Output::Finish | Output::Abandon) => self.over = true,
                Out::Told(_) | Out::Bytes(..) => {}
            }
        }
    }

    /// The agent hears a line. If it is a response to a question, it is the only one.
    fn told(&mut self, line: &[u8]) {
        if !self.agent_listens {
            return;
        }
        let Some(id) = answers(line) else { return };
        self.shared.extend(unclear(line));
        if self.shared.contains(&id) {
            return;
        }
        if let Some(owed) = self.owed.get_mut(&id) {
            // A response of the client to a question that it never saw goes on, as all that no peer asked for does.
            assert!(*owed > 0 || !self.shown.contains(&id), "one too many: {}", shown(line));
            *owed = owed.saturating_sub(1);
        }
    }
}

fn shown(line: &[u8]) -> String {
    line[..line.len().min(300)].escape_ascii().to_string()
}

fn is_end(byte: &u8) -> bool {
    *byte == b'\n'
}

fn without_mark(line: &[u8]) -> &[u8] {
    line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line)
}

/// Returns what a line of the agent asks. What begins as a response asks nothing.
fn asks(line: &Line) -> Asks {
    let calls = line.whole && matches!(peek(&line.bytes), Envelope::Call(_));
    let message = if calls { Message::read(&line.bytes) } else { None };
    let Some(message) = message else { return Asks::Nothing };
    let (Some(method), Some(id)) = (message.method.as_deref(), message.id) else { return Asks::Nothing };
    match dialect::read(method, message.params.unwrap_or_default(), "made-up") {
        Ok(Some(asked)) if asked.question.purpose == Purpose::Permission => Asks::Permission(id.to_owned()),
        Ok(Some(_)) => Asks::Question(id.to_owned()),
        Ok(None) => Asks::Nothing,
        Err(_) => Asks::Wrong(id.to_owned()),
    }
}

/// Returns whether the client is asked by a request of the bridge's own.
fn shows(out: &[Out]) -> bool {
    arrived(out, Peer::Client).split_inclusive(is_end).any(|line| {
        Message::read(line).is_some_and(|message| message.method.is_some() && message.id.is_some())
    })
}

fn of(line: &[u8], whole: bool) -> Line {
    let bytes = if whole { [line, b"\n"].concat() } else { long_line(line) };
    Line { bytes, whole }
}

/// Returns what the id of a line is compared by that an agent takes for a response. It lets the last of two members win.
fn answers(line: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(without_mark(line));
    let Some(members) = Members::of(text.as_bytes()) else {
        // An agent that reads no more than the beginning of a line that never becomes JSON.
        let long = line.len() > askbridge_core::limits::HOLD;
        return if let (Envelope::Response(id), true) = (peek(line), long) {
            Some(key(id).into_owned())
        } else {
            None
        };
    };
    let responds = members.all("result").chain(members.all("error")).next().is_some();
    members.all("id").last().filter(|_| responds).map(|id| key(id).into_owned())
}

/// Returns the ids of a line that is a response for one agent and something else for another.
fn unclear(line: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(without_mark(line));
    let Some(members) = Members::of(text.as_bytes()) else { return Vec::new() };
    let ids: Vec<_> = members.all("id").map(|id| key(id).into_owned()).collect();
    let calls = members.all("method").any(|method| method != "null");
    if calls || ids.len() > 1 { ids } else { Vec::new() }
}

/// A line that is not the one that was said is the bridge's own, or a changed one: it is one line, and JSON. A changed
/// line may have bytes that are no Unicode.
fn check_own(out: &[Out], said: &Line) {
    let all = Peer::ALL.map(|peer| arrived(out, peer)).concat();
    for line in all.split_inclusive(is_end).filter(|line| *line != said.bytes) {
        assert!(line.ends_with(b"\n"), "{}", shown(line));
        let is_json = serde_json::from_slice::<IgnoredAny>(without_mark(line)).is_ok();
        assert!(is_json || !said.whole, "{}", shown(line));
    }
}
