//! Whatever happens, a question that the agent asks gets one response while the agent listens (I4).
//! Each line of the input is one event: a line of a peer, time that passes, or the end of somebody.
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

use askbridge::{
    dialect::sandboxagent,
    engine::{Action, Bridge, Config, Event, Line, Peer},
    wire::{
        envelope::{Envelope, Message, peek},
        frame::Verdict,
    },
};
use libfuzzer_sys::fuzz_target;
use serde::de::IgnoredAny;

#[path = "../../tests/support/members.rs"]
mod members;

use members::Members;

fuzz_target!(|data: &[u8]| {
    let mut world = World::new();
    for line in data.split(|byte| *byte == b'\n') {
        if let Some((kind, rest)) = line.split_first() {
            world.step(*kind, rest);
        }
    }
    world.end();
});

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
    fn new() -> Self {
        World {
            bridge: Bridge::new(Config { timeout: Some(Duration::from_secs(60)), ..Config::default() }),
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
        let question = self.asks(&line);
        let wanted = self.bridge.judge(Peer::Agent, &line.bytes) == Verdict::Wanted;
        assert!(wanted || question.is_none(), "a question passed");
        if !wanted {
            return;
        }
        let actions = self.bridge.handle(Event::Line(Peer::Agent, line), self.now);
        if actions.iter().any(|action| matches!(action, Action::Opened(_))) {
            let forwarded = actions.first() == Some(&Action::Forward);
            assert!(question.is_some() && forwarded, "{actions:?} opens what nobody asked");
            self.shown.extend(question);
        }
        self.perform(actions, None);
    }

    /// Notes what the agent asks. Returns the id of a question. What begins as a response is none.
    fn asks(&mut self, line: &Line) -> Option<String> {
        let calls = line.whole && matches!(peek(&line.bytes), Envelope::Call(_));
        let message = if calls { Message::read(&line.bytes) } else { None };
        if let Some(message) = message
            && let (Some(sandboxagent::METHOD), Some(id)) = (message.method.as_deref(), message.id)
        {
            if self.agent_listens {
                *self.owed.entry(id.to_owned()).or_default() += 1;
            }
            return Some(id.to_owned());
        }
        match Members::of(String::from_utf8_lossy(&line.bytes).as_bytes()) {
            Some(members) => self.shared.extend(members.all("id").map(str::to_owned)),
            None => {
                let id = Message::read_prefix(&line.bytes).and_then(|message| message.id);
                self.shared.extend(id.map(str::to_owned));
            }
        }
        None
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
