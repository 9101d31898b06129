//! The loop under a conductor: one connection, whose lines are told apart by the engine.

use std::{io, process::ExitCode};

use tokio::time::{Instant, sleep_until};

use super::{
    FatalError,
    lines::{Sink, Source},
    report, stdio,
    verdicts::Verdicts,
};
use crate::{
    acp::{Bridge, Component, Config, Event, Line, Output},
    control::old::{Feed, port::Command},
    exit, limits,
    signals::Signals,
    terminal::printable_bytes,
    wire::frame::Piece,
};

/// What the loop woke up for.
enum Step {
    Read(io::Result<usize>),
    Wrote(io::Result<()>),
    Happened(Event),
    Wanted(Command),
    /// The conductor was given its time to read the last words.
    Late,
}

struct Chain {
    component: Component,
    feed: Feed,
    verdicts: Verdicts,
    signals: Signals,
    started: Instant,
    source: Source,
    sink: Sink,
    /// When we end, whatever is still to be read.
    ends: Option<Instant>,
    conductor: bool,
}

/// Forwards until the conductor has left.
pub(super) async fn run(config: Config, feed: Feed, signals: Signals) -> Result<ExitCode, FatalError> {
    let set_up = |what| move |source| FatalError::SetUp { what, source };
    let (stdin, stdout) = stdio::take().map_err(set_up("stdin and stdout"))?;
    let chain = Chain {
        component: Component::new(Bridge::new(config)),
        feed,
        verdicts: Verdicts::default(),
        signals,
        started: Instant::now(),
        source: Source::new(stdin),
        sink: Sink::new(stdout),
        ends: None,
        conductor: true,
    };
    chain.run().await
}

impl Chain {
    async fn run(mut self) -> Result<ExitCode, FatalError> {
        while self.ends.is_none() || !self.sink.is_idle() {
            match self.step().await {
                Step::Read(Ok(1..)) => self.cut(),
                Step::Read(result) => {
                    log_end(result);
                    self.ended();
                }
                Step::Wrote(Ok(())) => {}
                Step::Wrote(Err(error)) => {
                    tracing::debug!(%error, "the conductor reads no more");
                    self.sink.abandon();
                    self.happened(Event::ClientBroke);
                }
                // Who tells us twice does not want to wait.
                Step::Happened(Event::Signal) if self.ends.is_some() => break,
                Step::Happened(event) => self.happened(event),
                Step::Wanted(command) => self.wanted(command),
                Step::Late => break,
            }
            // What is for the agent goes out where everything does.
            self.verdicts.deliver(&self.sink, &self.feed);
        }
        if self.conductor { Ok(ExitCode::from(exit::OK)) } else { Err(FatalError::NoConductor) }
    }

    /// Waits for one thing to happen. Nothing is read until what was read before has led to is written: a conductor
    /// that does not read is not read either.
    async fn step(&mut self) -> Step {
        let deadline = match self.ends {
            Some(ends) => Some(ends),
            // A deadline beyond what the clock can say never comes.
            None => self.component.next_deadline().and_then(|deadline| self.started.checked_add(deadline)),
        };
        let reads = self.ends.is_none() && self.sink.is_idle();
        // At the end, nothing that is said would still go out.
        let hears = self.ends.is_none() && self.sink.own_bytes() < limits::OWN_LINES;
        tokio::select! {
            result = self.sink.drain(), if !self.sink.is_idle() => Step::Wrote(result),
            result = self.source.read(), if reads => Step::Read(result),
            _ = self.signals.next() => Step::Happened(Event::Signal),
            () = sleep_until(deadline.unwrap_or(self.started)), if deadline.is_some() => match self.ends {
                Some(_) => Step::Late,
                None => Step::Happened(Event::Tick),
            },
            Some(command) = self.feed.next(), if hears => Step::Wanted(command),
        }
    }

    /// Hands on what was read.
    fn cut(&mut self) {
        self.source.widen_if_flooded(&self.sink);
        while let Some(piece) = self.source.splitter.next(|line| self.component.judge(line)) {
            self.piece(piece);
        }
    }

    fn piece(&mut self, piece: Piece) {
        match piece {
            Piece::Run(bytes) => self.component.pass(bytes, |bytes| self.sink.forward(bytes)),
            Piece::Line(bytes) => self.line(Line { bytes, whole: true }),
            Piece::Head(bytes) => self.line(Line { bytes, whole: false }),
        }
    }

    fn line(&mut self, line: Line) {
        tracing::trace!(line = %printable_bytes(line.bytes.trim_ascii_end()), "intercepted");
        let outputs = self.component.line(&line, self.started.elapsed());
        self.perform(outputs);
    }

    fn happened(&mut self, event: Event) {
        tracing::debug!(?event, "happened");
        let outputs = self.component.handle(event, self.started.elapsed());
        self.perform(outputs);
    }

    fn wanted(&mut self, command: Command) {
        let submitted = self.verdicts.submitted(command);
        report::submitted(&submitted);
        let outputs = self.component.handle(Event::Submitted(submitted), self.started.elapsed());
        self.perform(outputs);
    }

    /// The conductor has no more to say: its last line may lack a terminator.
    fn ended(&mut self) {
        match self.source.splitter.end(|line| self.component.judge(line)) {
            Some(Piece::Line(bytes) | Piece::Head(bytes)) => self.line(Line { bytes, whole: true }),
            Some(piece) => self.piece(piece),
            None => {}
        }
        self.happened(Event::ClientEnded);
    }

    /// Does what the engine says, in its order.
    fn perform(&mut self, outputs: Vec<Output>) {
        for output in outputs {
            match output {
                Output::Write(bytes) => self.sink.send(bytes),
                Output::Opened(opened) => {
                    report::opened(&opened.question);
                    self.feed.opened(&opened);
                }
                Output::Unanswered(opened, why) => {
                    report::unanswered(&opened.question, &why, self.component.name_of(&opened));
                    self.feed.unanswered(&opened, &why);
                }
                Output::Warned(opened) => {
                    report::warned(&opened.question, self.component.name_of(&opened));
                    self.feed.warned(&opened);
                }
                Output::Extended(opened, deadline) => self.feed.extended(&opened, deadline),
                Output::Judged(ticket, verdict) => self.verdicts.judged(ticket, verdict),
                Output::Settled(settled) => {
                    report::settled(&settled);
                    self.verdicts.settled(*settled, self.started.elapsed());
                }
                Output::Refused(why) => tracing::warn!(why, "a line of the conductor was not passed on"),
                Output::NoConductor => {
                    self.conductor = false;
                    self.end();
                }
                Output::Finish => self.end(),
            }
        }
    }

    /// Ends once what is queued is read, but waits no longer than for a moment.
    fn end(&mut self) {
        self.sink.end();
        self.ends.get_or_insert_with(|| Instant::now() + limits::FLUSH);
    }
}

fn log_end(result: io::Result<usize>) {
    match result {
        Ok(_) => tracing::debug!("the conductor's output ended"),
        Err(error) => tracing::warn!(%error, "the conductor could not be read; taken as its end"),
    }
}
