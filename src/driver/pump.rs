//! The loop: moves bytes between the peers and the bridge, tells the bridge what happens, and lets the shell carry out
//! the bridge's outputs.

use std::{
    ffi::OsString,
    future::{Future, poll_fn},
    io,
    pin::pin,
    process::{ExitCode, ExitStatus},
    sync::Arc,
    task::{Context, Poll},
};

use askbridge_control::inbox::Traffic;
use askbridge_core::engine::{Bridge, Event, Peer, Protocol};
use askbridge_os::{exit, signals::Signals};
use tokio::{task::yield_now, time::Instant};

use super::{
    FatalError,
    agent::Agent,
    lines::{Source, Target},
    shell::{self, Course, Shell},
    stdio,
    timer::Timer,
};
use crate::limits;

/// Why [`Pump::poll`] is ready.
enum Pause {
    /// The bridge has ended.
    Over,
    /// A submission was taken, and other tasks get a turn before the next one.
    Yield,
}

/// The stream to one peer.
struct Stream {
    source: Source,
    target: Target,
}

struct Pump<P: Protocol> {
    bridge: Bridge<P>,
    shell: Shell,
    signals: Signals,
    started: Instant,
    traffic: Option<Arc<Traffic>>,
    client: Stream,
    /// `None` under a conductor, as one connection then serves both peers.
    agent: Option<Stream>,
    timer: Timer,
    /// How many bytes of the agent's output are still to be read, once the agent and its group have ended. It is
    /// bounded, since a process outside of the group may hold the pipe open and write for ever.
    left: Option<u64>,
    exited: bool,
    status: Option<ExitStatus>,
    /// When the agent's process group is checked next. The system sends no event when its last process ends.
    group_check: Option<Instant>,
}

/// Starts the agent and forwards until it has ended. Returns the agent's exit code.
pub(super) async fn run<P: Protocol>(
    bridge: Bridge<P>,
    mut shell: Shell,
    traffic: Arc<Traffic>,
    command: &[OsString],
    signals: Signals,
) -> Result<ExitCode, FatalError> {
    let (agent, agent_stdin, agent_stdout) = Agent::start(command)?;
    shell.agent = Some(agent);
    let mut pump = Pump::new(bridge, shell, signals)?;
    pump.agent = Some(Stream { source: Source::new(agent_stdout), target: Target::new(agent_stdin) });
    pump.traffic = Some(traffic);
    pump.run().await;
    Ok(pump.exit_code().await)
}

/// Forwards until the conductor has left.
pub(super) async fn run_under_conductor<P: Protocol>(
    bridge: Bridge<P>,
    shell: Shell,
    signals: Signals,
) -> Result<ExitCode, FatalError> {
    let mut pump = Pump::new(bridge, shell, signals)?;
    pump.run().await;
    if pump.shell.lacks_conductor { Err(FatalError::NoConductor) } else { Ok(ExitCode::from(exit::OK)) }
}

impl<P: Protocol> Pump<P> {
    fn new(bridge: Bridge<P>, shell: Shell, signals: Signals) -> Result<Self, FatalError> {
        let failed = |source| FatalError::SetUp { what: "stdin and stdout", source };
        let (stdin, stdout) = stdio::take().map_err(failed)?;
        Ok(Pump {
            bridge,
            shell,
            signals,
            started: Instant::now(),
            traffic: None,
            client: Stream { source: Source::new(stdin), target: Target::new(stdout) },
            agent: None,
            timer: Timer::new().map_err(|source| FatalError::SetUp { what: "the timer", source })?,
            left: None,
            exited: false,
            status: None,
            group_check: None,
        })
    }

    async fn run(&mut self) {
        while let Pause::Yield = poll_fn(|cx| self.poll(cx)).await {
            yield_now().await;
        }
        self.shell.finish(&mut self.bridge);
    }

