//! The loop: waits for the next thing to happen, tells the engine, and does what it says.

use std::{
    ffi::OsString,
    future::poll_fn,
    io,
    ops::ControlFlow,
    process::{ExitCode, ExitStatus},
    sync::Arc,
    task::Poll,
};

use tokio::time::{Instant, sleep, sleep_until};

use super::{
    FatalError,
    agent::Agent,
    lines::{Sink, Source},
    report, stdio,
    verdicts::Verdicts,
};
use crate::{
    acp::{Action, Bridge, Config, Event, Line, Peer},
    control::{
        Traffic,
        old::{Feed, port::Command},
    },
    exit, limits,
    signals::Signals,
    terminal::printable_bytes,
    wire::frame::Piece,
};

/// What the loop woke up for.
enum Step {
    Read(Peer, io::Result<usize>),
    Wrote(Peer, io::Result<()>),
    Exited(io::Result<ExitStatus>),
    Happened(Event),
    GroupCheck,
    Wanted(Command),
}

struct Pump {
    bridge: Bridge,
    feed: Feed,
    verdicts: Verdicts,
    traffic: Arc<Traffic>,
    agent: Agent,
    signals: Signals,
    started: Instant,
    from_client: Source,
    from_agent: Source,
    to_client: Sink,
    to_agent: Sink,
    client_reads: bool,
    agent_reads: bool,
    exited: bool,
    /// How many bytes of the agent's output are still to be read, once nobody is left who could write on its
    /// behalf: a process outside of its group may hold it open, and write, for ever.
    left: Option<u64>,
    status: Option<ExitStatus>,
    /// Whether the agent was asked to end.
    asked: bool,
    finishing: bool,
}

/// Starts the agent and forwards until it has ended.
pub(super) async fn run(
    config: Config,
    feed: Feed,
    traffic: Arc<Traffic>,
    command: &[OsString],
    signals: Signals,
) -> Result<ExitCode, FatalError> {
    let set_up = |what| move |source| FatalError::SetUp { what, source };
    let (agent, agent_stdin, agent_stdout) = Agent::start(command)?;
    let (stdin, stdout) = stdio::take().map_err(set_up("stdin and stdout"))?;
    let pump = Pump {
        bridge: Bridge::new(config),
        feed,
        verdicts: Verdicts::default(),
        traffic,
        agent,
        signals,
        started: Instant::now(),
        from_client: Source::new(stdin),
        from_agent: Source::new(agent_stdout),
        to_client: Sink::new(stdout),
        to_agent: Sink::new(agent_stdin),
        client_reads: true,
        agent_reads: true,
        exited: false,
        left: None,
        status: None,
        asked: false,
        finishing: false,
    };
    Ok(pump.run().await)
}

impl Pump {
    async fn run(mut self) -> ExitCode {
        while !(self.finishing && self.to_client.is_idle()) {
            let step = self.step().await;
            if self.take(step).is_break() || self.write_on().await.is_break() {
                break;
            }
            self.verdicts.deliver(&self.to_agent, &self.feed);
        }
        if !self.exited {
            self.status = self.agent.exit_soon().await;
        }
        let words = self.agent.last_words().await;
        let Some(status) = self.status else { return ExitCode::from(exit::FAILED) };
        if !status.success() && !self.asked {
            let words = String::from_utf8_lossy(&words);
            tracing::warn!(%status, stderr = ?words.trim_end(), "the agent failed");
        }
        exit::of_agent(status)
    }

