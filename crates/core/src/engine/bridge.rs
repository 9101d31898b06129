//! The bridge: bytes and events go in, bytes and [`Output`]s come out. Reading, writing, processes and the clock are
//! left to the shell.
//!
//! The shell reads into [`Bridge::space`], or hands bytes to [`Bridge::receive`], while [`Bridge::reads`] says so: that
//! is the back-pressure. It writes what is in [`Bridge::outbox`], and says so with [`Bridge::wrote`] and
//! [`Bridge::flushed`]. After each call it carries out what [`Bridge::poll`] returns. Time is what has passed since the
//! bridge started, and never goes back. The same calls give the same bytes and outputs (I3).

use std::time::Duration;

use bytes::{Bytes, BytesMut};

use super::{
    base::Introductions,
    event::{Action, Event, Line, Output, Peer},
    link::Link,
    protocol::{self, Protocol, SharedConnection},
};
use crate::{
    desk::Changes,
    limits,
    wire::{
        frame::{Piece, Verdict},
        outbox::Outbox,
    },
};

/// One agent, one client, and the questions between them.
#[derive(Debug)]
pub struct Bridge<P: Protocol> {
    link: Link<P>,
    /// The connection that both peers share, unless each has its own.
    shared: Option<P::Shared>,
}

impl<P: Protocol> Bridge<P> {
    /// Returns a bridge around the core of a protocol, between an agent and a client that have not said anything yet,
    /// each on its own connection.
    pub fn around(core: P) -> Self {
        Bridge { link: Link::new(core, Peer::Agent), shared: None }
    }

    /// Returns a bridge whose two peers are behind one connection, which is that of [`Peer::Client`].
    pub fn sharing(core: P, shared: P::Shared) -> Self {
        Bridge { link: Link::new(core, Peer::Client), shared: Some(shared) }
    }

    /// Returns the buffer into which bytes of this peer are read. [`Bridge::received`] looks at them.
    pub fn space(&mut self, from: Peer) -> &mut BytesMut {
        self.link.connection_mut(from).splitter.space()
    }

    /// Returns the bytes of this peer that were read and are not forwarded or handled yet.
    pub fn unfinished(&self, from: Peer) -> &[u8] {
        self.link.connection(from).splitter.left()
    }

    /// Splits the bytes in [`Bridge::space`]. Returns how many of them are forwarded now, if nothing else was queued
    /// for the other peer meanwhile.
    pub fn received(&mut self, from: Peer, now: Duration) -> Option<usize> {
        let queued = self.outbox(from.other()).queued();
        let mut passed = 0;
        loop {
            // The judge borrows the core while the splitter is borrowed as well.
            let (core, connection) = self.link.judge_and_connection(from);
            let shared = self.shared.as_ref();
            let piece = connection.splitter.next(|line| judge(shared, core, from, line));
            let Some(piece) = piece else { break };
            passed += self.take(from, piece, now);
            if self.link.connection(from).splitter.is_empty() {
                break;
            }
        }
        let is_all = self.outbox(from.other()).queued() == queued + passed as u64;
        (self.shared.is_none() && is_all).then_some(passed)
    }

    /// Takes bytes of this peer.
    pub fn receive(&mut self, from: Peer, bytes: &[u8], now: Duration) {
        for bytes in bytes.chunks(limits::READ) {
            self.space(from).extend_from_slice(bytes);
            self.received(from, now);
        }
    }

    /// Records the end of this peer's stream, whose last line may lack a terminator.
    pub fn ended(&mut self, from: Peer, now: Duration) {
        let (core, connection) = self.link.judge_and_connection(from);
        connection.is_read = false;
        let shared = self.shared.as_ref();
        match connection.splitter.end(|line| judge(shared, core, from, line)) {
            // Nothing follows, so the beginning of the line is the whole line.
            Some(Piece::Head(bytes)) => self.take(from, Piece::Line(bytes), now),
            Some(piece) => self.take(from, piece, now),
            None => 0,
        };
        let actions = match from {
            Peer::Client => protocol::client_gone(&mut self.link.core, now),
            Peer::Agent => protocol::agent_output_ended(&mut self.link.core, now),
        };
        self.perform(actions, now);
    }

