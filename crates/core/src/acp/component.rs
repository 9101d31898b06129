//! The bridge as one component of a chain that an ACP conductor holds together: one connection for both peers.
//!
//! A line in the envelope of [`successor`] comes from the agent, and leaves for the client without it. A plain line
//! comes from the client, and leaves for the agent in an envelope. A request keeps its id: the conductor made that id
//! for this connection, so no other request on it has the same id. A response and a `$/cancel_request` then fit both
//! sides unchanged, and no table of ids is needed; the core only has to know which peer sent them.

use std::time::Duration;

use bytes::Bytes;

use super::core::Core;
use crate::{
    engine::{self, Action, Line, Output, Peer, SharedConnection, protocol},
    limits,
    wire::{
        envelope::{Envelope, Message, peek, responds_to},
        frame::{Piece, Verdict},
        line,
        method::{CANCEL_REQUEST, INITIALIZE},
        splice,
        successor::{self, Spelling, Tail},
    },
};

/// The error for a client that takes the component for an agent.
pub const NO_CONDUCTOR: &str = "`askbridge proxy` is a component for an ACP conductor, which begins with \
                                proxy/initialize, and not with initialize; start `askbridge run -- AGENT` instead";

/// Why a line that is too long to hold is refused: its method is not in the part that is held.
const LATE_METHOD: &str = "it is longer than 1 MiB, and its method does not precede its params";

/// The peer whose connection is the conductor's.
const CONDUCTOR: Peer = Peer::Client;

type Link = engine::Link<Core>;

/// The one connection of a bridge whose two peers are behind a conductor.
#[derive(Debug, Default)]
pub struct Component {
    /// How the conductor spelled its `initialize`, once it came.
    spelling: Option<Spelling>,
    /// The state of the rest of a long line that is streaming through.
    tail: Tail,
    /// When the bridge ends, even if the conductor has not read everything by then.
    ends: Option<Duration>,
}

impl SharedConnection<Core> for Component {
    /// Intercepts most lines: only responses that mean nothing to the core are forwarded unchanged.
    fn judge(&self, core: &Core, line: &[u8]) -> Verdict {
        match peek(line) {
            Envelope::Response(id) if id != "null" && whose(core, line).is_none() => Verdict::Forward,
            _ => Verdict::Intercept,
        }
    }

    fn take(&mut self, link: &mut Link, piece: Piece, now: Duration) {
        let line = match piece {
            Piece::Run(bytes) => return self.tail.edit(bytes, |bytes| link.forward(CONDUCTOR, bytes)),
            Piece::Line(bytes) => Line { bytes, whole: true },
            Piece::Head(bytes) => Line { bytes, whole: false },
        };
        link.output(Output::Intercepted(CONDUCTOR, line.bytes.clone()));
        if !line.whole {
            // The default is to drop the rest of the line. `forward` replaces it if the beginning is forwarded.
            self.tail = Tail::drop(&line.bytes);
        }
        match peek(&line.bytes) {
            Envelope::Call(method) => {
                self.call(link, &method.unescaped().unwrap_or_default(), &line, now);
            }
            Envelope::Response(id) => self.response(link, id, &line, now),
            Envelope::Batch => refuse(link, &line, "it is a batch, which ACP does not have"),
            Envelope::Undecided if !line.whole => self.undecided(link, &line),
            // A blank line says nothing.
            Envelope::Opaque | Envelope::Undecided if line.bytes.trim_ascii().is_empty() => {}
            Envelope::Opaque | Envelope::Undecided => refuse(link, &line, "it is no JSON-RPC message"),
        }
    }

