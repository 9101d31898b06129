//! The bridge as one component of a chain that an ACP conductor holds together: one connection for both peers.
//!
//! What comes in the envelope of [`successor`] is the agent's, what comes plain is the client's, and it goes out the
//! other way round. A request goes on under the id that it came with: the conductor made that id for this
//! connection, so that no other request on it has the same. A response and a `$/cancel_request` then fit both sides
//! as they are, and no table of ids is needed; only the bridge must be told whose they are.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;

use super::{
    bridge::Bridge,
    event::{Action, Event, Line, Opened, Peer, Refused, Settled, Ticket, Unanswered},
};
use crate::wire::{
    envelope::{Envelope, Message, peek},
    frame::Verdict,
    line, splice,
    successor::{self, Spelling},
    tail::Tail,
};

/// What is to be said to a client that takes us for an agent.
pub const NO_CONDUCTOR: &str = "`askbridge proxy` is a component for an ACP conductor, which begins with \
                                proxy/initialize, and not with initialize; start `askbridge run -- AGENT` instead";

/// Never in an envelope: it names the id of the connection that it is on.
const CANCEL: &str = "$/cancel_request";

/// Why a line that is too long to hold is not passed on: what it is comes too late.
const LATE_METHOD: &str = "a line of more than 1 MiB whose method does not stand before its params";

/// What is to be done, in this order.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// These bytes go to the conductor: a line, or the beginning of the one that is coming.
    Write(Bytes),
    /// A question opened.
    Opened(Arc<Opened>),
    /// The client was asked, and the question stays open.
    Unanswered(Arc<Opened>, Unanswered),
    /// Four fifths of the time that a question has are over.
    Warned(Arc<Opened>),
    /// A question has another deadline.
    Extended(Arc<Opened>, Duration),
    /// What becomes of a submission. What it makes us say to the agent stands before it.
    Judged(Ticket, Result<(), Refused>),
    /// A question was settled.
    Settled(Box<Settled>),
    /// What came could not be passed on, for this reason.
    Refused(&'static str),
    /// The bridge ends as soon as the conductor has read what is for it.
    Finish,
    /// The same, since what should be a conductor began with `initialize`.
    NoConductor,
}

/// A bridge whose two peers are behind one connection.
#[derive(Debug)]
pub struct Component {
    bridge: Bridge,
    /// How the conductor spelled its `initialize`, once it came.
    spelling: Option<Spelling>,
    /// What becomes of the rest of the long line that is going through.
    tail: Tail,
    /// What the event at hand leads to.
    outputs: Vec<Output>,
}

impl Component {
    /// Puts this bridge under a conductor that has not said anything yet.
    pub fn new(bridge: Bridge) -> Self {
        Component { bridge, spelling: None, tail: Tail::default(), outputs: Vec::new() }
    }

    /// Says whether a line, or the beginning of a long one, is wanted. Most are: only the responses that mean
    /// nothing to the bridge pass as they are.
    pub fn judge(&self, line: &[u8]) -> Verdict {
        match peek(line) {
            Envelope::Response(id) if id != "null" && self.whose(line).is_none() => Verdict::Ordinary,
            _ => Verdict::Wanted,
        }
    }

    /// Says what a wanted line leads to.
    #[must_use]
    pub fn line(&mut self, line: &Line, now: Duration) -> Vec<Output> {
        if !line.whole {
            // Unless it turns out to go on.
            self.tail = Tail::drop(&line.bytes);
        }
        match peek(&line.bytes) {
            Envelope::Call(method) => self.call(&method.unescaped().unwrap_or_default(), line, now),
            Envelope::Response(id) => self.response(id, line, now),
            Envelope::Batch => self.refuse(line, "a batch, which ACP does not have"),
            Envelope::Undecided if !line.whole => self.undecided(line),
            // A blank line says nothing.
            Envelope::Opaque | Envelope::Undecided if line.bytes.trim_ascii().is_empty() => {}
            Envelope::Opaque | Envelope::Undecided => self.refuse(line, "no JSON-RPC message"),
        }
        std::mem::take(&mut self.outputs)
    }

