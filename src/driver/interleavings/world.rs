//! A bridge as the driver runs it, and what is held while it runs.

use std::{
    collections::BTreeMap,
    fs::File,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
    time::Duration,
};

use bytes::Bytes;
use futures::FutureExt;
use serde_json::{Value, json};

use super::{
    moves::{BEGUN, Move, is, reply, submission, wrong},
    stdin::{Pipe, Stdin},
};
use crate::{
    acp::{self, Action, Bridge, Config, Event, Line, Peer, Submission, Tier},
    control::{
        self,
        old::{Feed, Inbox, Owner, Refusal, Source},
    },
    driver::{lines::Sink, stdio::Writer, verdicts::Verdicts},
    limits,
    question::{Outcome, Provenance, Reason, Responder},
    wire::{envelope::Message, frame::Verdict},
};

/// A responder who waits to be told.
struct Caller {
    number: u64,
    submission: Submission,
    waits: Pin<Box<dyn Future<Output = Result<(), Refusal>>>>,
}

pub(super) struct World {
    bridge: Bridge,
    verdicts: Verdicts,
    to_agent: Sink,
    pipe: Arc<Mutex<Pipe>>,
    inbox: Inbox,
    feed: Feed,
    callers: Vec<Caller>,
    now: Duration,
    timeout: bool,
    /// How many questions were asked; the number of each is its id in its request as well.
    asked: u64,
    /// How many of them the inbox shows as settled.
    settled: usize,
    /// How often each was given more time.
    extended: BTreeMap<u64, usize>,
    extensions_accepted: BTreeMap<u64, usize>,
    client_lives: bool,
    client_is_mid_line: bool,
    agent_lives: bool,
    /// What was said to whom, by its name.
    pub(super) told: BTreeMap<&'static str, usize>,
    journal: Vec<String>,
}

impl World {
    pub(super) fn new(timeout: bool, shown: bool) -> Self {
        let pipe = Arc::new(Mutex::new(Pipe { room: 100, ..Pipe::default() }));
        let null = File::options().write(true).open("/dev/null").unwrap();
        let to_agent = Sink::new(Writer::own(Stdin { pipe: Arc::clone(&pipe), null }).unwrap());
        let (inbox, feed) = control::old::new(Owner::here("agent".to_owned()));
        let config = Config {
            timeout: timeout.then_some(Duration::from_secs(5)),
            tier: (!shown).then_some(Tier::None),
            name: Some(inbox.bridge().to_owned()),
            ..Config::default()
        };
        World {
            bridge: Bridge::new(config),
            verdicts: Verdicts::default(),
            to_agent,
            pipe,
            inbox,
            feed,
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
                self.client_says(&json!({ "jsonrpc": "2.0", "id": number, "result": reply(how) }));
            }
            Move::ClientBegins if self.client_reads() && !self.client_is_mid_line => {
                self.client_is_mid_line = true;
                self.to_agent.forward(Bytes::from_static(BEGUN));
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
            Move::Drain(count) => self.pipe.lock().unwrap().room += usize::from(count),
            Move::Pass(milliseconds) => self.pass(Duration::from_millis(milliseconds.into())),
            Move::Break => self.pipe.lock().unwrap().broken = true,
            Move::ClientEnds if self.client_reads() => {
                self.client_lives = false;
                self.happen(Event::ClientEnded);
            }
            Move::AgentExits { breaks } if self.agent_lives => {
                self.agent_lives = false;
                self.pipe.lock().unwrap().broken |= breaks;
                self.happen(Event::AgentExited { group: false });
            }
            _ => {}
        }
        self.write_on();
    }

    fn ask(&mut self, session: u8) {
        self.asked += 1;
        let params = json!({ "sessionId": session.to_string(), "prompt": "?", "options": ["a", "b"] });
        let method = "_sandboxagent/session/request_question";
        self.line(
            Peer::Agent,
            &json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": params }),
        );
    }

    /// The client is read only while all that it said before has been written.
    fn client_reads(&self) -> bool {
        self.client_lives && self.to_agent.is_idle()
    }