    /// Records that this peer reads no more.
    pub fn broke(&mut self, peer: Peer, now: Duration) {
        self.link.abandon(peer);
        // An agent that closed its stdin may still write. Its output is forwarded, and lines for it are lost, as they
        // would be in a pipe that it does not read.
        if peer == Peer::Client {
            let actions = protocol::client_gone(&mut self.link.core, now);
            self.perform(actions, now);
        }
    }

    /// Handles an event that is neither about bytes nor about the end of a stream.
    pub fn handle(&mut self, event: Event, now: Duration) {
        if let Event::Begins(number) = event {
            return self.link.begin(number);
        }
        // The bridge only waits for the conductor to read the rest: a signal or the deadline cuts that short.
        if let Some(until) = self.shared.as_ref().and_then(SharedConnection::ends)
            && (event == Event::Signal || (event == Event::Tick && until <= now))
        {
            return self.link.output(Output::Abandon);
        }
        let actions = protocol::handle_event(&mut self.link.core, event, now);
        self.perform(actions, now);
    }

    /// Returns the bytes that are to be written to this peer.
    pub fn outbox(&self, to: Peer) -> &Outbox {
        &self.link.connection(to).outbox
    }

    /// Records that so many bytes of the outbox were written.
    pub fn wrote(&mut self, to: Peer, count: usize) {
        self.link.connection_mut(to).outbox.advance(count);
    }

    /// Records that the writer has flushed everything that was written.
    pub fn flushed(&mut self, to: Peer) {
        self.link.flushed(to);
    }

    /// Records that the writer was closed, because the outbox was ending.
    pub fn closed(&mut self, to: Peer) {
        self.link.connection_mut(to).outbox.closed();
    }

    /// Returns whether this peer is to be read now: it has not ended, what it wrote before has been forwarded, and the
    /// bridge's own lines that it causes do not pile up.
    pub fn reads(&self, from: Peer) -> bool {
        let connection = self.link.connection(from);
        match &self.shared {
            // The bridge writes both directions to this one outbox, so the outbox alone gives the conductor
            // back-pressure.
            Some(shared) => {
                from == Peer::Client
                    && connection.is_read
                    && shared.ends().is_none()
                    && connection.outbox.is_idle()
            }
            None => {
                // The bridge reads again only once it has written what it read last. Until then, the kernel's pipe
                // holds further bytes, and its capacity is the back-pressure for the peer.
                connection.is_read
                    && self.outbox(from.other()).is_idle()
                    && connection.outbox.own_bytes() < limits::OWN_LINES
            }
        }
    }

    /// Returns whether [`Event::Submitted`] may be handed in now, without too many bytes of resulting lines in the
    /// queue.
    pub fn takes_submissions(&self) -> bool {
        let (peer, ends) = match &self.shared {
            Some(shared) => (Peer::Client, shared.ends().is_some()),
            None => (Peer::Agent, false),
        };
        !ends && self.outbox(peer).own_bytes() + self.link.waiting_bytes() < limits::OWN_LINES
    }

    /// Returns when the next [`Event::Tick`] is due, if one is.
    pub fn next_deadline(&self) -> Option<Duration> {
        let ends = self.shared.as_ref().and_then(SharedConnection::ends);
        ends.or_else(|| protocol::next_deadline(&self.link.core))
    }

    /// Returns the next output for the shell.
    pub fn poll(&mut self) -> Option<Output> {
        self.link.poll()
    }

    /// Returns which questions changed since the last call, for followers.
    pub fn take_changes(&mut self) -> Option<Changes> {
        self.link.core.base_mut().desk.take_changes()
    }

    /// Returns the last introductions of the peers, once after each change.
    pub fn take_introductions(&mut self) -> Option<Introductions> {
        self.link.core.base_mut().take_introductions()
    }