    /// Works in rounds until there is nothing left to do now. A round writes, reads each peer once, checks the
    /// processes and the clock, and takes one submission, so that no source of work keeps another from its turn (I7).
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Pause> {
        let mut quiet = false;
        loop {
            let writes = self.write(cx);
            let reads = self.read(cx);
            let (mut happens, mut submitted) = (false, false);
            // If the last round found no event, its polls registered the waker, so a new event wakes the task. They are
            // polled again after a read or a write, which may have set a deadline or made room for a submission.
            if writes || reads || !quiet {
                happens = self.poll_events(cx);
                submitted = self.poll_submission(cx);
                quiet = !self.write(cx) && !happens;
            }
            self.shell.hand_over(cx, &mut self.bridge);
            if self.is_over() {
                return Poll::Ready(Pause::Over);
            }
            if submitted {
                return Poll::Ready(Pause::Yield);
            }
            if !reads && !happens {
                return Poll::Pending;
            }
        }
    }

    fn is_over(&self) -> bool {
        match self.shell.course {
            Course::Running => false,
            Course::Finishing => self.bridge.outbox(Peer::Client).is_idle(),
            Course::Abandoned => true,
        }
    }

    /// Writes what can be written. Returns whether there was something to write.
    fn write(&mut self, cx: &mut Context<'_>) -> bool {
        let mut writes = false;
        for peer in [Peer::Agent, Peer::Client] {
            if self.bridge.outbox(peer).is_idle() {
                continue;
            }
            writes = true;
            let (target, source) = match (peer, &mut self.agent) {
                (Peer::Client, Some(agent)) => (&mut self.client.target, &mut agent.source),
                (Peer::Client, None) => (&mut self.client.target, &mut self.client.source),
                (Peer::Agent, Some(agent)) => (&mut agent.target, &mut self.client.source),
                (Peer::Agent, None) => continue,
            };
            if let Poll::Ready(Err(error)) = target.poll_drain(cx, &mut self.bridge, peer, source) {
                tracing::debug!(?peer, %error, "stopped reading");
                self.bridge.broke(peer, self.started.elapsed());
            }
            self.shell.carry_out(&mut self.bridge);
        }
        writes
    }

    /// Reads once from each peer that the bridge wants to read. Returns whether there was something.
    fn read(&mut self, cx: &mut Context<'_>) -> bool {
        let mut moves = false;
        for peer in Peer::ALL {
            if !self.bridge.reads(peer) {
                continue;
            }
            match self.poll_read(cx, peer) {
                Poll::Ready(Ok(length @ 1..)) => self.received(peer, length),
                Poll::Ready(result) => {
                    log_end(peer, result);
                    self.bridge.ended(peer, self.started.elapsed());
                }
                Poll::Pending => continue,
            }
            moves = true;
            self.shell.carry_out(&mut self.bridge);
        }
        moves
    }

    fn poll_read(&mut self, cx: &mut Context<'_>, peer: Peer) -> Poll<io::Result<usize>> {
        match (peer, &mut self.agent) {
            (Peer::Client, _) => self.client.source.poll_read(cx, self.bridge.space(peer)),
            (Peer::Agent, Some(agent)) => {
                let source = &mut agent.source;
                // What the agent wrote is in the pipe when it exits. The end of the stream may never come: an orphan
                // of the agent can keep the pipe open.
                if self.bridge.agent_is_over() && *self.left.get_or_insert_with(|| source.waiting()) == 0 {
                    return Poll::Ready(Ok(0));
                }
                source.poll_read(cx, self.bridge.space(peer))
            }
            (Peer::Agent, None) => Poll::Pending,
        }
    }

    fn received(&mut self, peer: Peer, length: usize) {
        if peer == Peer::Agent {
            self.left = self.left.map(|left| left.saturating_sub(length as u64));
        }
        let passed = self.bridge.received(peer, self.started.elapsed());
        let (source, target) = match (peer, &mut self.agent) {
            (Peer::Client, Some(agent)) => (&mut self.client.source, &agent.target),
            (Peer::Agent, Some(agent)) => (&mut agent.source, &self.client.target),
            (_, None) => (&mut self.client.source, &self.client.target),
        };
        source.looked_at(target, passed, self.bridge.unfinished(peer));
        let bytes = source.bytes;
        if let Some(traffic) = &self.traffic {
            let count = if peer == Peer::Client { &traffic.client } else { &traffic.agent };
            count.set(self.bridge.lines(peer), bytes);
        }
    }