    fn client_says(&mut self, line: &Value) {
        if !self.client_reads() {
            return;
        }
        if std::mem::take(&mut self.client_is_mid_line) {
            self.to_agent.forward(Bytes::from_static(b"\"method\":\"x\"}\n"));
        }
        self.line(Peer::Client, line);
    }

    fn submit(&mut self, number: u64, submission: Submission) {
        let (inbox, id) = (self.inbox.clone(), acp::name(self.inbox.bridge(), number));
        let by = Provenance { responder: Responder::CommandLine, name: Some(self.callers.len().to_string()) };
        let wanted = submission.clone();
        let waits = Box::pin(async move { inbox.submit(&id, wanted, by).await });
        self.callers.push(Caller { number, submission, waits });
        self.look(self.callers.len() - 1);
    }

    fn take(&mut self) -> bool {
        let Some(command) = self.feed.next().now_or_never().flatten() else { return false };
        let submitted = self.verdicts.submitted(command);
        self.happen(Event::Submitted(submitted));
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
        let line = Line { bytes: Bytes::from(format!("{value}\n")), whole: true };
        let actions = match self.bridge.judge(from, &line.bytes) {
            Verdict::Ordinary => vec![Action::Forward],
            Verdict::Wanted => self.bridge.handle(Event::Line(from, line.clone()), self.now),
        };
        self.perform(actions, Some((from, line.bytes)));
    }

    fn happen(&mut self, event: Event) {
        let actions = self.bridge.handle(event, self.now);
        self.perform(actions, None);
    }

    fn perform(&mut self, actions: Vec<Action>, line: Option<(Peer, Bytes)>) {
        for action in actions {
            match &action {
                // What is asked stands in the agent's line.
                Action::Opened(opened) => self.journal.push(format!("  {} opened", opened.number)),
                Action::Unanswered(opened, _) => self.journal.push(format!("  {} waits", opened.number)),
                Action::Settled(settled) => {
                    self.journal.push(format!("  {} settled: {:?}", settled.number, settled.outcome));
                }
                other => self.journal.push(format!("  {other:?}")),
            }
            match action {
                Action::Forward => match &line {
                    Some((Peer::Client, bytes)) => self.to_agent.forward(bytes.clone()),
                    Some((Peer::Agent, _)) => {}
                    None => panic!("only a line can be forwarded"),
                },
                Action::Send(Peer::Agent, bytes) => self.to_agent.send(bytes),
                Action::EndAgentInput => self.to_agent.end(),
                Action::Opened(opened) => self.feed.opened(&opened),
                Action::Unanswered(opened, why) => self.feed.unanswered(&opened, &why),
                Action::Extended(opened, deadline) => {
                    *self.extended.entry(opened.number).or_default() += 1;
                    self.feed.extended(&opened, deadline);
                }
                Action::Judged(ticket, verdict) => self.verdicts.judged(ticket, verdict),
                Action::Settled(settled) => self.verdicts.settled(*settled, self.now),
                _ => {}
            }
        }
        self.write_on();
    }

    /// What the loop does after each event.
    fn write_on(&mut self) {
        let mut context = Context::from_waker(Waker::noop());
        if !self.to_agent.is_idle()
            && let Poll::Ready(Err(_)) = self.to_agent.poll_drain(&mut context)
        {
            self.to_agent.abandon();
        }
        self.verdicts.deliver(&self.to_agent, &self.feed);
        let book = self.inbox.book();
        let settled: Vec<_> = book.borrow().settled().skip(self.settled).cloned().collect();
        if settled.is_empty() {
            return;
        }
        let heard = self.heard();
        self.settled += settled.len();
        for view in settled {
            let outcome = &view.settlement.as_ref().expect("it is settled").outcome;
            assert!(self.bears_out(outcome, heard.get(&number(&view.id))), "{view:?}: {}", self.shown());
        }
    }

