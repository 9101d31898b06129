//! A bridge as the driver runs it. The promises that are checked while it runs are left to `promises.rs`.

use std::{
    collections::BTreeMap,
    sync::Arc,
    task::{Context, Waker},
    time::Duration,
};

use askbridge_control::inbox::{BridgeInbox, Identity, Inbox, Port};
use askbridge_core::{
    acp::{Bridge, Config, Tier},
    desk::{Asker, BridgeName, Notice, QuestionId, Submission, Timestamp},
    engine::{Event, Output, Peer},
    question::{Provenance, Question, Responder},
};
use futures::future::LocalBoxFuture;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::moves::{BEGUN, Caller, Move, Pipe, begun, reply, request, submission, update};
use crate::limits;

pub(super) struct World<'a> {
    /// Its paused clock advances by itself whenever the inbox waits for a timer.
    pub(super) runtime: &'a Runtime,
    pub(super) bridge: Bridge,
    pub(super) port: Port,
    pub(super) inbox: BridgeInbox,
    /// The work of the inbox's thread.
    pub(super) work: LocalBoxFuture<'static, ()>,
    pub(super) pipe: Pipe,
    pub(super) callers: Vec<Caller>,
    pub(super) now: Duration,
    pub(super) timeout: bool,
    /// How many questions were asked. The number of each question is also the ID of its request.
    pub(super) asked: u64,
    /// How many of them the inbox shows as settled.
    pub(super) settled: usize,
    /// How often each was given more time.
    /// The first text of each question, and the one that was decided on.
    pub(super) first: BTreeMap<u64, Arc<Question>>,
    pub(super) decided: BTreeMap<u64, Arc<Question>>,
    /// The IDs of the prompts whose turns run, by their sessions.
    pub(super) turns: BTreeMap<u8, String>,
    pub(super) extended: BTreeMap<u64, usize>,
    pub(super) extensions_accepted: BTreeMap<u64, usize>,
    pub(super) client_lives: bool,
    pub(super) client_is_mid_line: bool,
    pub(super) agent_lives: bool,
    /// The verdicts, by their names.
    pub(super) told: BTreeMap<&'static str, usize>,
    pub(super) journal: Vec<String>,
}

impl<'a> World<'a> {
    pub(super) fn new(runtime: &'a Runtime, timeout: bool, shown: bool) -> Self {
        let bridge: BridgeName = "b".parse().unwrap();
        let started_at = Timestamp::default();
        let identity =
            Identity { bridge: bridge.clone(), agent: String::new(), folder: String::new(), started_at };
        let (inbox, port, work) = BridgeInbox::new(identity, 0);
        let mut config = Config { tier: (!shown).then_some(Tier::None), ..Config::default() };
        config.common.timeout = timeout.then_some(Duration::from_secs(5));
        config.common.name = Some(bridge);
        config.common.has_ledger = true;
        World {
            runtime,
            bridge: Bridge::new(config),
            port,
            inbox,
            work: Box::pin(work.run()),
            pipe: Pipe { room: 100, broken: false, got: Vec::new() },
            callers: Vec::new(),
            now: Duration::ZERO,
            timeout,
            asked: 0,
            settled: 0,
            first: BTreeMap::new(),
            decided: BTreeMap::new(),
            turns: BTreeMap::new(),
            extended: BTreeMap::new(),
            extensions_accepted: BTreeMap::new(),
            client_lives: true,
            client_is_mid_line: false,
            agent_lives: true,
            told: BTreeMap::new(),
            journal: Vec::new(),
        }
    }

