//! A bridge that is driven in memory, with a virtual clock: what comes out, in its order.
//! The tests of the core and the fuzz targets share it.

use std::time::Duration;

use askbridge_core::{
    acp::Core,
    engine::{Bridge, Event, Output, Peer, Protocol},
    limits::HOLD,
};

/// One thing that came out.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Out {
    /// These bytes arrived at this peer.
    Bytes(Peer, Vec<u8>),
    /// The shell was told.
    Told(Output),
}

/// A bridge and its clock. All that it queues arrives at once, in its order, unless the agent is made to stop reading.
pub(crate) struct Stage<P: Protocol = Core> {
    pub(crate) bridge: Bridge<P>,
    pub(crate) now: Duration,
    /// Whether the agent reads its stdin.
    pub(crate) agent_reads: bool,
}

impl<P: Protocol> Stage<P> {
    pub(crate) fn new(bridge: Bridge<P>) -> Self {
        Stage { bridge, now: Duration::ZERO, agent_reads: true }
    }

    /// A peer says these bytes.
    pub(crate) fn receive(&mut self, from: Peer, bytes: &[u8]) -> Vec<Out> {
        self.bridge.receive(from, bytes, self.now);
        self.come_out()
    }

    /// A peer says this line.
    pub(crate) fn line(&mut self, from: Peer, line: &str) -> Vec<Out> {
        self.receive(from, format!("{line}\n").as_bytes())
    }

    /// A peer says a line that is too long to hold and begins like this.
    pub(crate) fn long_line(&mut self, from: Peer, beginning: &[u8]) -> Vec<Out> {
        self.receive(from, &long_line(beginning))
    }

    /// A peer says no more.
    pub(crate) fn end(&mut self, from: Peer) -> Vec<Out> {
        self.bridge.ended(from, self.now);
        self.come_out()
    }

    /// A peer reads no more.
    pub(crate) fn break_off(&mut self, peer: Peer) -> Vec<Out> {
        self.bridge.broke(peer, self.now);
        self.come_out()
    }

    pub(crate) fn handle(&mut self, event: Event) -> Vec<Out> {
        self.bridge.handle(event, self.now);
        self.come_out()
    }

    /// Moves the clock on, with a tick at each deadline on the way.
    pub(crate) fn pass(&mut self, time: Duration) -> Vec<Out> {
        let until = self.now.saturating_add(time);
        let mut out = Vec::new();
        while let Some(deadline) = self.bridge.next_deadline().filter(|deadline| *deadline <= until) {
            self.now = self.now.max(deadline);
            out.extend(self.handle(Event::Tick));
        }
        self.now = until;
        out
    }

    /// Takes all that has come out. What was queued is written and flushed, which may lead to more.
    pub(crate) fn come_out(&mut self) -> Vec<Out> {
        let mut out = Vec::new();
        loop {
            let before = out.len();
            while let Some(output) = self.bridge.poll() {
                match output {
                    Output::Queued(Peer::Agent, _) if !self.agent_reads => {}
                    Output::Queued(to, count) => out.push(Out::Bytes(to, self.take(to, count))),
                    Output::Intercepted(..) => {}
                    output => out.push(Out::Told(output)),
                }
            }
            for peer in Peer::ALL {
                if peer == Peer::Client || self.agent_reads {
                    self.bridge.flushed(peer);
                    if self.bridge.outbox(peer).is_ending() && self.bridge.outbox(peer).is_empty() {
                        self.bridge.closed(peer);
                    }
                }
            }
            if out.len() == before {
                return out;
            }
        }
    }

    /// The agent reads all that waits for it.
    pub(crate) fn agent_reads_on(&mut self) -> Vec<Out> {
        self.agent_reads = true;
        let waiting = self.bridge.outbox(Peer::Agent).chunks().map(|chunk| chunk.len()).sum();
        let mut out = vec![Out::Bytes(Peer::Agent, self.take(Peer::Agent, waiting))];
        out.extend(self.come_out());
        out
    }

    fn take(&mut self, to: Peer, count: usize) -> Vec<u8> {
        // Chunk by chunk: byte by byte, the fuzz targets take long over lines of a MiB.
        let mut bytes = Vec::with_capacity(count);
        for chunk in self.bridge.outbox(to).chunks() {
            bytes.extend_from_slice(&chunk[..chunk.len().min(count - bytes.len())]);
        }
        assert_eq!(bytes.len(), count, "the outbox has what it said");
        self.bridge.wrote(to, count);
        bytes
    }
}

/// Returns a line that is too long to hold and begins like this. What it is stands in the beginning: behind it there is
/// nothing but white space.
pub(crate) fn long_line(beginning: &[u8]) -> Vec<u8> {
    let mut line = beginning.to_vec();
    line.resize(HOLD.max(beginning.len()) + 1, b' ');
    line.push(b'\n');
    line
}

/// Returns what arrived at a peer.
pub(crate) fn arrived(out: &[Out], at: Peer) -> Vec<u8> {
    let bytes = out.iter().filter_map(|out| match out {
        Out::Bytes(to, bytes) if *to == at => Some(&bytes[..]),
        _ => None,
    });
    bytes.collect::<Vec<_>>().concat()
}

/// Returns the lines that arrived at a peer.
pub(crate) fn lines(out: &[Out], at: Peer) -> Vec<String> {
    String::from_utf8_lossy(&arrived(out, at)).lines().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use askbridge_core::acp::{Bridge, Config};

    use super::*;

    #[test]
    fn what_happens_on_a_stage_comes_out_in_its_order() {
        let mut stage = Stage::new(Bridge::new(Config::default()));
        assert_eq!(lines(&stage.line(Peer::Client, "{}"), Peer::Agent), ["{}"]);
        stage.agent_reads = false;
        assert_eq!(arrived(&stage.receive(Peer::Client, b"{}\n"), Peer::Agent), b"");
        assert_eq!(arrived(&stage.agent_reads_on(), Peer::Agent), b"{}\n");
        let long = stage.long_line(Peer::Agent, b"{}");
        assert_eq!(arrived(&long, Peer::Client).len(), HOLD + 2);
        assert_eq!(stage.end(Peer::Agent), [Out::Told(Output::EndClientOutput)]);
        assert_eq!(stage.handle(Event::AgentExited { group: false }), [Out::Told(Output::Finish)]);
        assert_eq!(stage.break_off(Peer::Client), []);
        assert_eq!(stage.pass(Duration::from_secs(60)), [Out::Told(Output::Abandon)]);
    }
}
