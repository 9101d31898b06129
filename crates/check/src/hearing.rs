//! Receives the lines of an agent or a client under test: each is noted, compared with the schema, and replied to where any
//! peer would reply at once.
//! The meaning of a line is left to `talk/hear.rs` and `serve/hear.rs`.

use std::time::Instant;

use crate::{
    end::Next,
    expect::Expected,
    limits,
    play::{Play, Problem},
    schema,
    step::Side,
    wire::shown,
};

impl Play {
    /// Returns the only end of the case: the agent of a client, or the client of an agent.
    fn own_side(&self) -> Side {
        if self.served.is_some() { Side::Agent } else { Side::Client }
    }

    /// Waits for the next line, and notes what it means. `None` if none comes until then.
    pub(crate) fn attend(&mut self, until: Instant) -> Result<Option<Vec<u8>>, Problem> {
        let side = self.own_side();
        self.connect(side)?;
        match self.stage.until(until, |stage| stage.end(side)?.next_line()) {
            None => Ok(None),
            Some(Next::End) => {
                self.stage.wire.note(format!("{}< (end)", side.name()));
                Err(format!("the {} closed its output", side.other().name()).into())
            }
            Some(Next::Line(line)) => self.heard(&line).map(|()| Some(line)),
        }
    }

    /// Notes what a line means, and writes what any peer replies to it.
    pub(crate) fn heard(&mut self, line: &[u8]) -> Result<(), Problem> {
        let side = self.own_side();
        self.stage.wire.bytes(&format!("{}<", side.name()), line);
        let (conversation, served) = (self.conversation.as_deref_mut(), self.served.as_deref_mut());
        let reply = if let Some(conversation) = conversation {
            self.misfits.extend(schema::misfit(line, |id| conversation.requested(id)));
            conversation.hear(line)?
        } else if let Some(served) = served {
            self.misfits.extend(schema::misfit(line, |id| served.requested(id)));
            served.hear(line)?.map(|reply| reply.to_string())
        } else {
            None
        };
        match reply {
            Some(reply) => self.write(side, format!("{reply}\n").as_bytes()),
            None => Ok(()),
        }
    }

    /// Notes what has come already.
    pub(crate) fn hear_the_rest(&mut self) -> Result<(), Problem> {
        let side = self.own_side();
        while let Some(Next::Line(line)) = self.stage.end(side).and_then(|end| end.next_line()) {
            self.heard(&line)?;
        }
        Ok(())
    }

    /// Gives what must not happen its time. A peer that has ended does nothing.
    pub(crate) fn settle(&mut self) -> Result<(), Problem> {
        let (side, until) = (self.own_side(), Instant::now() + limits::SETTLE);
        while let Some(Next::Line(line)) = self.stage.until(until, |stage| stage.end(side)?.next_line()) {
            self.heard(&line)?;
        }
        Ok(())
    }

    /// Compares a line that came while another was waited for. `what` is its name in the failure.
    pub(crate) fn compare(&mut self, expected: Expected<'_>, line: &[u8], what: &str) -> Result<(), Problem> {
        let side = self.own_side();
        expected.compare(line, &mut self.variables).map_err(|(how, expected)| Problem::Broken {
            what: format!("the {} got another {what}: {how}", side.name()),
            expected: Some(expected),
            got: Some(shown(line)),
        })
    }

    /// Fails if a message of the peer did not fit the schema.
    pub(crate) fn keeps_to_the_schema(&mut self) -> Result<(), Problem> {
        self.hear_the_rest()?;
        match self.misfits.first() {
            None => Ok(()),
            Some(misfit) => Err(Problem::Broken {
                what: format!("a message does not fit the schema: {}", misfit.what),
                expected: None,
                got: Some(misfit.line.clone()),
            }),
        }
    }
}