    pub(super) fn play(&mut self, step: &Move) {
        self.journal.push(format!("{step:?}"));
        let which = |which: u8, asked: u64| (asked > 0).then(|| 1 + u64::from(which) % asked);
        match *step {
            Move::Ask { session } if self.agent_lives && self.client_lives && self.asked < 4 => {
                self.ask(session)
            }
            Move::Submit { which: one, what } => {
                let Some(number) = which(one, self.asked) else { return };
                self.submit(number, what);
            }
            Move::Take => drop(self.take()),
            Move::Look(one) if !self.callers.is_empty() => self.look(usize::from(one) % self.callers.len()),
            Move::ClientAnswers { which: one, how } => {
                let Some(number) = which(one, self.asked) else { return };
                self.client_says(&json!({ "jsonrpc": "2.0", "id": number, "result": reply(number, how) }));
            }
            Move::ClientBegins if self.client_reads() && !self.client_is_mid_line => {
                self.client_is_mid_line = true;
                let begun = begun();
                // A line is forwarded in parts only if it is long, so the agent has to read that much of it at once.
                self.pipe.room += begun.len() - BEGUN.len();
                self.bridge.receive(Peer::Client, &begun, self.now);
            }
            Move::CancelTurn { session } => self.client_says(&json!({
                "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": session.to_string() }
            })),
            Move::Says { session, is_over } if self.agent_lives => {
                self.line(Peer::Agent, &update(session, self.journal.len(), is_over));
            }
            Move::Turns { session } => self.turn(session),
            Move::Withdraw { which: one } if self.agent_lives => {
                let Some(number) = which(one, self.asked) else { return };
                let params = json!({ "requestId": number });
                let line = json!({ "jsonrpc": "2.0", "method": "$/cancel_request", "params": params });
                self.line(Peer::Agent, &line);
            }
            Move::Drain(count) => self.pipe.room += usize::from(count),
            Move::Pass(milliseconds) => self.pass(Duration::from_millis(milliseconds.into())),
            Move::Break => self.pipe.broken = true,
            Move::ClientEnds if self.client_reads() => {
                self.client_lives = false;
                self.bridge.ended(Peer::Client, self.now);
            }
            Move::AgentExits { breaks } if self.agent_lives => {
                self.agent_lives = false;
                self.pipe.broken |= breaks;
                self.happen(Event::AgentExited { group: false });
            }
            _ => {}
        }
        self.write_on();
    }

    fn ask(&mut self, session: u8) {
        self.asked += 1;
        self.line(Peer::Agent, &request(self.asked, session));
    }

    fn turn(&mut self, session: u8) {
        match self.turns.remove(&session) {
            Some(id) if self.agent_lives => {
                let result = json!({ "stopReason": "end_turn" });
                self.line(Peer::Agent, &json!({ "jsonrpc": "2.0", "id": id, "result": result }));
            }
            None if self.client_reads() => {
                let id = format!("p{}", self.journal.len());
                let params = json!({ "sessionId": session.to_string(), "prompt": [] });
                self.client_says(&json!({
                    "jsonrpc": "2.0", "id": id, "method": "session/prompt", "params": params
                }));
                self.turns.insert(session, id);
            }
            _ => {}
        }
    }

    fn client_reads(&self) -> bool {
        self.client_lives && self.bridge.reads(Peer::Client)
    }

    fn client_says(&mut self, line: &Value) {
        if !self.client_reads() {
            return;
        }
        if std::mem::take(&mut self.client_is_mid_line) {
            self.bridge.receive(Peer::Client, b"\"}\n", self.now);
        }
        self.line(Peer::Client, line);
    }

    fn submit(&mut self, number: u64, what: u8) {
        let inbox = self.inbox.clone();
        let id = QuestionId { bridge: inbox.identity().bridge.clone(), asker: Asker::Agent, number };
        let shown = inbox.store().read(|_, snapshot| snapshot.get(&id).cloned());
        let submission = submission(what, shown.as_ref().map_or(0, |record| record.edition));
        let saw = match &submission {
            Submission::Answer { seen: Some(_), .. } => shown.map(|record| Arc::clone(&record.question)),
            Submission::Answer { seen: None, .. } => self.first.get(&number).cloned(),
            _ => None,
        };
        let by = Provenance { responder: Responder::CommandLine, name: Some(self.callers.len().to_string()) };
        let submitted = submission.clone();
        let waits = Box::pin(async move { inbox.submit(&id, submitted, by).await });
        self.callers.push(Caller { number, submission, saw, waits });
        self.look(self.callers.len() - 1);
    }

    fn take(&mut self) -> bool {
        let mut context = Context::from_waker(Waker::noop());
        if let std::task::Poll::Ready(number) = self.port.poll_begun(&mut context) {
            self.happen(Event::Begins(number));
            return true;
        }
        let std::task::Poll::Ready(submitted) = self.port.poll_next(&mut context) else { return false };
        self.happen(Event::Submitted(submitted));
        self.write_on();
        true
    }

    fn pass(&mut self, time: Duration) {
        let until = self.now + time;
        while let Some(deadline) = self.bridge.next_deadline().filter(|deadline| *deadline <= until) {
            self.now = self.now.max(deadline);
            self.happen(Event::Tick);
        }
        self.now = until;
    }

    fn line(&mut self, from: Peer, value: &Value) {
        self.journal.push(format!("  {from:?} says {value}"));
        self.bridge.receive(from, format!("{value}\n").as_bytes(), self.now);
        self.write_on();
    }

    fn happen(&mut self, event: Event) {
        self.bridge.handle(event, self.now);
        self.write_on();
    }

    /// The steps of the loop after each event.
    fn write_on(&mut self) {
        self.write();
        self.carry_out();
        self.hand_over();
        let settled: Vec<_> =
            self.inbox.store().read(|_, snapshot| snapshot.settled().skip(self.settled).cloned().collect());
        if settled.is_empty() {
            return;
        }
        let heard = self.heard();
        self.settled += settled.len();
        for record in settled {
            let outcome = &record.settlement.as_ref().expect("it is settled").outcome;
            assert!(self.bears_out(outcome, heard.get(&record.id.number)), "{record:?}: {}", self.shown());
        }
    }

    fn write(&mut self) {
        let waiting: Vec<u8> = self.bridge.outbox(Peer::Agent).chunks().flatten().copied().collect();
        if self.pipe.broken && !self.bridge.outbox(Peer::Agent).is_idle() {
            return self.bridge.broke(Peer::Agent, self.now);
        }
        let count = waiting.len().min(self.pipe.room);
        self.pipe.room -= count;
        self.pipe.got.extend(&waiting[..count]);
        self.bridge.wrote(Peer::Agent, count);
        self.bridge.flushed(Peer::Agent);
        if self.bridge.outbox(Peer::Agent).is_ending() && count == waiting.len() {
            self.bridge.closed(Peer::Agent);
        }
        let shown = self.bridge.outbox(Peer::Client).chunks().map(|chunk| chunk.len()).sum();
        self.bridge.wrote(Peer::Client, shown);
        self.bridge.flushed(Peer::Client);
    }

    fn carry_out(&mut self) {
        while let Some(output) = self.bridge.poll() {
            match &output {
                // The question's text is in the agent's line, which was logged before.
                Output::Notice(Notice::Opened(record)) => {
                    self.journal.push(format!("  {} opened", record.id.number));
                }
                Output::Notice(Notice::Decided { record, settlement, .. }) => {
                    self.journal.push(format!("  {} decided: {:?}", record.id.number, settlement.outcome));
                }
                Output::Unanswered(record, _) => self.journal.push(format!("  {} waits", record.id.number)),
                Output::Intercepted(..) => {}
                other => self.journal.push(format!("  {other:?}")),
            }
            match output {
                Output::Notice(Notice::Opened(record)) => {
                    self.first.insert(record.id.number, Arc::clone(&record.question));
                }
                Output::Notice(Notice::Decided { record, .. }) => {
                    self.decided.insert(record.id.number, Arc::clone(&record.question));
                }
                Output::Notice(Notice::Extended(record, _)) => {
                    *self.extended.entry(record.id.number).or_default() += 1;
                }
                Output::Notice(Notice::Verdict(ticket, verdict)) => self.port.verdict(ticket, verdict),
                Output::Waits(id) => self.port.waits(id),
                Output::Begins(id) => self.port.begins(id),
                _ => {}
            }
        }
    }

    /// Hands over what changed, and returns once the inbox has taken all of it.
    fn hand_over(&mut self) {
        let (port, bridge, work) = (&mut self.port, &mut self.bridge, &mut self.work);
        self.runtime.block_on(async {
            let handed_over = async {
                let mut context = Context::from_waker(Waker::noop());
                loop {
                    port.taken().await;
                    let has_changes = bridge.has_changes();
                    if port.poll_hand_over(&mut context, has_changes, || bridge.take_changes()).is_pending() {
                        return;
                    }
                }
            };
            tokio::select! {
                () = work => panic!("the bridge has not ended"),
                () = handed_over => {}
            }
        });
    }

    pub(super) fn shown(&self) -> String {
        format!("\n{}", self.journal.join("\n"))
    }

    /// Ends the run, and asserts that no responder waits any more, and that a live agent has all its responses.
    pub(super) fn end(&mut self) {
        self.pipe.room = usize::MAX;
        let broken = self.pipe.broken;
        if broken && self.agent_lives {
            self.play(&Move::AgentExits { breaks: true });
        }
        self.write_on();
        // The client's unfinished line is completed, and the time for which a withdrawn question stays open passes.
        self.client_says(&json!({ "jsonrpc": "2.0", "method": "x" }));
        self.pass(limits::WITHDRAW + Duration::from_millis(1));
        for session in 0..2 {
            self.play(&Move::CancelTurn { session });
        }
        // After a cancelled turn, a permission waits for the client for this long.
        self.pass(limits::CANCEL);
        // What was asked between turns ends with no turn, but with a cancellation while none runs.
        for session in 0..2 {
            if self.turns.contains_key(&session) {
                self.play(&Move::Turns { session });
            }
            self.play(&Move::CancelTurn { session });
        }
        self.write_on();
        // The queue holds only so many of the waiting submissions at once.
        for _ in 0..=self.callers.len() {
            while self.take() {}
            for place in (0..self.callers.len()).rev() {
                self.look(place);
            }
        }
        assert!(self.callers.is_empty(), "{} wait for ever: {}", self.callers.len(), self.shown());
        assert_eq!(self.extensions_accepted, self.extended, "{}", self.shown());
        assert_eq!(self.bridge.open_questions(), 0, "{}", self.shown());
        if self.agent_lives && self.client_lives {
            assert_eq!(self.heard().len() as u64, self.asked, "{}", self.shown());
        }
    }
}