    /// Looks whether a responder has been told, and whether it is true.
    fn look(&mut self, place: usize) {
        let Some(told) = self.callers[place].waits.as_mut().now_or_never() else { return };
        let Caller { number, submission, .. } = self.callers.swap_remove(place);
        self.journal.push(format!("  {number} {submission:?} is told {told:?}"));
        let heard = self.heard();
        let response = heard.get(&number);
        let is_true = match (&told, &submission) {
            (Ok(()), Submission::Answer(answer)) => {
                response.is_some_and(|response| is(&Outcome::Answered(answer.clone()), response))
            }
            (Ok(()), Submission::Reject(_)) => {
                response.is_some_and(|response| is(&Outcome::Rejected(Reason::User), response))
            }
            (Ok(()), Submission::Extend(_)) => {
                let accepted = self.extensions_accepted.entry(number).or_default();
                *accepted += 1;
                self.extended.get(&number).is_some_and(|extended| *accepted <= *extended)
            }
            (Err(Refusal::Conflict(view)), _) => {
                let outcome = &view.settlement.as_ref().expect("it is settled").outcome;
                let same = match (outcome, &submission) {
                    (Outcome::Answered(given), Submission::Answer(answer)) => given == answer,
                    (Outcome::Rejected(_), Submission::Reject(_)) => true,
                    _ => false,
                };
                let by_somebody = !matches!(outcome, Outcome::Rejected(reason) if *reason != Reason::User);
                !same && by_somebody && response.is_some_and(|response| is(outcome, response))
            }
            (Err(Refusal::Gone(view)), _) => {
                let outcome = &view.settlement.as_ref().expect("it is settled").outcome;
                matches!(outcome, Outcome::Rejected(reason) if *reason != Reason::User)
                    && self.bears_out(outcome, response)
            }
            (Err(Refusal::DoesNotFit(_)), Submission::Answer(answer)) => *answer == wrong(),
            (Err(Refusal::NoDeadline), Submission::Extend(_)) => !self.timeout,
            (Err(Refusal::Unavailable), _) => self.may_be_lost(),
            _ => false,
        };
        *self.told.entry(told.as_ref().map_or_else(Refusal::name, |()| "ok")).or_default() += 1;
        assert!(
            is_true,
            "{number} {submission:?} was told {told:?}; the agent has {response:?}: {}",
            self.shown()
        );
    }

    /// Says whether the agent has got this outcome, or cannot get it any more where it is told that nobody can say.
    fn bears_out(&self, outcome: &Outcome, response: Option<&Value>) -> bool {
        match (outcome, response) {
            (Outcome::Rejected(Reason::AgentGone), _) => self.may_be_lost(),
            (_, Some(response)) => is(outcome, response),
            (Outcome::Rejected(reason), None) => *reason != Reason::User && self.may_be_lost(),
            (_, None) => false,
        }
    }

    fn may_be_lost(&self) -> bool {
        !self.agent_lives || self.to_agent.is_abandoned()
    }

    /// Returns the response that the agent has got to each question, and holds that there is one at most.
    fn heard(&self) -> BTreeMap<u64, Value> {
        let mut heard = BTreeMap::new();
        let pipe = self.pipe.lock().unwrap();
        for line in pipe.got.split_inclusive(|byte| *byte == b'\n').filter(|line| line.ends_with(b"\n")) {
            let Some(message) = Message::read(line) else {
                assert_eq!(line.trim_ascii_end(), BEGUN, "a line in another: {}", self.shown());
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

    /// Lets all come to its end. Nobody waits any more after that, and where the agent lives it has its responses.
    pub(super) fn end(&mut self) {
        self.pipe.lock().unwrap().room = usize::MAX;
        let broken = self.pipe.lock().unwrap().broken;
        if broken && self.agent_lives {
            self.play(&Move::AgentExits { breaks: true });
        }
        self.write_on();
        // What was begun does not keep us, and what was withdrawn is over after its time.
        self.client_says(&json!({ "jsonrpc": "2.0", "method": "x" }));
        self.pass(limits::WITHDRAW + Duration::from_millis(1));
        for session in 0..2 {
            self.play(&Move::CancelTurn { session });
        }
        // Of those who wait, only so many are in the queue at once.
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

fn number(id: &str) -> u64 {
    id.rsplit_once('-').expect("a number").1.parse().expect("a number")
}