    fn carry_out(&mut self, link: &mut Link, action: Action, now: Duration) {
        match action {
            // There is no line to forward.
            Action::Forward | Action::ForwardAs(_) => {}
            Action::Send(Peer::Client, bytes) => link.send(CONDUCTOR, bytes),
            Action::Send(Peer::Agent, bytes) => {
                if let Some((bytes, _)) = self.for_agent(&bytes, true) {
                    link.send(CONDUCTOR, bytes);
                }
            }
            // A response is never in an envelope.
            Action::Respond(number, bytes) => link.respond(number, bytes),
            Action::Deliver(number) => link.deliver(number),
            // This component has no process to end: the conductor ends the agent.
            Action::Tell(Output::EndAgentInput | Output::Finish | Output::Abandon) => self.finish(link, now),
            Action::Tell(Output::EndClientOutput | Output::Terminate | Output::Kill) => {}
            Action::Tell(output) => link.output(output),
        }
    }

    fn ends(&self) -> Option<Duration> {
        self.ends
    }
}

impl Component {
    /// Ends once the conductor has read the queue, but waits only for a moment.
    fn finish(&mut self, link: &mut Link, now: Duration) {
        if self.ends.is_none() {
            self.ends = Some(now.saturating_add(limits::FLUSH));
            link.end(CONDUCTOR);
            link.output(Output::Finish);
        }
    }

