//! Random orders of all that can happen between Codex' terminal, its app server, this client and its responders: in one
//! process and on a clock of its own, so that a failing order can be played again by its number.

use std::{
    collections::{BTreeMap, VecDeque},
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
    time::Duration,
};

use askbridge_adapters::codex::core::{Core, Effect};
use askbridge_control::{
    inbox::{BridgeInbox, Identity, Inbox, LocalDesk, QuestionHandle, Work},
    join::discovery::bridge_name,
};
use askbridge_core::{
    desk::{Record, Refusal, Submission, Timestamp},
    question::{self, Outcome, Provenance, Responder, Value},
};
use askbridge_mock::codex::daemon::{Answer, Daemon, RequestEnd, Sample};
use fastrand::Rng;
use serde_json::{Value as Json, json};

const THREAD: &str = "thread";

type Verdict = Result<Arc<Record>, Refusal>;

/// A submission of a responder.
struct Submitted {
    request: u64,
    /// The result that Codex gets if this one is first.
    result: Json,
    is_question: bool,
    /// Whether it was given for the text that was shown.
    has_seen: bool,
    pending: Option<Pin<Box<dyn Future<Output = Verdict>>>>,
    verdict: Option<Verdict>,
    /// The time at which it was submitted, and at which it was told.
    times: (Duration, Duration),
    /// The connections that had broken when its question was first answered, and when it was told.
    breaks: (u64, u64),
}

struct World {
    random: Rng,
    now: Duration,
    daemon: Daemon,
    terminal: u64,
    us: Option<u64>,
    to_us: VecDeque<String>,
    to_daemon: VecDeque<String>,
    core: Core,
    desk: LocalDesk,
    inbox: BridgeInbox,
    _work: Work,
    asked: BTreeMap<u64, QuestionHandle>,
    /// The tool calls that are looked up.
    looks: Vec<(u64, String)>,
    returned: BTreeMap<String, Json>,
    submitted: Vec<Submitted>,
    /// The requests that are over, and how they ended.
    told: BTreeMap<u64, RequestEnd>,
    /// The connections that broke.
    breaks: u64,
}

impl World {
    fn new(round: u64) -> Self {
        let identity = Identity {
            bridge: bridge_name(),
            agent: "Codex".to_owned(),
            folder: "/p".to_owned(),
            started_at: Timestamp::from(std::time::SystemTime::UNIX_EPOCH),
        };
        let (inbox, desk, work) = BridgeInbox::of_desk(identity, 7, None);
        let mut daemon = Daemon::default();
        daemon.start(THREAD, "/p", Some("/record".to_owned()));
        let mut world = World {
            random: Rng::with_seed(round),
            now: Duration::ZERO,
            terminal: joined(&mut daemon),
            daemon,
            us: None,
            to_us: VecDeque::new(),
            to_daemon: VecDeque::new(),
            core: Core::default(),
            desk,
            inbox,
            _work: work,
            asked: BTreeMap::new(),
            looks: Vec::new(),
            returned: BTreeMap::new(),
            submitted: Vec::new(),
            told: BTreeMap::new(),
            breaks: 0,
        };
        world.connect();
        world
    }

    fn connect(&mut self) {
        self.us = Some(self.daemon.connect());
        self.core.connected();
    }

    fn disconnect(&mut self) {
        if let Some(us) = self.us.take() {
            self.daemon.disconnect(us);
            self.to_us.clear();
            self.to_daemon.clear();
            self.core.disconnected(self.now);
            self.breaks += 1;
        }
    }

    /// Does one of the things that can happen.
    fn step(&mut self) {
        match self.random.u64(..22) {
            0 | 1 => {
                let samples = [Sample::Question, Sample::Question, Sample::Command, Sample::Files];
                let sample = samples[self.random.usize(..4)];
                self.daemon.ask(THREAD, sample);
            }
            2 => drop(self.daemon.answer(THREAD, Answer::Approve)),
            3 => drop(self.daemon.answer(THREAD, Answer::Decline)),
            4 => {
                let told_first = self.random.bool();
                if self.random.u8(..3) == 0 {
                    self.daemon.interrupt(THREAD, told_first);
                }
            }
            5 => {
                // The terminal answers as a client of its own.
                if let Some(id) = self.daemon.open(THREAD).pop() {
                    let result = json!({ "answers": { "db": { "answers": ["typed there"] } } });
                    let response = json!({ "id": id, "result": result }).to_string();
                    self.daemon.message(self.terminal, &response);
                }
            }
            6..=8 => self.submit(),
            9..=12 => self.deliver_to_us(),
            13..=16 => self.deliver_to_daemon(),
            17 => {
                let time = Duration::from_millis(self.random.u64(..80));
                self.pass(time);
            }
            18 => self.look(),
            19 | 20 => {
                let text = format!("text {}", self.random.u8(..3));
                self.daemon.change(THREAD, &text);
            }
            _ => match self.random.u64(..12) {
                0 => self.disconnect(),
                1..=4 if self.us.is_none() => self.connect(),
                _ => {}
            },
        }
        self.settle();
    }