    /// Notifies the bridge of signals, of the agent's end, of deliveries that may begin, of a new timeout, and of its
    /// deadline. Returns whether there was something.
    fn poll_events(&mut self, cx: &mut Context<'_>) -> bool {
        let mut moves = false;
        if pin!(self.signals.next()).poll(cx).is_ready() {
            self.happened(Event::Signal);
            moves = true;
        }
        if !self.exited
            && let Some(Poll::Ready(status)) =
                self.shell.agent.as_mut().map(|agent| pin!(agent.exit()).poll(cx))
        {
            (self.exited, self.status) = (true, status);
            let group = self.shell.agent.as_mut().is_some_and(Agent::group_lives);
            self.group_check = group.then(|| Instant::now() + limits::GROUP_CHECK);
            self.happened(Event::AgentExited { group });
            moves = true;
        }
        // The number of open questions bounds this loop.
        while let Poll::Ready(number) = self.shell.port.poll_begun(cx) {
            self.happened(Event::Begins(number));
            moves = true;
        }
        if let Some(timeouts) = &mut self.shell.timeouts
            && let Poll::Ready(Some((timeout, set_at))) = timeouts.poll_recv(cx)
        {
            let since = Instant::from_std(set_at).saturating_duration_since(self.started);
            self.happened(Event::Timeout { timeout, since });
            moves = true;
        }
        // A deadline that overflows the clock never comes.
        let deadline = self.bridge.next_deadline().and_then(|deadline| self.started.checked_add(deadline));
        let due = [deadline, self.group_check].into_iter().flatten().min();
        if self.timer.poll(cx, due).is_ready() {
            self.timer_fired(deadline);
            moves = true;
        }
        moves
    }

    fn timer_fired(&mut self, deadline: Option<Instant>) {
        let now = Instant::now();
        if self.group_check.is_some_and(|check| check <= now) {
            let lives = self.shell.agent.as_mut().is_some_and(Agent::group_lives);
            // Once the bridge has given up on a group that does not end, the group is no longer checked.
            let waits = lives && !self.bridge.agent_is_over();
            self.group_check = waits.then(|| now + limits::GROUP_CHECK);
            if !lives {
                self.happened(Event::GroupEnded);
            }
        }
        if deadline.is_some_and(|deadline| deadline <= now) {
            self.happened(Event::Tick);
        }
    }

    fn happened(&mut self, event: Event) {
        tracing::debug!(?event, "happened");
        self.bridge.handle(event, self.started.elapsed());
        self.shell.carry_out(&mut self.bridge);
    }

    /// Takes one submission, if there is one. Returns whether there was.
    fn poll_submission(&mut self, cx: &mut Context<'_>) -> bool {
        if !self.bridge.takes_submissions() {
            return false;
        }
        let Poll::Ready(submitted) = self.shell.port.poll_next(cx) else { return false };
        shell::submitted(&submitted);
        self.bridge.handle(Event::Submitted(submitted), self.started.elapsed());
        self.shell.carry_out(&mut self.bridge);
        true
    }

    /// Returns the exit code that tells how the agent ended.
    async fn exit_code(mut self) -> ExitCode {
        let Some(agent) = &mut self.shell.agent else { return ExitCode::from(exit::FAILED) };
        if !self.exited {
            self.status = agent.exit_soon().await;
        }
        // The copy is awaited even if its tail is not logged below, so that our stderr has all of it before we exit.
        let words = agent.last_words().await;
        let Some(status) = self.status else { return ExitCode::from(exit::FAILED) };
        if !status.success() && !self.shell.agent_is_ending {
            let words = String::from_utf8_lossy(&words);
            tracing::warn!(%status, stderr = ?words.trim_end(), "the agent failed");
        }
        exit::of_agent(status)
    }
}

fn log_end(peer: Peer, result: io::Result<usize>) {
    match result {
        Ok(_) => tracing::debug!(?peer, "its output ended"),
        Err(error) => tracing::warn!(?peer, %error, "its output could not be read; taken as its end"),
    }
}
