//! Receives the lines of an agent or a client under test: each is noted, compared with the schema, and replied to where any
//! peer would reply at once.
//! The meaning of a line is left to `talk/receive.rs` and `serve/receive.rs`.

use std::time::Instant;

use serde_json::Value;

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

    /// Waits for the next message, and notes what it means. `None` if none comes until then.
    pub(crate) fn next_message(&mut self, until: Instant) -> Result<Option<Vec<u8>>, Problem> {
        let side = self.own_side();
        self.connect(side)?;
        match self.stage.until(until, |stage| stage.end(side)?.next_line()) {
            None => Ok(None),
            Some(Next::End) => {
                self.stage.wire.note(format!("{}< (end)", side.name()));
                Err(format!("the {} closed its output", side.other().name()).into())
            }
            Some(Next::Line(line)) => self.receive(&line).map(|()| Some(line)),
        }
    }

    /// Notes what a line means, and writes what any peer replies to it.
    pub(crate) fn receive(&mut self, line: &[u8]) -> Result<(), Problem> {
        let side = self.own_side();
        self.stage.wire.bytes(&format!("{}<", side.name()), line);
        let (conversation, served) = (self.conversation.as_deref_mut(), self.served.as_deref_mut());
        let reply = if let Some(conversation) = conversation {
            self.misfits.extend(schema::misfit(line, |id| conversation.requested(id)));
            conversation.receive(line)?
        } else if let Some(served) = served {
            self.misfits.extend(schema::misfit(line, |id| served.requested(id)));
            served.receive(line)?.map(|reply| reply.to_string())
        } else {
            None
        };
        match reply {
            Some(reply) => self.write(side, format!("{reply}\n").as_bytes()),
            None => Ok(()),
        }
    }

    /// Receives the lines that have come already.
    pub(crate) fn receive_pending(&mut self) -> Result<(), Problem> {
        let side = self.own_side();
        while let Some(Next::Line(line)) = self.stage.end(side).and_then(|end| end.next_line()) {
            self.receive(&line)?;
        }
        Ok(())
    }

    /// Receives lines for the time that an event has which must not happen. A peer that has ended does nothing.
    pub(crate) fn settle(&mut self) -> Result<(), Problem> {
        let (side, until) = (self.own_side(), Instant::now() + limits::SETTLE);
        while let Some(Next::Line(line)) = self.stage.until(until, |stage| stage.end(side)?.next_line()) {
            self.receive(&line)?;
        }
        Ok(())
    }

    /// Returns the message that a step expects, and the ID of the request that it responds to, if it is a response.
    pub(crate) fn expected_message(&self, text: &str) -> (Value, Option<String>) {
        let message: Value = serde_json::from_str(&self.variables.pattern(text)).unwrap_or_default();
        let id = message.get("id").filter(|_| message.get("method").is_none()).map(Value::to_string);
        (message, id)
    }

    /// Compares a received line with the expected one. `what` names the line in the failure.
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
        self.receive_pending()?;
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
