//! Calls that a server cannot finish before a person has done something, and that are sent again then. A host that shows
//! elicitations is told as well, and calls again by itself: whoever answers first has the server go on.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;

use super::{
    calls::{Call, Errand},
    capabilities,
    config::Elicitation,
    core::Core,
    pending::Source,
    responding::decided,
    server::renamed,
};
use crate::{
    dialect::{
        ReplyMeta,
        mcp::{
            Batch, InputRequired, Mode, UrlsRequired,
            errand::{from_the_start, is_expired},
            replies,
        },
    },
    engine::{Action, Line, Peer, UnansweredReason},
    question::{Outcome, Question},
    wire::{envelope::Message, id::RequestId, line, scan::member},
};

impl Core {
    /// Handles a response that asks for something before the call can go on. Returns whether it is one.
    pub(super) fn needs_something(
        &mut self,
        number: u64,
        message: &Message<'_>,
        line: &Line,
        now: Duration,
    ) -> bool {
        if !self.asks_inbox() || self.closed.is_some() {
            return false;
        }
        if let Some(error) = message.error.filter(|_| message.failed()) {
            if is_expired(error) {
                return self.can_repeat(number) && self.restart(number);
            }
            return match UrlsRequired::read(error) {
                Ok(Some((question, pages))) if self.can_repeat(number) => {
                    self.needs_pages(number, question, pages, line, now)
                }
                Ok(_) | Err(_) => false,
            };
        }
        let result = message.result.unwrap_or_default();
        self.introduced_by_result(result);
        match InputRequired::read(result) {
            Ok(Some(_)) if !self.can_repeat(number) => false,
            Ok(Some((question, input))) if self.was_said(number, &question) => self.say_again(number, &input),
            Ok(Some((question, input))) => self.needs_input(number, question, input, line, now),
            Ok(None) | Err(_) => false,
        }
    }

    /// Returns whether a call can be sent again. One that cannot is left to the host. To find out takes several passes over
    /// its line, so only a call is asked about whose server needs something.
    fn can_repeat(&self, number: u64) -> bool {
        let line_of = |call: &Call| from_the_start(call.line.as_deref()?, "0");
        self.calls.get(number).and_then(line_of).is_some()
    }

    /// Takes note of the server's name, where it gives it with each result.
    fn introduced_by_result(&mut self, result: &[u8]) {
        const INFO: &str = "io.modelcontextprotocol/serverInfo";
        if self.server.is_none() {
            let info = member(result, "_meta").and_then(|meta| member(meta, INFO));
            self.server = capabilities::name(info).as_deref().map(Arc::from);
        }
    }

    /// Sends a call from the start again, since the server has forgotten it while the person was asked. Returns whether
    /// something was said that is to be said again.
    fn restart(&mut self, number: u64) -> bool {
        let said = self.calls.get_mut(number).and_then(|call| call.said.as_mut());
        let Some(said) = said.filter(|said| !said.is_restarted) else { return false };
        said.is_restarted = true;
        let again = self.repeat(number, from_the_start);
        self.send_again(again)
    }

    /// Sends the server a call again that no response delivers. Returns whether there is one.
    fn send_again(&mut self, again: Option<Bytes>) -> bool {
        let is_sent = again.is_some();
        self.base.actions.extend(again.map(|again| Action::Send(Peer::Agent, again)));
        is_sent
    }

    /// Returns whether this was asked and answered before the call was sent from the start again.
    fn was_said(&self, number: u64, question: &Question) -> bool {
        let said = self.calls.get(number).and_then(|call| call.said.as_ref());
        said.is_some_and(|said| {
            let (one, other) = (&*said.question, question);
            said.is_restarted
                && (&one.message, &one.fields, &one.links) == (&other.message, &other.fields, &other.links)
        })
    }

    fn say_again(&mut self, number: u64, input: &InputRequired) -> bool {
        let said = self.calls.get_mut(number).and_then(|call| call.said.take());
        let Some(said) = said else { return false };
        let results: Vec<_> = said.results.iter().map(|(key, result)| (&**key, result.clone())).collect();
        let again = self.repeat(number, |line, id| input.retry(line, id, &results));
        self.send_again(again)
    }

