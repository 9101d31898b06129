//! Whatever happens, a question that the agent asks, in whatever dialect, gets one response while the agent listens
//! (I4). Each line of the input is one event: a line of a peer, time that passes, or the end of somebody. A digit in the
//! first place says in which way alone the client is asked.
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

use askbridge::{dialect, acp::{Action, Bridge, Config, Event, Line, Peer, Tier}, wire::{envelope::{Envelope, Message, peek}, frame::Verdict}};
use libfuzzer_sys::fuzz_target;
use serde::de::IgnoredAny;

#[path = "../../tests/support/members.rs"]
mod members;

use members::Members;

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
        b'1' => Some(Tier::Native),
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
    /// One with this id that is not right: it is refused, unless the client takes the dialect and may judge better.
    Wrong(String),
    /// Nothing.
    Nothing,
}

/// A bridge, and what its agent has been told.
struct World {
    bridge: Bridge,
    now: Duration,
    /// How many responses the agent is owed, by the id of its questions.
    owed: BTreeMap<String, usize>,
    /// The ids of the questions that the client has seen.
    shown: BTreeSet<String>,
    /// Ids that the agent used for something else as well: nobody can say what a response with one is to.
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
        let timeout = Some(Duration::from_secs(60));
        World {
            bridge: Bridge::new(Config { timeout, tier, ..Config::default() }),
            now: Duration::ZERO,
            owed: BTreeMap::new(),
            shown: BTreeSet::new(),
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
            b'+' => self.wait(rest.first().map_or(0, |byte| u64::from(*byte))),
            b's' => self.happens(Event::Signal),
            b'e' if self.client_speaks && self.agent_listens => {
                self.client_speaks = false;
                self.happens(Event::ClientEnded);
            }
            b'b' => self.happens(Event::ClientBroke),
            b'o' if self.agent_speaks => {
                self.agent_speaks = false;
                self.happens(Event::AgentOutputEnded);
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

    /// The client leaves: whoever still waits is told.
    fn end(&mut self) {
        let judged = self.agent_listens;
        self.happens(Event::ClientBroke);
        assert_eq!(self.open, 0, "questions are left open");
        for (id, owed) in &self.owed {
            assert!(
                !judged || *owed == 0 || self.shared.contains(id),
                "{owed} responses to {id} are missing"
            );
        }
    }

    fn wait(&mut self, seconds: u64) {
        let until = self.now + Duration::from_secs(seconds);
        let mut ticks = 0;
        while let Some(due) = self.bridge.next_deadline().filter(|due| *due <= until) {
            self.now = self.now.max(due);
            self.happens(Event::Tick);
            ticks += 1;
            assert!(ticks < 2000, "time stands still");
        }
        self.now = until;
    }

    fn client_line(&mut self, line: &[u8], whole: bool) {
        let line = of(line, whole);
        let wanted = self.bridge.judge(Peer::Client, &line.bytes) == Verdict::Wanted;
        if wanted {
            let actions = self.bridge.handle(Event::Line(Peer::Client, line.clone()), self.now);
            self.perform(actions, Some(&line));
        } else {
            self.told(&line);
        }
    }

    fn agent_line(&mut self, line: &[u8], whole: bool) {
        let line = of(line, whole);
        let asks = asks(&line);
        let wanted = self.bridge.judge(Peer::Agent, &line.bytes) == Verdict::Wanted;
        assert!(wanted || asks == Asks::Nothing, "a question passed");
        let actions = if wanted {
            self.bridge.handle(Event::Line(Peer::Agent, line.clone()), self.now)
        } else {
            vec![Action::Forward]
        };
        let forwards = actions.contains(&Action::Forward);
        let opens = actions.iter().any(|action| matches!(action, Action::Opened(_)));
        match asks {
            Asks::Question(id) => {
                self.owes(&id);
                if opens && (forwards || shows(&actions)) {
                    self.shown.insert(id);
                }
            }
            Asks::Wrong(id) if !forwards => {
                assert!(!opens, "{actions:?} opens what is no question");
                self.owes(&id);
            }
            Asks::Wrong(_) | Asks::Nothing => {
                assert!(!opens, "{actions:?} opens what nobody asked");
                self.share(&line);
            }
        }
        self.perform(actions, None);
    }

    fn owes(&mut self, id: &str) {
        if self.agent_listens {
            *self.owed.entry(id.to_owned()).or_default() += 1;
        }
    }

    /// The agent uses an id for something that is no question.
    fn share(&mut self, line: &Line) {
        match Members::of(String::from_utf8_lossy(&line.bytes).as_bytes()) {
            Some(members) => self.shared.extend(members.all("id").map(str::to_owned)),
            None => {
                let id = Message::read_prefix(&line.bytes).and_then(|message| message.id);
                self.shared.extend(id.map(str::to_owned));
            }
        }
    }

    fn happens(&mut self, event: Event) {
        let actions = self.bridge.handle(event, self.now);
        self.perform(actions, None);
    }

    fn perform(&mut self, actions: Vec<Action>, line: Option<&Line>) {
        let settled = actions.iter().filter(|action| matches!(action, Action::Settled(_))).count();
        for action in actions {
            match action {
                Action::Forward => line.into_iter().for_each(|line| self.told(line)),
                Action::Send(peer, bytes) => {
                    check_own(&bytes);
                    if peer == Peer::Agent {
                        self.told(&Line { bytes, whole: true });
                    }
                }
                Action::EndAgentInput => self.agent_listens = false,
                Action::Opened(_) => self.open += 1,
                Action::Settled(_) | Action::Unanswered(..) => {}
                Action::Warned(_) | Action::Extended(..) | Action::Judged(..) => {}
                Action::Finish | Action::Abandon => self.over = true,
                Action::EndClientOutput | Action::Terminate | Action::Kill => {}
            }
        }
        assert!(settled <= self.open, "a question is settled twice");
        self.open -= settled;
    }

    /// The agent hears a line. If it is a response to a question, it is the only one.
    fn told(&mut self, line: &Line) {
        if !self.agent_listens {
            return;
        }
        let Some(id) = answers(line) else { return };
        self.shared.extend(unclear(line));
        if self.shared.contains(&id) {
            return;
        }
        if let Some(owed) = self.owed.get_mut(&id) {
            // What the client says about a question that it never saw goes on, as all that nobody asked for does.
            assert!(*owed > 0 || !self.shown.contains(&id), "one too many: {}", line.bytes.escape_ascii());
            *owed = owed.saturating_sub(1);
        }
    }
}

/// Says what a line of the agent asks. What begins as a response asks nothing.
fn asks(line: &Line) -> Asks {
    let calls = line.whole && matches!(peek(&line.bytes), Envelope::Call(_));
    let message = if calls { Message::read(&line.bytes) } else { None };
    let Some(message) = message else { return Asks::Nothing };
    let (Some(method), Some(id)) = (message.method.as_deref(), message.id) else { return Asks::Nothing };
    match dialect::read(method, message.params.unwrap_or_default(), "made-up") {
        Ok(Some(_)) => Asks::Question(id.to_owned()),
        Ok(None) => Asks::Nothing,
        Err(_) => Asks::Wrong(id.to_owned()),
    }
}

/// Says whether the client is asked by a request of the bridge's own.
fn shows(actions: &[Action]) -> bool {
    actions.iter().any(|action| {
        let Action::Send(Peer::Client, bytes) = action else { return false };
        Message::read(bytes).is_some_and(|message| message.method.is_some() && message.id.is_some())
    })
}

fn of(line: &[u8], whole: bool) -> Line {
    let end: &[u8] = if whole { b"\n" } else { b"" };
    Line { bytes: [line, end].concat().into(), whole }
}

/// Returns the id that a line is a response to.
fn answers(line: &Line) -> Option<String> {
    if !line.whole {
        return if let Envelope::Response(id) = peek(&line.bytes) { Some(id.to_owned()) } else { None };
    }
    // As a tolerant agent reads it.
    let text = String::from_utf8_lossy(&line.bytes);
    let members = Members::of(text.as_bytes())?;
    let responds = members.all("result").chain(members.all("error")).next().is_some();
    members.all("id").last().filter(|_| responds).map(str::to_owned)
}

/// Returns the ids of a line that is a response for one agent and something else for another.
fn unclear(line: &Line) -> Vec<String> {
    let text = String::from_utf8_lossy(&line.bytes);
    let Some(members) = Members::of(text.as_bytes()) else { return Vec::new() };
    let ids: Vec<_> = members.all("id").map(str::to_owned).collect();
    let calls = members.all("method").next().is_some();
    if calls || ids.len() > 1 { ids } else { Vec::new() }
}

/// A line of our own is one line, and JSON; a line that was changed may have bytes that are no Unicode.
fn check_own(line: &[u8]) {
    assert!(line.ends_with(b"\n") && line.iter().filter(|byte| **byte == b'\n').count() == 1);
    assert!(serde_json::from_slice::<IgnoredAny>(line).is_ok(), "{}", line.escape_ascii());
}