    /// Writes what can be written at once, which is most often all. Waiting for the rest is left to `step`.
    async fn write_on(&mut self) -> ControlFlow<()> {
        for peer in [Peer::Agent, Peer::Client] {
            let sink = match peer {
                Peer::Agent => &mut self.to_agent,
                Peer::Client => &mut self.to_client,
            };
            if !sink.is_idle()
                && let Poll::Ready(Err(error)) = poll_fn(|cx| Poll::Ready(sink.poll_drain(cx))).await
            {
                self.broke(peer, &error)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Waits for one thing to happen. A side is read only while the other side's outbox is empty, and while what
    /// it makes us say to itself does not pile up.
    async fn step(&mut self) -> Step {
        let read_client =
            self.client_reads && self.to_agent.is_idle() && self.to_client.own_bytes() < limits::OWN_LINES;
        let read_agent =
            self.agent_reads && self.to_client.is_idle() && self.to_agent.own_bytes() < limits::OWN_LINES;
        // A deadline beyond what the clock can say never comes.
        let deadline = self.bridge.next_deadline().and_then(|deadline| self.started.checked_add(deadline));
        let over = self.bridge.agent_is_over();
        if over && read_agent && *self.left.get_or_insert_with(|| self.from_agent.waiting()) == 0 {
            return Step::Read(Peer::Agent, Ok(0));
        }
        tokio::select! {
            result = self.to_agent.drain(), if !self.to_agent.is_idle() => Step::Wrote(Peer::Agent, result),
            result = self.to_client.drain(), if !self.to_client.is_idle() => Step::Wrote(Peer::Client, result),
            result = self.from_client.read(), if read_client => Step::Read(Peer::Client, result),
            result = self.from_agent.read(), if read_agent => Step::Read(Peer::Agent, result),
            status = self.agent.exit(), if !self.exited => Step::Exited(status),
            _ = self.signals.next() => Step::Happened(Event::Signal),
            () = sleep_until(deadline.unwrap_or(self.started)), if deadline.is_some() => {
                Step::Happened(Event::Tick)
            }
            Some(command) = self.feed.next(), if self.to_agent.own_bytes() < limits::OWN_LINES => {
                Step::Wanted(command)
            }
            () = sleep(limits::GROUP_CHECK), if self.exited && !over => Step::GroupCheck,
        }
    }

    fn take(&mut self, step: Step) -> ControlFlow<()> {
        match step {
            Step::Read(peer, Ok(length @ 1..)) => {
                if peer == Peer::Agent {
                    self.left = self.left.map(|left| left.saturating_sub(length as u64));
                }
                let cut = self.cut(peer);
                match peer {
                    Peer::Client => self.from_client.report(&self.traffic.client),
                    Peer::Agent => self.from_agent.report(&self.traffic.agent),
                }
                cut
            }
            Step::Read(peer, result) => {
                log_end(peer, result);
                self.ended(peer)
            }
            Step::Wrote(_, Ok(())) => ControlFlow::Continue(()),
            Step::Wrote(peer, Err(error)) => self.broke(peer, &error),
            Step::Exited(status) => {
                self.exited = true;
                self.status = status.ok();
                let group = self.agent.group_lives();
                self.happened(Event::AgentExited { group })
            }
            Step::GroupCheck if self.agent.group_lives() => ControlFlow::Continue(()),
            Step::GroupCheck => self.happened(Event::GroupEnded),
            Step::Happened(event) => self.happened(event),
            Step::Wanted(command) => {
                let submitted = self.verdicts.submitted(command);
                report::submitted(&submitted);
                let actions = self.bridge.handle(Event::Submitted(submitted), self.started.elapsed());
                self.perform(actions, None)
            }
        }
    }

    /// Hands on what was read.
    fn cut(&mut self, from: Peer) -> ControlFlow<()> {
        match from {
            Peer::Client => self.from_client.widen_if_flooded(&self.to_agent),
            Peer::Agent => self.from_agent.widen_if_flooded(&self.to_client),
        }
        loop {
            let (source, sink) = match from {
                Peer::Client => (&mut self.from_client, &mut self.to_agent),
                Peer::Agent => (&mut self.from_agent, &mut self.to_client),
            };
            match source.splitter.next(|line| self.bridge.judge(from, line)) {
                None => return ControlFlow::Continue(()),
                Some(Piece::Run(bytes)) => sink.forward(bytes),
                Some(Piece::Line(bytes)) => self.line(from, Line { bytes, whole: true })?,
                Some(Piece::Head(bytes)) => self.line(from, Line { bytes, whole: false })?,
            }
        }
    }

    /// Hands a wanted line to the engine.
    fn line(&mut self, from: Peer, line: Line) -> ControlFlow<()> {
        tracing::debug!(?from, bytes = line.bytes.len(), "intercepted");
        tracing::trace!(?from, line = %printable_bytes(line.bytes.trim_ascii_end()), "intercepted");
        let actions = self.bridge.handle(Event::Line(from, line.clone()), self.started.elapsed());
        if !line.whole && !actions.contains(&Action::Forward) {
            match from {
                Peer::Client => self.from_client.splitter.drop_rest(),
                Peer::Agent => self.from_agent.splitter.drop_rest(),
            }
        }
        self.perform(actions, Some((from, &line)))
    }

    fn happened(&mut self, event: Event) -> ControlFlow<()> {
        tracing::debug!(?event, "happened");
        let actions = self.bridge.handle(event, self.started.elapsed());
        self.perform(actions, None)
    }

    /// Does what the engine says, in its order.
    fn perform(&mut self, actions: Vec<Action>, line: Option<(Peer, &Line)>) -> ControlFlow<()> {
        for action in actions {
            match action {
                Action::Forward => match line {
                    Some((Peer::Client, line)) => self.to_agent.forward(line.bytes.clone()),
                    Some((Peer::Agent, line)) => self.to_client.forward(line.bytes.clone()),
                    None => {}
                },
                Action::Send(Peer::Agent, line) => self.to_agent.send(line),
                Action::Send(Peer::Client, line) => self.to_client.send(line),
                Action::EndAgentInput => {
                    self.asked = true;
                    self.client_reads = false;
                    self.to_agent.end();
                }
                Action::EndClientOutput => self.to_client.end(),
                Action::Terminate => self.agent.terminate(),
                Action::Kill => self.agent.kill(),
                Action::Opened(opened) => {
                    report::opened(&opened.question);
                    self.feed.opened(&opened);
                }
                Action::Unanswered(opened, why) => {
                    report::unanswered(&opened.question, &why, self.bridge.name_of(&opened));
                    self.feed.unanswered(&opened, &why);
                }
                Action::Warned(opened) => {
                    report::warned(&opened.question, self.bridge.name_of(&opened));
                    self.feed.warned(&opened);
                }
                Action::Extended(opened, deadline) => self.feed.extended(&opened, deadline),
                Action::Judged(ticket, verdict) => self.verdicts.judged(ticket, verdict),
                Action::Settled(settled) => {
                    report::settled(&settled);
                    self.verdicts.settled(*settled, self.started.elapsed());
                }
                Action::Finish => self.finishing = true,
                Action::Abandon => return ControlFlow::Break(()),
            }
        }
        ControlFlow::Continue(())
    }

    /// One side has no more to say: its last line may lack a terminator.
    fn ended(&mut self, peer: Peer) -> ControlFlow<()> {
        let (source, reads, event) = match peer {
            Peer::Client => (&mut self.from_client, &mut self.client_reads, Event::ClientEnded),
            Peer::Agent => (&mut self.from_agent, &mut self.agent_reads, Event::AgentOutputEnded),
        };
        *reads = false;
        match source.splitter.end(|line| self.bridge.judge(peer, line)) {
            Some(Piece::Line(bytes) | Piece::Head(bytes)) => self.line(peer, Line { bytes, whole: true })?,
            Some(Piece::Run(bytes)) => match peer {
                Peer::Client => self.to_agent.forward(bytes),
                Peer::Agent => self.to_client.forward(bytes),
            },
            None => {}
        }
        self.happened(event)
    }

    /// One side reads no more.
    fn broke(&mut self, peer: Peer, error: &io::Error) -> ControlFlow<()> {
        tracing::debug!(?peer, %error, "reads no more");
        match peer {
            Peer::Client => {
                self.to_client.abandon();
                self.happened(Event::ClientBroke)
            }
            // It may go on talking: what it says is still heard, and what is said to it is lost, as it would be
            // in a pipe that it does not read.
            Peer::Agent => {
                self.to_agent.abandon();
                ControlFlow::Continue(())
            }
        }
    }
}

fn log_end(peer: Peer, result: io::Result<usize>) {
    match result {
        Ok(_) => tracing::debug!(?peer, "its output ended"),
        Err(error) => tracing::warn!(?peer, %error, "its output could not be read; taken as its end"),
    }
}