    fn needs_pages(
        &mut self,
        number: u64,
        question: Question,
        pages: UrlsRequired,
        line: &Line,
        now: Duration,
    ) -> bool {
        // A host that shows pages calls again by itself.
        if self.is_shown(number, &pages.batch) {
            return false;
        }
        let (bytes, response) = (pages.batch.bytes() + line.bytes.len(), Bytes::copy_from_slice(&line.bytes));
        self.open_errand(number, question, Errand::Pages(Arc::new(pages), response), bytes, false, now)
    }

    fn needs_input(
        &mut self,
        number: u64,
        question: Question,
        input: InputRequired,
        line: &Line,
        now: Duration,
    ) -> bool {
        // A host that was told something before, and has not called again yet, cannot be told more.
        let host = self.calls.get(number).and_then(|call| call.host.clone());
        let shows = host.is_some() && self.is_shown(number, &input.batch);
        let input = Arc::new(input);
        if !input.is_mixed {
            let errand = Errand::Input(Arc::clone(&input));
            if !self.open_errand(number, question, errand, input.bytes(), shows, now) {
                return false;
            }
        }
        match host.filter(|_| shows || input.is_mixed) {
            Some(host) => self.hand_over(number, &host, input, line),
            // What the host alone has waits until it calls again.
            None => !input.is_mixed,
        }
    }

    /// Tells the host what the server needs, which ends its call. It calls again with what its person said. Returns whether
    /// there is room to know it then.
    fn hand_over(&mut self, number: u64, host: &RequestId, input: Arc<InputRequired>, line: &Line) -> bool {
        let server = self.calls.get(number).and_then(|call| call.server.clone());
        if !self.calls.hand(number, input) {
            return self.hand_over_unknown(number);
        }
        let keeps_id = server.is_none_or(|server| server.is(host.as_str()));
        self.base.actions.push(if keeps_id { Action::Forward } else { renamed(line, host) });
        true
    }

    /// Leaves to the inbox alone what the host cannot be told as well. Returns whether the inbox asks it.
    fn hand_over_unknown(&mut self, number: u64) -> bool {
        let question = self.calls.get(number).and_then(|call| call.question);
        if let Some(open) = question.and_then(|question| self.pending.get_mut(question)) {
            open.host_asked = None;
        }
        self.calls.set_server(number, None);
        question.inspect(|question| self.left_by_host(*question, UnansweredReason::NoWay)).is_some()
    }

    /// Returns whether the host is asked what a call needs.
    fn is_shown(&self, number: u64, batch: &Batch) -> bool {
        let Some(shown) = self.calls.get(number).map(|call| call.shown) else { return false };
        let shows = [Mode::Form, Mode::Url].into_iter().all(|mode| !batch.has(mode) || shown.has(mode));
        self.config.elicitation == Elicitation::Both && shows
    }

    /// Opens the question for what a call needs. Returns whether there was room for it.
    fn open_errand(
        &mut self,
        number: u64,
        question: Question,
        errand: Errand,
        bytes: usize,
        shows: bool,
        now: Duration,
    ) -> bool {
        let Ok(question) = self.open(question, bytes, Source::Errand(number), Vec::new(), shows, now) else {
            return false;
        };
        if let Some(call) = self.calls.get_mut(number) {
            (call.errand, call.question) = (Some(errand), Some(question));
        }
        // A host that is told needs the ID of the server's response first.
        if !shows {
            self.calls.set_server(number, None);
        }
        true
    }

