//! Receives the lines of an agent or a client under test: each is noted, compared with the rules for every line, and replied to
//! where any peer would reply at once.
//! The meaning of a line is left to `talk/receive.rs` and `serve/receive.rs`.

use std::time::Instant;

use serde_json::Value;

use crate::{
    end::Next,
    expect::Expected,
    kind::Kind,
    limits,
    play::{Play, Problem},
    rule::Rule,
    schema::{self, Misfit},
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
                self.stage.wire.note(format!("{}< (end)", side.name(self.kind)));
                Err(format!("the {} closed its output", side.other().name(self.kind)).into())
            }
            Some(Next::Line(line)) => self.receive(&line).map(|()| Some(line)),
        }
    }

    /// Notes what a line means, and writes what any peer replies to it.
    pub(crate) fn receive(&mut self, line: &[u8]) -> Result<(), Problem> {
        let side = self.own_side();
        self.stage.wire.bytes(&format!("{}<", side.name(self.kind)), line);
        if let Some(what) = too_much(line) {
            let what = format!("the {} wrote {what}", side.other().name(self.kind));
            // The conversation cannot go on, in any case: the case of the rule says why.
            self.breaks(Rule::Stdout, what.clone(), line);
            return Err(Problem::Inconclusive(what));
        }
        let Some(message) = self.message(line) else { return Ok(()) };
        let (misfit, heard) = if let Some(conversation) = &mut self.conversation {
            let misfit = schema::misfit(&message, |id| conversation.requested(id));
            (misfit, conversation.receive(&message, line))
        } else if let Some(served) = &mut self.served {
            let misfit = schema::misfit(&message, |id| served.requested(id));
            (misfit, served.receive(&message, line))
        } else {
            return Ok(());
        };
        // A line is blamed once, and what the schema says of it is the least that can be said.
        let misfit = misfit.filter(|_| heard.broken.is_empty());
        if let Some(Misfit { of, what }) = misfit {
            self.breaks(Rule::Schema, format!("a message does not fit `{of}` of the schema: {what}"), line);
        }
        heard.broken.into_iter().for_each(|(rule, what)| self.breaks(rule, what, line));
        heard.replies.into_iter().try_for_each(|reply| self.write(side, format!("{reply}\n").as_bytes()))
    }

    /// Notes that a line breaks a rule for every line.
    pub(crate) fn breaks(&mut self, rule: Rule, what: String, line: &[u8]) {
        self.breaches.note(rule, what, shown(line));
    }

    /// Reads a line. `None` if it is no message, which the case of that rule says.
    fn message(&mut self, line: &[u8]) -> Option<Value> {
        let peer = self.own_side().other().name(self.kind);
        let is_text = std::str::from_utf8(line).is_ok();
        let is_message = |line: &[u8]| serde_json::from_slice(line).ok().filter(Value::is_object);
        let wrong = match line.strip_suffix(b"\n") {
            None => (Rule::Stdout, format!("the {peer}'s last line has no line feed")),
            Some(_) if !is_text && self.kind == Kind::Agent => {
                (Rule::Utf8, format!("the {peer} wrote a line that is not UTF-8"))
            }
            Some(text) => match is_message(text) {
                Some(message) => return self.envelope(message, line),
                None => (Rule::Stdout, format!("the {peer} wrote a line that is not a message of ACP")),
            },
        };
        self.breaks(wrong.0, wrong.1, line);
        None
    }

    /// Checks what every message of JSON-RPC has. `None` if it is of no kind of messages.
    fn envelope(&mut self, mut message: Value, line: &[u8]) -> Option<Value> {
        let peer = self.own_side().other().name(self.kind);
        if message["jsonrpc"] != "2.0" {
            self.breaks(
                Rule::Version,
                format!("the {peer} wrote a message without `\"jsonrpc\": \"2.0\"`"),
                line,
            );
        }
        let members = message.as_object_mut()?;
        let what = match (members.get("method"), members.get("id")) {
            (Some(Value::String(_)), Some(Value::String(_) | Value::Number(_)) | None) => {
                return Some(message);
            }
            (Some(Value::String(_)), Some(_)) => "a request whose ID is neither a text nor a number",
            (None, Some(_)) if members.contains_key("result") != members.contains_key("error") => {
                return Some(message);
            }
            (None, Some(_)) => {
                let needless =
                    if members.get("error").is_none_or(Value::is_null) { "error" } else { "result" };
                members.remove(needless);
                self.breaks(
                    Rule::Envelope,
                    format!("the {peer} wrote a response that has not either a `result` or an `error`"),
                    line,
                );
                return Some(message);
            }
            _ => "a message that is neither a request nor a notification nor a response",
        };
        self.breaks(Rule::Envelope, format!("the {peer} wrote {what}"), line);
        None
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
            what: format!("the {} got another {what}: {how}", side.name(self.kind)),
            expected: Some(expected),
            got: Some(shown(line)),
        })
    }
}

/// Returns what is too much of a line: it is not read, because it would take more memory than a case may have.
fn too_much(line: &[u8]) -> Option<String> {
    if line.len() > limits::MESSAGE {
        return Some(format!("a line of more than {} MiB", limits::MESSAGE / (1024 * 1024)));
    }
    (line.len() > limits::VALUES && values(line) > limits::VALUES)
        .then(|| format!("a line with more than {} values", limits::VALUES))
}

/// Returns how many values a line of JSON has, but for the members that come first in an object or a list.
fn values(line: &[u8]) -> usize {
    let (mut count, mut is_text, mut is_escaped) = (0, false, false);
    for byte in line {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            b',' | b'[' | b'{' if !is_text => count += 1,
            _ => {}
        }
    }
    count
}

/// What a line means for a conversation.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Heard {
    /// The rules that it breaks, each with how.
    pub(crate) broken: Vec<(Rule, String)>,
    /// The lines that any peer replies at once.
    pub(crate) replies: Vec<String>,
}

impl Heard {
    /// Returns a line that means no more than the rule that it breaks.
    pub(crate) fn wrong(rule: Rule, what: impl Into<String>) -> Self {
        Self { broken: vec![(rule, what.into())], replies: Vec::new() }
    }

    /// Returns a response with an ID that no open request has.
    pub(crate) fn stray(id: &str) -> Self {
        let rule = if id == "null" { Rule::NoResponse } else { Rule::ResponseIds };
        Self::wrong(rule, "a response is to no open request")
    }

    /// Returns a line that gets this reply.
    pub(crate) fn replied(reply: String) -> Self {
        Self { broken: Vec::new(), replies: vec![reply] }
    }

    /// Adds a rule that the line breaks.
    pub(crate) fn breaks(mut self, rule: Rule, what: impl Into<String>) -> Self {
        self.broken.push((rule, what.into()));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_bounds_for_its_bytes_and_its_values() {
        let line = |value: &str, count: usize| format!("{{\"a\":[{}]}}\n", vec![value; count].join(","));
        let (bytes, many) = ("a line of more than 16 MiB", "a line with more than 100000 values");
        for (line, expected) in [
            (line("0", 10), None),
            (line(r#"", [{ \" \\""#, 99_000), None),
            (line("0", limits::VALUES), Some(many)),
            (line("{}", limits::VALUES / 2), Some(many)),
            (line(&"x".repeat(limits::MESSAGE), 1), Some(bytes)),
        ] {
            assert_eq!(too_much(line.as_bytes()).as_deref(), expected, "{} bytes", line.len());
        }
    }
}
