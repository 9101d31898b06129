//! The core of a protocol and its connections to the peers, the stream of outputs, and the outcomes that are queued for
//! the agent or wait to be queued.

use std::collections::VecDeque;

use bytes::Bytes;

use super::{
    base::HasBase,
    event::{Output, Peer},
};
use crate::wire::{
    frame::Splitter,
    outbox::{Mark, Outbox},
};

/// The two directions of the stream to one peer.
#[derive(Debug)]
pub(super) struct Connection {
    /// The bytes that were read, to be cut into lines.
    pub splitter: Splitter,
    /// The bytes to write.
    pub outbox: Outbox,
    /// Whether there is still something to read.
    pub is_read: bool,
}

impl Connection {
    fn new() -> Self {
        Connection { splitter: Splitter::default(), outbox: Outbox::default(), is_read: true }
    }
}

/// The core of a protocol and its connections.
#[derive(Debug)]
pub struct Link<P> {
    /// The core.
    pub core: P,
    client: Connection,
    agent: Connection,
    outputs: VecDeque<Output>,
    /// The peer whose outbox has the lines for the agent: under a conductor, that is the client.
    to_agent: Peer,
    /// The questions that are on their way to the agent, in the order of their marks.
    deliveries: VecDeque<(Mark, u64)>,
    /// The responses that cannot be written yet, oldest first.
    waiting: VecDeque<WaitingResponse>,
    /// Whether to end the stream to the agent behind the waiting responses.
    ends: bool,
}

/// A response of which no byte was written. The ledger must record the beginning of its delivery before the first byte
/// leaves.
#[derive(Debug)]
struct WaitingResponse {
    number: u64,
    line: Bytes,
    /// How many bytes had been queued for the agent when the response began to wait.
    behind: u64,
    /// Whether the response could be written, and waits only for the ledger.
    is_asked: bool,
}

impl<P: HasBase> Link<P> {
    /// Links this core to its peers. Lines for the agent are queued in the outbox of `to_agent`.
    pub(super) fn new(core: P, to_agent: Peer) -> Self {
        Link {
            core,
            client: Connection::new(),
            agent: Connection::new(),
            outputs: VecDeque::new(),
            to_agent,
            deliveries: VecDeque::new(),
            waiting: VecDeque::new(),
            ends: false,
        }
    }

    pub(super) fn connection(&self, peer: Peer) -> &Connection {
        match peer {
            Peer::Client => &self.client,
            Peer::Agent => &self.agent,
        }
    }

    pub(super) fn connection_mut(&mut self, peer: Peer) -> &mut Connection {
        match peer {
            Peer::Client => &mut self.client,
            Peer::Agent => &mut self.agent,
        }
    }

    /// Returns the core, for its judgement, and a connection at the same time.
    pub(super) fn judge_and_connection(&mut self, peer: Peer) -> (&P, &mut Connection) {
        match peer {
            Peer::Client => (&self.core, &mut self.client),
            Peer::Agent => (&self.core, &mut self.agent),
        }
    }

    /// Queues forwarded bytes.
    pub fn forward(&mut self, to: Peer, bytes: Bytes) {
        self.queue(to, |outbox| outbox.forward(bytes));
    }

    /// Queues a line of the bridge's own.
    pub fn send(&mut self, to: Peer, line: Bytes) {
        self.queue(to, |outbox| outbox.send(line));
    }

    /// Ends the stream to a peer behind everything that is queued or waits.
    pub fn end(&mut self, to: Peer) {
        if to == self.to_agent && !self.waiting.is_empty() {
            self.ends = true;
            self.ask_to_begin();
        } else {
            self.queue(to, Outbox::end);
        }
    }

    /// Queues the response to a question of the agent. If a ledger records its delivery, the response waits while other
    /// bytes stand before it, since writing those may take any time.
    pub fn respond(&mut self, number: u64, line: Bytes) {
        let outbox = &self.connection(self.to_agent).outbox;
        let behind = outbox.queued();
        if outbox.is_clear() || !self.core.base().notes_delivery(number) {
            self.send(self.to_agent, line);
            self.deliver(number);
        } else {
            self.waiting.push_back(WaitingResponse { number, line, behind, is_asked: false });
            self.say_it_waits(number);
        }
    }

    /// Queues a waiting response, now that the ledger has recorded the beginning of its delivery.
    pub(super) fn begin(&mut self, number: u64) {
        let place = self.waiting.iter().position(|waiting| waiting.number == number);
        // `abandon` may have dropped it meanwhile.
        let Some(WaitingResponse { line, .. }) = place.and_then(|place| self.waiting.remove(place)) else {
            return;
        };
        self.send(self.to_agent, line);
        self.deliver(number);
        if self.ends {
            self.end(self.to_agent);
        }
    }