    /// Handles a call with which the host goes on after it was told that input is needed. `again` is the call as the host
    /// sends it now, and `forward` the action that passes it on.
    pub(super) fn calls_again(
        &mut self,
        number: u64,
        again: Call,
        params: &[u8],
        forward: Action,
        now: Duration,
    ) {
        let handed = self.calls.take_handed(number);
        let response = self.calls.take_response(number);
        let host = again.host.clone();
        let can_repeat = self.calls.replace(number, again);
        let errand = self.calls.get(number).and_then(|call| call.errand.clone());
        let is_handed = |input: &Arc<InputRequired>| handed.as_ref().is_some_and(|it| Arc::ptr_eq(it, input));
        match (errand, response, host) {
            (Some(Errand::Input(input)), ..) if is_handed(&input) => {
                match self.said_again(number, &input, params, now) {
                    Err(why) if can_repeat => self.leave_to_inbox(number, &input, why, forward, now),
                    // A call that cannot be sent again later passes as the host says it.
                    said => self.forward_call(number, said.unwrap_or(Outcome::Failed), forward, now),
                }
            }
            // Another responder was first, and the server is done. What the host says now comes too late.
            (_, Some(response), Some(host)) => {
                let line = Line { bytes: response, whole: true };
                self.base.actions.push(match renamed(&line, &host) {
                    Action::ForwardAs(bytes) => Action::Send(Peer::Client, bytes),
                    action => action,
                });
                self.calls.remove(number);
            }
            // The same, and the server works on it, or needs something else by now.
            _ => {}
        }
    }

    /// Returns what a person said in the host, by the results in these `params`.
    fn said_again(
        &self,
        number: u64,
        input: &InputRequired,
        params: &[u8],
        now: Duration,
    ) -> Result<Outcome, UnansweredReason> {
        let results = member(params, "inputResponses").unwrap_or_default();
        let outcome = input.batch.read_results(replies(results)).ok_or(UnansweredReason::NotUnderstood)?;
        let question = self.calls.get(number).and_then(|call| call.question);
        match question.and_then(|question| self.pending.get(question)) {
            Some(open) => {
                let gives_reason = ReplyMeta::has_reason(results);
                decided(&open.question, &input.batch, outcome, open.reaction(now), gives_reason)
            }
            // Whoever answers beside other things that take their time may be a person.
            None => Ok(outcome),
        }
    }

    /// Forwards the call that the host has answered.
    fn forward_call(&mut self, number: u64, outcome: Outcome, forward: Action, now: Duration) {
        self.base.actions.push(forward);
        let Some(call) = self.calls.get_mut(number) else { return };
        let (host, question) = (call.host.clone(), call.question.take());
        call.errand = None;
        self.calls.set_server(number, host);
        if let Some(question) = question {
            self.base.actions.push(Action::Deliver(question));
            self.pending.close(question);
            let by = self.by_host();
            self.base.desk.end(question, outcome, by, now);
            self.base.tell();
        }
    }

    /// Holds a call in which no person has answered, and leaves the question to the inbox. It opens now if the host had to
    /// give first what it alone has.
    fn leave_to_inbox(
        &mut self,
        number: u64,
        input: &InputRequired,
        why: UnansweredReason,
        forward: Action,
        now: Duration,
    ) {
        if let Some(question) = self.calls.get(number).and_then(|call| call.question) {
            if let Some(open) = self.pending.get_mut(question) {
                open.host_asked = None;
            }
            return self.left_by_host(question, why);
        }
        let errand = Errand::Input(Arc::new(input.clone()));
        let question = input.batch.question();
        let is_open =
            question.is_ok_and(|it| self.open_errand(number, it, errand, input.bytes(), false, now));
        if !is_open {
            self.forward_call(number, Outcome::Failed, forward, now);
        }
    }

    /// Returns the call with what was said, as the server is to get it now, and takes note of its ID.
    pub(super) fn repeat(
        &mut self,
        number: u64,
        write: impl FnOnce(&[u8], &str) -> Option<Vec<u8>>,
    ) -> Option<Bytes> {
        let id = format!("\"{}\"", self.made_up_id());
        let call = self.calls.get_mut(number)?;
        let again = write(call.line.as_ref()?, &id)?;
        (call.errand, call.question) = (None, None);
        self.calls.set_server(number, Some(RequestId::new(&id)));
        Some(again.into())
    }

    /// Returns the response to a call that ends because nobody can be asked any more.
    pub(super) fn unasked(&self, number: u64) -> Option<Bytes> {
        let host = self.calls.get(number)?.host.as_ref()?;
        Some(line::error(
            host.as_str(),
            line::INTERNAL_ERROR,
            "askbridge can ask nobody what this call needs, or cannot send it again",
        ))
    }
}