    /// Lets a responder answer one of the open questions.
    fn submit(&mut self) {
        let keys: Vec<_> = self.asked.keys().copied().collect();
        if keys.is_empty() {
            return;
        }
        let key = keys[self.random.usize(..keys.len())];
        let id = self.asked[&key].id().clone();
        let record = self.inbox.store().read(|_, snapshot| snapshot.get(&id).cloned());
        let Some(record) = record else { return };
        let field = &record.question.fields[0];
        let is_question = field.name == "db";
        let chosen = match is_question {
            true => format!("own text {}", self.random.u8(..2)),
            false => field.kind.options()[self.random.usize(..2)].value.clone(),
        };
        let result = match (is_question, &*chosen) {
            (true, text) => {
                json!({ "answers": { "db": { "answers": ["None of the above", format!("user_note: {text}")] } } })
            }
            (false, "acceptWithExecpolicyAmendment") => return,
            (false, name) => json!({ "decision": name }),
        };
        let request = record.question.id.rsplit('-').next().and_then(|id| id.parse().ok());
        let values = [(field.name.clone(), Value::Text(chosen))].into();
        // Some responders have seen an earlier text.
        let seen = record.edition.saturating_sub(u32::from(self.random.u8(..3) == 0));
        let answer = Submission::answer(question::Answer { values, ..question::Answer::default() }, seen);
        let by = Provenance { responder: Responder::CommandLine, name: None };
        let request = request.expect("a request");
        let first = self.submitted.iter().find(|submitted| submitted.request == request);
        let breaks = first.map_or(self.breaks, |first| first.breaks.0);
        let inbox = self.inbox.clone();
        let pending = Box::pin(async move { inbox.submit(&id, answer, by).await });
        self.submitted.push(Submitted {
            request,
            result,
            is_question,
            has_seen: seen == record.edition,
            pending: Some(pending),
            verdict: None,
            times: (self.now, self.now),
            breaks: (breaks, breaks),
        });
    }

    fn deliver_to_us(&mut self) {
        if let Some(text) = self.to_us.pop_front() {
            self.core.message(&text, self.now);
        }
    }

    fn deliver_to_daemon(&mut self) {
        if let (Some(us), Some(text)) = (self.us, self.to_daemon.pop_front()) {
            assert!(!text.contains(r#""error""#), "an error would settle a request: {text}");
            self.daemon.message(us, &text);
        }
    }

    fn pass(&mut self, time: Duration) {
        self.now += time;
        while self.core.next_deadline().is_some_and(|due| due <= self.now) {
            self.core.tick(self.now);
            self.settle();
        }
    }

    /// Looks up a tool call, as far as it has returned.
    fn look(&mut self) {
        self.looks.retain(|(key, call)| match self.returned.get(call) {
            Some(output) => {
                self.core.recorded(*key, &output.to_string());
                false
            }
            None => true,
        });
    }

    /// Does all that follows at once.
    fn settle(&mut self) {
        loop {
            while let Some(effect) = self.core.poll() {
                self.carry_out(effect);
            }
            while let Some((to, text)) = self.daemon.poll() {
                if Some(to) == self.us {
                    self.to_us.push_back(text);
                }
            }
            while let Some((call, result)) = self.daemon.poll_returned() {
                self.returned.insert(call, result);
            }
            while let Some((id, told)) = self.daemon.poll_told() {
                assert_eq!(self.told.insert(id, told), None, "a request ends once");
            }
            let mut cx = Context::from_waker(Waker::noop());
            let mut is_done = true;
            for submitted in &mut self.submitted {
                if let Some(pending) = &mut submitted.pending
                    && let Poll::Ready(verdict) = pending.as_mut().poll(&mut cx)
                {
                    submitted.pending = None;
                    (submitted.times.1, submitted.breaks.1) = (self.now, self.breaks);
                    submitted.verdict = Some(verdict);
                }
            }
            for (key, asked) in &mut self.asked {
                let decided = std::pin::pin!(asked.decided());
                if let Poll::Ready(settlement) = decided.poll(&mut cx) {
                    self.core.decided(*key, &settlement, self.now);
                    is_done = false;
                }
            }
            if is_done {
                return;
            }
        }
    }

    fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Send(text) if self.us.is_some() => self.to_daemon.push_back(text),
            Effect::Send(_) => {}
            Effect::Open(key, question, kept, _) => {
                let asked = self.desk.open(*question, false, kept).expect("there is room");
                assert!(self.asked.insert(key, asked).is_none(), "a question opens once");
            }
            Effect::Amend(key, question, kept) => {
                self.asked[&key].amend(*question, kept).expect("no decision is on its way");
            }
            Effect::Look(key, _, call) => self.looks.push((key, call)),
            Effect::Delivered(key) => self.asked.remove(&key).expect("it is open").delivered(),
            Effect::Undeliverable(key) => self.asked.remove(&key).expect("it is open").undeliverable(),
            Effect::End(key, outcome, by) => self.asked.remove(&key).expect("it is open").end(outcome, by),
        }
    }

