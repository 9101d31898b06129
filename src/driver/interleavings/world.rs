//! A bridge as the driver runs it, and the promises that are checked while it runs.

use std::{
    collections::BTreeMap,
    task::{Context, Waker},
    time::Duration,
};

use askbridge_core::{
    acp::{Bridge, Config, Tier},
    desk::{Asker, BridgeName, Notice, QuestionId, Refusal, Submission, Timestamp},
    engine::{Event, Output, Peer},
    question::{Outcome, Provenance, Reason, Responder},
    wire::envelope::Message,
};
use futures::{FutureExt, future::LocalBoxFuture};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::moves::{BEGUN, Caller, Move, Pipe, begun, is, reply, request, submission, wrong};
use crate::{
    inbox::{access::Inbox, bridge::BridgeInbox, handover::Port, status::Identity},
    limits,
};

pub(super) struct World<'a> {
    /// Its paused clock advances by itself whenever the inbox waits for a timer.
    runtime: &'a Runtime,
    bridge: Bridge,
    port: Port,
    inbox: BridgeInbox,
    /// The work of the inbox's thread.
    work: LocalBoxFuture<'static, ()>,
    pipe: Pipe,
    callers: Vec<Caller>,
    now: Duration,
    timeout: bool,
    /// How many questions were asked. The number of each question is also the ID of its request.
    asked: u64,
    /// How many of them the inbox shows as settled.
    settled: usize,
    /// How often each was given more time.
    extended: BTreeMap<u64, usize>,
    extensions_accepted: BTreeMap<u64, usize>,
    client_lives: bool,
    client_is_mid_line: bool,
    agent_lives: bool,
    /// The verdicts, by their names.
    pub(super) told: BTreeMap<&'static str, usize>,
    journal: Vec<String>,
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
                self.submit(number, submission(what));
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

    fn submit(&mut self, number: u64, submission: Submission) {
        let inbox = self.inbox.clone();
        let id = QuestionId { bridge: inbox.identity().bridge.clone(), asker: Asker::Agent, number };
        let by = Provenance { responder: Responder::CommandLine, name: Some(self.callers.len().to_string()) };
        let submitted = submission.clone();
        let waits = Box::pin(async move { inbox.submit(&id, submitted, by).await });
        self.callers.push(Caller { number, submission, waits });
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

    /// If a responder has its verdict, asserts that the verdict is true.
    fn look(&mut self, place: usize) {
        let Some(told) = self.callers[place].waits.as_mut().now_or_never() else { return };
        let Caller { number, submission, .. } = self.callers.swap_remove(place);
        self.journal.push(format!("  {number} {submission:?} is told {told:?}"));
        let heard = self.heard();
        let response = heard.get(&number);
        let is_true = match (&told, &submission) {
            (Ok(_), Submission::Answer { answer, .. }) => {
                response.is_some_and(|response| is(&Outcome::Answered(answer.clone()), response))
            }
            (Ok(_), Submission::Reject(_)) => {
                response.is_some_and(|response| is(&Outcome::Rejected(Reason::User), response))
            }
            (Ok(_), Submission::Extend(_)) => {
                let accepted = self.extensions_accepted.entry(number).or_default();
                *accepted += 1;
                self.extended.get(&number).is_some_and(|extended| *accepted <= *extended)
            }
            (Err(Refusal::Conflict(view)), _) => {
                let outcome = &view.settlement.as_ref().expect("it is settled").outcome;
                let same = match (outcome, &submission) {
                    (Outcome::Answered(given), Submission::Answer { answer, .. }) => given == answer,
                    (Outcome::Rejected(_), Submission::Reject(_)) => true,
                    _ => false,
                };
                let by_responder = !matches!(outcome, Outcome::Rejected(reason) if *reason != Reason::User);
                !same && by_responder && response.is_some_and(|response| is(outcome, response))
            }
            (Err(Refusal::Gone(view)), _) => {
                let outcome = &view.settlement.as_ref().expect("it is settled").outcome;
                matches!(outcome, Outcome::Rejected(reason) if *reason != Reason::User)
                    && self.bears_out(outcome, response)
            }
            (Err(Refusal::DoesNotFit(_)), Submission::Answer { answer, .. }) => *answer == wrong(),
            (Err(Refusal::NoDeadline), Submission::Extend(_)) => !self.timeout,
            (Err(Refusal::Unavailable), _) => self.may_be_lost(),
            _ => false,
        };
        *self.told.entry(told.as_ref().map_or_else(|refusal| refusal.kind().name, |_| "ok")).or_default() +=
            1;
        assert!(
            is_true,
            "{number} {submission:?} was told {told:?}; the agent has {response:?}: {}",
            self.shown()
        );
    }

    /// Returns whether the agent has got this outcome, or, if the outcome says that it may be lost, cannot get it.
    fn bears_out(&self, outcome: &Outcome, response: Option<&Value>) -> bool {
        match (outcome, response) {
            (Outcome::Rejected(Reason::AgentGone), _) => self.may_be_lost(),
            (_, Some(response)) => is(outcome, response),
            (Outcome::Rejected(reason), None) => *reason != Reason::User && self.may_be_lost(),
            (_, None) => false,
        }
    }

    fn may_be_lost(&self) -> bool {
        !self.agent_lives || self.bridge.outbox(Peer::Agent).is_abandoned()
    }

    /// Returns the response that the agent has got to each question, and asserts that there is one at most.
    fn heard(&self) -> BTreeMap<u64, Value> {
        let mut heard = BTreeMap::new();
        for line in self.pipe.got.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n"))
        {
            let Some(message) = Message::read(line) else {
                assert_eq!(line.trim_ascii_end(), begun(), "a line in another: {}", self.shown());
                continue;
            };
            let (None, Some(id)) = (&message.method, message.id) else { continue };
            let before = heard.insert(id.parse().unwrap(), serde_json::from_slice(line).unwrap());
            assert!(before.is_none(), "two responses to {id}: {}", self.shown());
        }
        heard
    }

    fn shown(&self) -> String {
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