    fn say_it_waits(&mut self, number: u64) {
        let id = self.core.base().desk.id(number);
        self.outputs.push_back(Output::Waits(id));
    }

    /// Marks the outcome of a question as delivered once all bytes that are queued for the agent by now have been
    /// written.
    pub fn deliver(&mut self, number: u64) {
        let outbox = &mut self.connection_mut(self.to_agent).outbox;
        match outbox.mark() {
            Some(mark) => self.deliveries.push_back((mark, number)),
            // The outbox is ending or abandoned, so it did not take the response.
            None => self.not_begun(number),
        }
    }

    /// Records that bytes of this peer's outbox were written.
    pub(super) fn flushed(&mut self, peer: Peer) {
        self.connection_mut(peer).outbox.flushed();
        // Marks are in the order of the outbox, so no mark after the first unpassed one has passed.
        while let Some((mark, number)) = self.deliveries.front().copied()
            && self.connection(self.to_agent).outbox.has_passed(mark)
        {
            self.deliveries.pop_front();
            self.core.base_mut().desk.delivered(number);
            self.tell();
        }
        if peer == self.to_agent {
            self.ask_to_begin();
        }
    }

    /// Asks the ledger to record the waiting responses that could be written now. In a flood of the client, some line
    /// may always be half written. A response then stops waiting as soon as more bytes were queued since it began to
    /// wait, and is queued after that line.
    fn ask_to_begin(&mut self) {
        let outbox = &self.connection(self.to_agent).outbox;
        let (is_idle, is_clear, queued) = (outbox.is_idle(), outbox.is_clear(), outbox.queued());
        // At the end of the stream, a half-written line gets no end, so the response must not wait for one.
        let ends = self.ends;
        let can_be =
            |waiting: &&mut WaitingResponse| is_idle && (is_clear || ends || queued > waiting.behind);
        for waiting in self.waiting.iter_mut().filter(|waiting| !waiting.is_asked).filter(can_be) {
            waiting.is_asked = true;
            self.outputs.push_back(Output::Begins(self.core.base().desk.id(waiting.number)));
        }
    }

    /// Drops the queue for a peer, because it reads no more.
    pub(super) fn abandon(&mut self, peer: Peer) {
        self.connection_mut(peer).outbox.abandon();
        // Part of a queued response may have left. Nothing of a waiting response has left, so only a waiting response
        // can be delivered again.
        if peer == self.to_agent {
            for (_, number) in std::mem::take(&mut self.deliveries) {
                self.undeliverable(number);
            }
            for WaitingResponse { number, .. } in std::mem::take(&mut self.waiting) {
                self.not_begun(number);
            }
        }
    }

    /// Adds to the stream of outputs.
    pub fn output(&mut self, output: Output) {
        self.outputs.push_back(output);
    }

    /// Returns the next output.
    pub(super) fn poll(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// Returns about how many bytes are held for the peers and their questions.
    pub(super) fn held_bytes(&self) -> usize {
        let connections = [&self.client, &self.agent].map(|connection| connection.outbox.held_bytes());
        connections.iter().sum::<usize>() + self.waiting_bytes() + self.core.base().desk.weight()
    }

    /// Returns how many bytes of responses wait.
    pub(super) fn waiting_bytes(&self) -> usize {
        self.waiting.iter().map(|waiting| waiting.line.len()).sum()
    }

    /// Records that an outcome cannot be delivered, and that nothing of it was written.
    fn not_begun(&mut self, number: u64) {
        if self.core.base().notes_delivery(number) {
            self.say_it_waits(number);
        }
        self.undeliverable(number);
    }

    fn undeliverable(&mut self, number: u64) {
        self.core.base_mut().desk.undeliverable(number);
        self.tell();
    }

    /// Moves the desk's notices to the outputs.
    fn tell(&mut self) {
        while let Some(notice) = self.core.base_mut().desk.poll() {
            self.outputs.push_back(Output::Notice(notice));
        }
    }

    fn queue(&mut self, to: Peer, change: impl FnOnce(&mut Outbox)) {
        let outbox = &mut self.connection_mut(to).outbox;
        let before = outbox.queued();
        change(outbox);
        let more = usize::try_from(outbox.queued() - before).unwrap_or(usize::MAX);
        // A flood of small pieces is one output, so that the shell does not wake for each of them.
        match self.outputs.back_mut() {
            _ if more == 0 => {}
            Some(Output::Queued(peer, bytes)) if *peer == to => *bytes += more,
            _ => self.outputs.push_back(Output::Queued(to, more)),
        }
    }
}