    /// Lets everything arrive that is on its way, and the rest answer at the keyboard.
    fn finish(&mut self) {
        if self.us.is_none() {
            self.connect();
            self.settle();
        }
        for _ in 0..200 {
            self.deliver_to_us();
            self.deliver_to_daemon();
            self.settle();
            self.look();
            self.settle();
            if self.to_us.is_empty() && self.to_daemon.is_empty() {
                while self.daemon.answer(THREAD, Answer::Approve) {}
                self.pass(Duration::from_millis(100));
                self.settle();
            }
        }
    }

    fn check(&self, counts: &mut Counts) {
        assert!(self.asked.is_empty(), "a question is open here that is over in Codex: {:?}", self.asked);
        let open = self.inbox.store().read(|_, snapshot| snapshot.open_count());
        assert_eq!(open, 0, "a question is open for responders");
        assert!(self.core.is_idle(), "{:?}", self.core);
        for submitted in &self.submitted {
            let verdict = submitted.verdict.as_ref().expect("every responder is told");
            let (from, to) = submitted.times;
            assert!(to - from <= Duration::from_millis(1100), "it was told {:?} later", to - from);
            let told = &self.told[&submitted.request];
            let is_in_force = matches!(told, RequestEnd::Result(_, result) if *result == submitted.result);
            let is_ours = matches!(told, RequestEnd::Result(Some(client), _) if *client != self.terminal);
            match verdict {
                Ok(record) => {
                    counts.delivered += 1;
                    assert!(submitted.has_seen, "it was given for an earlier text: {record:?}");
                    assert!(
                        !submitted.is_question || is_in_force,
                        "told to be delivered: {told:?} {record:?}"
                    );
                }
                Err(Refusal::Conflict(record) | Refusal::Gone(record)) => {
                    counts.late += 1;
                    // The same answer for an earlier text is another answer.
                    let is_this = submitted.has_seen && is_ours && is_in_force;
                    assert!(!is_this, "told to be late, and in force: {told:?}");
                    let outcome = record.settlement.as_ref().map(|settlement| &settlement.outcome);
                    assert!(!matches!(outcome, Some(Outcome::Failed) | None), "{outcome:?}");
                }
                Err(Refusal::Changed(_)) => {
                    counts.changed += 1;
                    assert!(!submitted.has_seen, "it was given for the present text");
                }
                Err(Refusal::Unavailable) => {
                    let (from, to) = submitted.breaks;
                    assert!(from < to, "not known, and no connection broke: {told:?}");
                    counts.unknown += 1;
                }
                Err(error) => panic!("{error:?}"),
            }
        }
    }
}

/// Takes a client that has joined the thread.
fn joined(daemon: &mut Daemon) -> u64 {
    let client = daemon.connect();
    daemon.message(client, r#"{"id":1,"method":"initialize","params":{}}"#);
    daemon.message(client, r#"{"id":2,"method":"thread/resume","params":{"threadId":"thread"}}"#);
    client
}

#[derive(Debug, Default)]
struct Counts {
    delivered: usize,
    late: usize,
    unknown: usize,
    changed: usize,
}

fn play(rounds: std::ops::Range<u64>) {
    let mut counts = Counts::default();
    for round in rounds {
        let played = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut world = World::new(round);
            for _ in 0..120 {
                world.step();
            }
            world.finish();
            world.check(&mut counts);
        }));
        assert!(played.is_ok(), "round {round}");
    }
    // Each kind of end has to be among them: else the rounds say nothing.
    assert!(counts.delivered > 200 && counts.late > 40 && counts.unknown > 4, "{counts:?}");
    assert!(counts.changed > 4, "{counts:?}");
}

/// The rounds that are played; more by `RACES=10000`.
const ROUNDS: u64 = 3000;

/// Returns how many rounds to play, where it is so many without `RACES`.
pub(crate) fn rounds(otherwise: u64) -> u64 {
    std::env::var("RACES").map_or(otherwise, |rounds| rounds.parse().expect("a number"))
}

// Without a runtime: its budget for one task would end before the rounds do.
#[test]
fn no_answer_is_doubled_or_lost_in_random_orders() {
    play(0..rounds(ROUNDS) / 2);
}

#[test]
fn no_answer_is_doubled_or_lost_in_further_random_orders() {
    play(rounds(ROUNDS) / 2..rounds(ROUNDS));
}