    /// Hands on what passes without being looked at: ordinary lines, and what is still to come of a long one.
    pub fn pass(&mut self, bytes: Bytes, to: impl FnMut(Bytes)) {
        self.tail.edit(bytes, to);
    }

    /// Says what anything but a line leads to.
    #[must_use]
    pub fn handle(&mut self, event: Event, now: Duration) -> Vec<Output> {
        for action in self.bridge.handle(event, now) {
            self.perform(action);
        }
        std::mem::take(&mut self.outputs)
    }

    /// Returns when the next [`Event::Tick`] is due, if one is.
    pub fn next_deadline(&self) -> Option<Duration> {
        self.bridge.next_deadline()
    }

    /// Returns the name by which others find this question, where they can.
    pub fn name_of(&self, opened: &Opened) -> Option<String> {
        self.bridge.name_of(opened)
    }

    fn call(&mut self, method: &str, line: &Line, now: Duration) {
        let spelled = |name: fn(Spelling) -> &'static str| {
            Spelling::ALL.into_iter().find(|spelling| name(*spelling) == method)
        };
        if let Some(spelling) = spelled(Spelling::initialize) {
            self.spelling = Some(spelling);
            self.initialize(line, now);
        } else if spelled(Spelling::successor).is_some() {
            self.successor(line, now);
        } else if method == CANCEL {
            let message = line.message();
            let id = message.as_ref().and_then(|message| message.param("requestId"));
            let id = id.and_then(|id| std::str::from_utf8(id).ok());
            // What the agent asked is the agent's to take back, and all else the client's.
            let asked = id.is_some_and(|id| self.bridge.pending.knows(id));
            self.hears(if asked { Peer::Agent } else { Peer::Client }, line, Tail::default(), now);
        } else if method == "initialize" {
            self.answer(line, NO_CONDUCTOR);
            if self.spelling.is_none() {
                self.outputs.push(Output::NoConductor);
            }
        } else {
            self.hears(Peer::Client, line, Tail::default(), now);
        }
    }

    fn initialize(&mut self, line: &Line, now: Duration) {
        let message = if line.whole { Message::read(&line.bytes) } else { None };
        match message.and_then(|_| splice::replace_member(&line.bytes, "method", "\"initialize\"")) {
            Some(bytes) => {
                let line = Line { bytes: bytes.into(), whole: true };
                self.hears(Peer::Client, &line, Tail::default(), now);
            }
            None => self.refuse(line, "an initialization that is not JSON, or longer than any"),
        }
    }

    /// What comes in the envelope is the agent's.
    fn successor(&mut self, line: &Line, now: Duration) {
        let unwrapped = match line.whole {
            true => successor::unwrap(&line.bytes).map(|bytes| (bytes, Tail::default())),
            false => successor::unwrap_beginning(&line.bytes),
        };
        match unwrapped {
            Some((bytes, rest)) => self.hears(Peer::Agent, &Line { bytes, whole: line.whole }, rest, now),
            None if line.whole => self.refuse(line, "an envelope around no call"),
            None => self.refuse(line, LATE_METHOD),
        }
    }

    fn response(&mut self, id: &str, line: &Line, now: Duration) {
        match self.whose(&line.bytes) {
            Some(peer) => self.hears(peer, line, Tail::default(), now),
            // No request has this id: it is about a line that was not understood. Passed back, it would be no
            // better understood, and might be answered in kind.
            None if id == "null" => self.outputs.push(Output::Refused("a complaint about a line of ours")),
            None => self.forward(line.bytes.clone(), Tail::default()),
        }
    }

    /// Whose response this is, if it means something to the bridge.
    fn whose(&self, response: &[u8]) -> Option<Peer> {
        let mut peers = [Peer::Client, Peer::Agent].into_iter();
        peers.find(|peer| self.bridge.judge(*peer, response) == Verdict::Wanted)
    }

    /// The beginning of a long line that has not said yet what it is.
    fn undecided(&mut self, line: &Line) {
        // A response needs no envelope, whoever it is for.
        if line.message().is_some_and(|message| message.responds()) {
            self.forward(line.bytes.clone(), Tail::default());
        } else {
            self.refuse(line, LATE_METHOD);
        }
    }

    /// Shows the bridge what this peer said, as the peer said it, if it wants to see it, and does what it says.
    /// Where an agent's line is a beginning and goes on, `rest` becomes of what follows.
    fn hears(&mut self, from: Peer, line: &Line, rest: Tail, now: Duration) {
        let onward = match from {
            Peer::Client => self.for_agent(line),
            Peer::Agent => Some((line.bytes.clone(), rest)),
        };
        // The bridge is not to follow what cannot go on.
        let Some((bytes, mut rest)) = onward else {
            let why = if line.whole { "a call that is not JSON, or says a part twice" } else { LATE_METHOD };
            return self.refuse(line, why);
        };
        let actions = match self.bridge.judge(from, &line.bytes) {
            Verdict::Ordinary => vec![Action::Forward],
            Verdict::Wanted => self.bridge.handle(Event::Line(from, line.clone()), now),
        };
        for action in actions {
            match action {
                Action::Forward => self.forward(bytes.clone(), std::mem::take(&mut rest)),
                action => self.perform(action),
            }
        }
    }

    fn perform(&mut self, action: Action) {
        match action {
            Action::Send(Peer::Client, bytes) => self.outputs.push(Output::Write(bytes)),
            Action::Send(Peer::Agent, bytes) => {
                let line = self.for_agent(&Line { bytes, whole: true });
                self.outputs.extend(line.map(|(bytes, _)| Output::Write(bytes)));
            }
            Action::Opened(opened) => self.outputs.push(Output::Opened(opened)),
            Action::Unanswered(opened, why) => self.outputs.push(Output::Unanswered(opened, why)),
            Action::Warned(opened) => self.outputs.push(Output::Warned(opened)),
            Action::Extended(opened, deadline) => self.outputs.push(Output::Extended(opened, deadline)),
            Action::Judged(ticket, verdict) => self.outputs.push(Output::Judged(ticket, verdict)),
            Action::Settled(settled) => self.outputs.push(Output::Settled(settled)),
            // There is no process to be brought to its end: the conductor does that.
            Action::EndAgentInput | Action::Finish | Action::Abandon => self.outputs.push(Output::Finish),
            Action::Forward | Action::EndClientOutput | Action::Terminate | Action::Kill => {}
        }
    }

    /// Puts a call in its envelope, and says what becomes of the rest of it. Responses and cancellations have none.
    fn for_agent(&self, line: &Line) -> Option<(Bytes, Tail)> {
        let spelling = self.spelling.unwrap_or_default();
        match peek(&line.bytes) {
            Envelope::Call(method) if !method.is(CANCEL) => match line.whole {
                true => successor::wrap(&line.bytes, spelling).map(|bytes| (bytes, Tail::default())),
                false => successor::wrap_beginning(&line.bytes, spelling),
            },
            _ => Some((line.bytes.clone(), Tail::default())),
        }
    }

    /// The line that came goes on, or the beginning of it.
    fn forward(&mut self, bytes: Bytes, rest: Tail) {
        self.tail = rest;
        self.outputs.push(Output::Write(bytes));
    }

    /// Nobody can be told what was said, so who said it is.
    fn refuse(&mut self, line: &Line, why: &'static str) {
        self.answer(line, &format!("cannot be passed on: {why}"));
        self.outputs.push(Output::Refused(why));
    }

    /// Answers a request with an error. What has no id has no answer.
    fn answer(&mut self, line: &Line, why: &str) {
        let message = Message::read_prefix(&line.bytes).filter(|message| !message.responds());
        if let Some(id) = message.and_then(|message| message.id) {
            self.outputs.push(Output::Write(line::error(id, line::INVALID_REQUEST, why)));
        }
    }
}
