//! The steps of an end: lines and bytes that it writes and must get, fences, streams that it closes, reading that it stops.
//! Comparing a line with the expected one is left to `expect.rs`.

use std::time::Instant;

use crate::{
    end::Next,
    expect::{Expected, fence},
    limits,
    play::{Play, Problem},
    puppet::Order,
    puppet_link::Role,
    rule::Rule,
    stage::Stage,
    step::{EndAction, Side},
    wire::shown,
};

/// Returns a notification of this many megabytes. It is made when a step needs it: the cases are all in memory.
fn long_line(megabytes: usize) -> Vec<u8> {
    let [start, end] = [r#"{"jsonrpc":"2.0","method":"_example.com/tell","params":{"text":""#, "\"}}\n"];
    let mut line = start.as_bytes().to_vec();
    line.resize(megabytes * 1_000_000 - end.len(), b'x');
    line.extend_from_slice(end.as_bytes());
    line
}

/// Returns whether a line is no JSON at all, nor the beginning of any.
fn is_said_for_people(line: &[u8]) -> bool {
    let first = line.trim_ascii().first();
    first.is_some_and(u8::is_ascii_alphabetic) && serde_json::from_slice::<serde_json::Value>(line).is_err()
}

impl Play {
    pub(crate) fn write(&mut self, side: Side, bytes: &[u8]) -> Result<(), Problem> {
        self.connect(side)?;
        self.stage.wire.bytes(&format!("{}>", side.name(self.kind)), bytes);
        if let Some(conversation) = &mut self.conversation {
            conversation.sent(bytes);
        }
        if let Some(served) = &mut self.served {
            served.sent(bytes);
        }
        let is_open = self.stage.end(side).is_some_and(|end| end.write(bytes));
        // Bytes that nobody reads are lost, as those of a real peer are. A case that needs them fails at a later step.
        if !is_open {
            self.stage
                .wire
                .note(format!("({} cannot write: the command reads no more)", side.name(self.kind)));
        }
        Ok(())
    }

    /// Waits until the agent is started.
    pub(crate) fn connect(&mut self, side: Side) -> Result<(), Problem> {
        let started = Side::Agent.name(self.kind);
        let connected =
            self.stage.until(self.deadline, |stage| match (stage.end(side).is_some(), stage.has_exited()) {
                (true, _) => Some(true),
                (false, true) => Some(false),
                (false, false) => None,
            });
        match connected {
            Some(true) if self.stage.agents() > 1 => {
                Err(format!("the command started the {started} more than once").into())
            }
            Some(true) => Ok(()),
            Some(false) => {
                Err(format!("the command ended with {} before it started its {started}", self.status())
                    .into())
            }
            None => Err(format!("the command did not start its {started} in time").into()),
        }
    }

    fn next_line(&mut self, side: Side) -> Result<Option<Vec<u8>>, Problem> {
        self.connect(side)?;
        let next = self.patiently(|stage| stage.end(side)?.next_line());
        match next {
            Some(Next::Line(line)) => {
                self.stage.wire.bytes(&format!("{}<", side.name(self.kind)), &line);
                Ok(Some(line))
            }
            Some(Next::End) => {
                self.stage.wire.note(format!("{}< (end)", side.name(self.kind)));
                Ok(None)
            }
            None => {
                let pending = self.stage.end(side).map(|end| end.pending().to_vec()).unwrap_or_default();
                let got = match pending.as_slice() {
                    [] => "nothing".to_owned(),
                    pending => format!("{} (no line feed)", shown(pending)),
                };
                let what = format!("the {} did not get it in time", side.name(self.kind));
                Err(Problem::Broken { what, expected: None, got: Some(got) })
            }
        }
    }

    pub(crate) fn expect(&mut self, side: Side, expected: &Expected<'_>) -> Result<(), Problem> {
        let mut line = self.next_line(side)?;
        // What a bridge says for people is judged by one case. The agent's lines come from the checker.
        while let Some(said) = line.take_if(|line| side == Side::Client && is_said_for_people(line)) {
            self.breaks(
                Rule::Stdout,
                format!("the bridge wrote a line that is not a message of {}", self.kind.protocol()),
                &said,
            );
            line = self.next_line(side)?;
        }
        let Some(line) = line else {
            return Err(format!("the command closed its output to the {}", side.name(self.kind)).into());
        };
        expected.compare(&line, &mut self.variables).map_err(|(what, expected)| Problem::Broken {
            what: format!("the {} got another line: {what}", side.name(self.kind)),
            expected: Some(expected),
            got: Some(shown(&line)),
        })
    }

    pub(crate) fn expect_bytes(&mut self, side: Side, bytes: &[u8]) -> Result<(), Problem> {
        self.connect(side)?;
        let got = self.patiently(|stage| stage.end(side)?.next_bytes(bytes.len()));
        let got = match got {
            Some(got) => got,
            None => self.stage.end(side).map(|end| end.pending().to_vec()).unwrap_or_default(),
        };
        self.stage.wire.bytes(&format!("{}<", side.name(self.kind)), &got);
        if got == bytes {
            return Ok(());
        }
        let at = got.iter().zip(bytes).take_while(|(one, other)| one == other).count();
        let around = |bytes: &[u8]| shown(bytes.get(at.saturating_sub(40)..).unwrap_or_default());
        let what = match got.len() {
            count if count < bytes.len() && at == count => {
                format!("the {} got {count} of {} bytes", side.name(self.kind), bytes.len())
            }
            _ => format!("the {} got other bytes, from byte {at} on", side.name(self.kind)),
        };
        Err(Problem::Broken { what, expected: Some(around(bytes)), got: Some(around(&got)) })
    }

    pub(crate) fn expect_end(&mut self, side: Side) -> Result<(), Problem> {
        match self.next_line(side)? {
            None => Ok(()),
            Some(line) => {
                let what = format!("the {} got a line where the end was expected", side.name(self.kind));
                Err(Problem::Broken { what, expected: Some("the end".to_owned()), got: Some(shown(&line)) })
            }
        }
    }

    /// Waits until all that an end wrote is taken.
    pub(crate) fn flush(&mut self, side: Side) -> Result<(), Problem> {
        self.connect(side)?;
        let flushed = self.patiently(|stage| (stage.end(side)?.unsent() == 0).then_some(()));
        flushed.ok_or_else(|| {
            format!("the command does not take what the {} writes", side.name(self.kind)).into()
        })
    }

    pub(crate) fn end(&mut self, side: Side, action: EndAction) -> Result<(), Problem> {
        self.connect(side)?;
        match action {
            // A command forwards lines in order. So once the fence has arrived, everything written before it has
            // arrived too, and no step has to wait for a while.
            EndAction::Fence => {
                self.fences += 1;
                let fence = fence(self.fences);
                self.write(side, format!("{fence}\n").as_bytes())?;
                return self.expect(side.other(), &Expected::whole(&fence, self.matching));
            }
            EndAction::IsBlocked => return self.expect_blocked(side, true),
            EndAction::IsBlockedOrDone => return self.expect_blocked(side, false),
            EndAction::GetsNothing => return self.expect_nothing(side),
            EndAction::IsRead => return self.wait_until_read(side),
            EndAction::GetsLines(count) => return self.expect_lines(side, count),
            EndAction::WritesLong(megabytes) => return self.write(side, &long_line(megabytes)),
            EndAction::GetsLong(megabytes) => return self.expect_bytes(side, &long_line(megabytes)),
            EndAction::ClosesOutput => {
                self.flush(side)?;
                self.order(side, &Order::CloseStdout)?;
            }
            EndAction::ClosesInput => self.order(side, &Order::CloseStdin)?,
            EndAction::StopsReading | EndAction::ReadsAgain => {}
        }
        let Some(end) = self.stage.end(side) else { return Ok(()) };
        match action {
            EndAction::ClosesOutput => end.close_output(),
            EndAction::ClosesInput => end.close_input(),
            EndAction::StopsReading => end.read_on(false),
            _ => end.read_on(true),
        }
        Ok(())
    }

    /// Orders the same of the puppet, whose process has the same streams, and waits until it is done.
    pub(crate) fn order(&mut self, side: Side, order: &Order) -> Result<(), Problem> {
        if side == Side::Client {
            return Ok(());
        }
        if let Some(puppet) = self.stage.puppet(Role::Agent) {
            puppet.order(order);
        }
        let done = self.stage.until(self.deadline, |stage| {
            stage
                .puppet(Role::Agent)
                .is_none_or(|puppet| puppet.waiting == 0 || puppet.has_ended)
                .then_some(())
        });
        done.ok_or_else(|| format!("the {}'s process does not react", side.name(self.kind)).into())
    }

    /// Waits until the command has read all that the end wrote, so that the next bytes arrive in another piece.
    fn wait_until_read(&mut self, side: Side) -> Result<(), Problem> {
        self.flush(side)?;
        while self.stage.end(side).is_some_and(|end| end.has_unread()) {
            let now = Instant::now();
            if now > self.deadline {
                return Err(
                    format!("the command does not read what the {} writes", side.name(self.kind)).into()
                );
            }
            // The kernel reports no event when the other side reads.
            self.stage.until(now + limits::LOOK, |_| None::<()>);
        }
        Ok(())
    }

    fn expect_blocked(&mut self, side: Side, must_be: bool) -> Result<(), Problem> {
        loop {
            let unsent = |stage: &mut Stage| stage.end(side).map_or(0, |end| end.unsent());
            let before = unsent(&mut self.stage);
            if before == 0 && !must_be {
                return Ok(());
            }
            if before == 0 {
                return Err(format!("the command took all that the {} wrote", side.name(self.kind)).into());
            }
            // No event reports that a pipe stays full. Only a time without progress shows it.
            let until = Instant::now() + limits::SETTLE;
            let went_on = self.stage.until(until, |stage| (unsent(stage) != before).then_some(()));
            if went_on.is_none() {
                self.stage.wire.note(format!("({before} bytes are not taken)"));
                return Ok(());
            }
            if Instant::now() > self.deadline {
                return Err(format!(
                    "the command takes more and more of what the {} writes",
                    side.name(self.kind)
                )
                .into());
            }
        }
    }

    fn expect_lines(&mut self, side: Side, count: usize) -> Result<(), Problem> {
        for got in 0..count {
            let line = self.stage.until(self.deadline, |stage| stage.end(side)?.next_line());
            if !matches!(line, Some(Next::Line(_))) {
                return Err(format!("the {} got {got} lines of {count}", side.name(self.kind)).into());
            }
        }
        self.stage.wire.note(format!("{}< ({count} lines)", side.name(self.kind)));
        Ok(())
    }

    fn expect_nothing(&mut self, side: Side) -> Result<(), Problem> {
        let until = Instant::now() + limits::SETTLE;
        match self.stage.until(until, |stage| stage.end(side)?.next_line()) {
            None => Ok(()),
            Some(next) => {
                let got = match next {
                    Next::Line(line) => shown(&line),
                    Next::End => "the end".to_owned(),
                };
                Err(Problem::Broken {
                    what: format!("the {} got something", side.name(self.kind)),
                    expected: None,
                    got: Some(got),
                })
            }
        }
    }
}