    /// Returns whether [`Bridge::take_changes`] has something to return.
    pub fn has_changes(&self) -> bool {
        self.link.core.base().desk.has_changes()
    }

    /// Returns how many questions can still be answered.
    pub fn open_questions(&self) -> usize {
        self.link.core.open_questions()
    }

    /// Returns how many lines of this peer came to their end.
    pub fn lines(&self, from: Peer) -> u64 {
        self.link.connection(from).splitter.lines()
    }

    /// Returns about how many bytes are held: those of the outboxes, and those of the questions that are open or on
    /// their way.
    pub fn held_bytes(&self) -> usize {
        self.link.held_bytes()
    }

    /// Returns whether no process is left that could write to the agent's output on its behalf.
    pub fn agent_is_over(&self) -> bool {
        self.link.core.base().lifecycle.agent_is_over()
    }

    /// Forwards a run of ordinary lines, or lets the protocol decide about an intercepted line. Returns how many bytes
    /// were forwarded unchanged.
    fn take(&mut self, from: Peer, piece: Piece, now: Duration) -> usize {
        if let Some(shared) = &mut self.shared {
            // Which peer sent a line is only known once it is out of its envelope.
            shared.take(&mut self.link, piece, now);
            return 0;
        }
        let line = match piece {
            Piece::Run(bytes) => {
                if from == Peer::Agent {
                    self.link.core.base_mut().heard.hear(&bytes, now);
                }
                return self.forward(from, bytes);
            }
            Piece::Line(bytes) => Line { bytes, whole: true },
            Piece::Head(bytes) => Line { bytes, whole: false },
        };
        // The line is reported before the actions, so that a trace shows it above its consequences.
        self.link.output(Output::Intercepted(from, line.bytes.clone()));
        let actions = protocol::handle_line(&mut self.link.core, from, &line, now);
        let goes_on = |action: &Action| matches!(action, Action::Forward | Action::ForwardAs(_));
        // The rest of a long line must not be forwarded without its beginning.
        if !line.whole && !actions.iter().any(goes_on) {
            self.link.connection_mut(from).splitter.drop_rest();
        }
        // Forwarding is handled here and not in `carry_out`, because only here there is a line to forward.
        let mut passed = 0;
        for action in actions {
            match action {
                Action::Forward => passed += self.forward(from, line.bytes.clone()),
                Action::ForwardAs(bytes) => self.link.forward(from.other(), bytes),
                action => self.carry_out(action),
            }
        }
        passed
    }

    /// Forwards these bytes of a peer, and returns how many they are.
    fn forward(&mut self, from: Peer, bytes: Bytes) -> usize {
        let count = bytes.len();
        self.link.forward(from.other(), bytes);
        count
    }

    fn perform(&mut self, actions: Vec<Action>, now: Duration) {
        for action in actions {
            match &mut self.shared {
                Some(shared) => shared.carry_out(&mut self.link, action, now),
                None => self.carry_out(action),
            }
        }
    }

    /// Carries out an action that needs no intercepted line.
    fn carry_out(&mut self, action: Action) {
        match action {
            // There is no intercepted line to forward.
            Action::Forward | Action::ForwardAs(_) => {}
            Action::Send(to, line) => self.link.send(to, line),
            Action::Respond(number, line) => self.link.respond(number, line),
            Action::Deliver(number) => self.link.deliver(number),
            Action::Tell(output) => {
                match output {
                    Output::EndAgentInput => {
                        // The agent could not receive any further line of the client.
                        self.link.connection_mut(Peer::Client).is_read = false;
                        self.link.end(Peer::Agent);
                    }
                    Output::EndClientOutput => self.link.end(Peer::Client),
                    _ => {}
                }
                self.link.output(output);
            }
        }
    }
}

fn judge<P: Protocol>(shared: Option<&P::Shared>, core: &P, from: Peer, line: &[u8]) -> Verdict {
    match shared {
        Some(shared) => shared.judge(core, line),
        None => core.judge(from, line),
    }
}