    fn call(&mut self, link: &mut Link, method: &str, line: &Line, now: Duration) {
        let spelled = |name: fn(Spelling) -> &'static str| {
            Spelling::ALL.into_iter().find(|spelling| name(*spelling) == method)
        };
        if let Some(spelling) = spelled(Spelling::initialize) {
            self.spelling = Some(spelling);
            self.initialize(link, line, now);
        } else if spelled(Spelling::successor).is_some() {
            self.successor(link, line, now);
        } else if method == CANCEL_REQUEST {
            // A cancellation is never in an envelope, since it names an ID of this connection.
            let message = line.message();
            let id = message.as_ref().and_then(|message| message.param("requestId"));
            let id = id.and_then(|id| std::str::from_utf8(id).ok());
            // Only the agent withdraws a question of the agent.
            let asked = id.is_some_and(|id| link.core.pending.knows(id));
            self.hears(link, if asked { Peer::Agent } else { Peer::Client }, line, Tail::default(), now);
        } else if method == INITIALIZE {
            answer(link, line, NO_CONDUCTOR);
            // After the conductor's handshake, one stray `initialize` does not end the chain.
            if self.spelling.is_none() {
                link.output(Output::NoConductor);
                self.finish(link, now);
            }
        } else {
            self.hears(link, Peer::Client, line, Tail::default(), now);
        }
    }

    fn initialize(&mut self, link: &mut Link, line: &Line, now: Duration) {
        let message = if line.whole { Message::read(&line.bytes) } else { None };
        match message.and_then(|_| splice::replace_member(&line.bytes, "method", "\"initialize\"")) {
            Some(bytes) => {
                let line = Line { bytes: bytes.into(), whole: true };
                self.hears(link, Peer::Client, &line, Tail::default(), now);
            }
            None => refuse(link, line, "its `initialize` is not JSON, or too long"),
        }
    }

    /// Handles a line in an envelope, which comes from the agent.
    fn successor(&mut self, link: &mut Link, line: &Line, now: Duration) {
        let unwrapped = match line.whole {
            true => successor::unwrap(&line.bytes).map(|bytes| (bytes, Tail::default())),
            false => successor::unwrap_beginning(&line.bytes),
        };
        match unwrapped {
            Some((bytes, rest)) => {
                self.hears(link, Peer::Agent, &Line { bytes, whole: line.whole }, rest, now)
            }
            None if line.whole => refuse(link, line, "it is an envelope without a call"),
            None => refuse(link, line, LATE_METHOD),
        }
    }

    fn response(&mut self, link: &mut Link, id: &str, line: &Line, now: Duration) {
        match whose(&link.core, &line.bytes) {
            Some(peer) => self.hears(link, peer, line, Tail::default(), now),
            // No request has the ID `null`: this is an error about a line that the conductor could not read. Forwarding
            // it would help neither peer, and could cause another such error.
            None if id == "null" => {
                link.output(Output::Refused("it is an error about a line that this bridge sent"))
            }
            None => self.forward(link, line.bytes.clone(), Tail::default()),
        }
    }

    /// Handles the beginning of a long line whose kind is not known yet.
    fn undecided(&mut self, link: &mut Link, line: &Line) {
        // A response needs no envelope, whichever peer it is for.
        if line.message().is_some_and(|message| message.responds()) {
            self.forward(link, line.bytes.clone(), Tail::default());
        } else {
            refuse(link, line, LATE_METHOD);
        }
    }

    /// Hands the core a line of this peer without its envelope, if the core intercepts it, and carries out the actions.
    /// If an agent's line is only a beginning, `rest` says how to treat the bytes that follow.
    fn hears(&mut self, link: &mut Link, from: Peer, line: &Line, rest: Tail, now: Duration) {
        let onward = match from {
            // A response to a pending question is never in an envelope, even if it has a `method`.
            Peer::Client if responds_to(&line.bytes).is_some_and(|id| link.core.pending.knows(id)) => {
                Some((line.bytes.clone(), rest))
            }
            Peer::Client => self.for_agent(&line.bytes, line.whole),
            Peer::Agent => Some((line.bytes.clone(), rest)),
        };
        // The line is refused before the core sees it: the core must not track a line that never arrives.
        let Some((bytes, mut rest)) = onward else {
            let why =
                if line.whole { "it is a call that is not JSON, or repeats a member" } else { LATE_METHOD };
            return refuse(link, line, why);
        };
        let actions = match link.core.judge(from, &line.bytes) {
            Verdict::Forward | Verdict::ForwardAlike(_) => {
                if from == Peer::Agent && line.whole {
                    link.core.base.heard.hear(&line.bytes, now);
                }
                vec![Action::Forward]
            }
            _ => protocol::handle_line(&mut link.core, from, line, now),
        };
        for action in actions {
            match action {
                Action::Forward => self.forward(link, bytes.clone(), std::mem::take(&mut rest)),
                // Only an agent's own question and a client's response to it are forwarded in another form. Neither is
                // in an envelope.
                Action::ForwardAs(bytes) => self.forward(link, bytes, std::mem::take(&mut rest)),
                action => self.carry_out(link, action, now),
            }
        }
    }

    /// Wraps a call in the envelope, and returns how to edit the rest of its line. Responses and cancellations have no
    /// envelope.
    fn for_agent(&self, line: &Bytes, whole: bool) -> Option<(Bytes, Tail)> {
        let spelling = self.spelling.unwrap_or_default();
        match peek(line) {
            Envelope::Call(method) if !method.is(CANCEL_REQUEST) => match whole {
                true => successor::wrap(line, spelling).map(|bytes| (bytes, Tail::default())),
                false => successor::wrap_beginning(line, spelling),
            },
            _ => Some((line.clone(), Tail::default())),
        }
    }

    /// Forwards a line, or the beginning of one. `rest` says how to treat the bytes that follow.
    fn forward(&mut self, link: &mut Link, bytes: Bytes, rest: Tail) {
        self.tail = rest;
        link.forward(CONDUCTOR, bytes);
    }
}

/// Returns which peer sent this response, if it means something to the core.
fn whose(core: &Core, response: &[u8]) -> Option<Peer> {
    Peer::ALL.into_iter().find(|peer| core.judge(*peer, response).intercepts())
}

/// Refuses a line that cannot be forwarded, with an error to its sender.
fn refuse(link: &mut Link, line: &Line, why: &'static str) {
    answer(link, line, &format!("cannot be forwarded: {why}"));
    link.output(Output::Refused(why));
}

/// Answers a request with an error. A line without an ID gets no response.
fn answer(link: &mut Link, line: &Line, why: &str) {
    let message = Message::read_prefix(&line.bytes).filter(|message| !message.responds());
    if let Some(id) = message.and_then(|message| message.id) {
        link.send(CONDUCTOR, line::error(id, line::INVALID_REQUEST, why));
    }
}
