//! The steps of an end: fences, streams that it closes, reading that it stops.
//! Writing and expecting lines is left to `play.rs`.

use std::time::Instant;

use crate::{
    end::Next,
    expect::{Expected, fence},
    limits,
    play::{Play, Problem},
    puppet::Order,
    puppet_link::Role,
    stage::Stage,
    step::{EndAction, Side},
    wire::shown,
};

impl Play {
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
        done.ok_or_else(|| "the agent's process does not react".into())
    }

    /// Waits until the command has read all that the end wrote, so that the next bytes arrive in another piece.
    fn wait_until_read(&mut self, side: Side) -> Result<(), Problem> {
        self.flush(side)?;
        while self.stage.end(side).is_some_and(|end| end.has_unread()) {
            let now = Instant::now();
            if now > self.deadline {
                return Err(format!("the command does not read what the {} writes", side.name()).into());
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
                return Err(format!("the command took all that the {} wrote", side.name()).into());
            }
            // No event reports that a pipe stays full. Only a time without progress shows it.
            let until = Instant::now() + limits::SETTLE;
            let went_on = self.stage.until(until, |stage| (unsent(stage) != before).then_some(()));
            if went_on.is_none() {
                self.stage.wire.note(format!("({before} bytes are not taken)"));
                return Ok(());
            }
            if Instant::now() > self.deadline {
                return Err(
                    format!("the command takes more and more of what the {} writes", side.name()).into()
                );
            }
        }
    }

    fn expect_lines(&mut self, side: Side, count: usize) -> Result<(), Problem> {
        for got in 0..count {
            let line = self.stage.until(self.deadline, |stage| stage.end(side)?.next_line());
            if !matches!(line, Some(Next::Line(_))) {
                return Err(format!("the {} got {got} lines of {count}", side.name()).into());
            }
        }
        self.stage.wire.note(format!("{}< ({count} lines)", side.name()));
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
                    what: format!("the {} got something", side.name()),
                    expected: None,
                    got: Some(got),
                })
            }
        }
    }
}
