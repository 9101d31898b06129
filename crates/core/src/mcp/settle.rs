//! The end of a question: which peer is told, and in which order. Whether a submission may end it is left to the desk.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;

use super::{
    calls::{Errand, Said},
    core::Core,
    gate,
    pending::{OpenQuestion, Request, Source},
};
use crate::{
    desk::{Submission, TicketedSubmission},
    dialect::{
        Rejection,
        mcp::{InputRequired, ToolCall, UrlsRequired, refused},
    },
    engine::{Action, Peer},
    question::{Answer, Field, Outcome, Provenance, Question, Reason, Value},
    wire::{envelope::Message, line, method::MCP_CANCELLED, splice},
};

/// How an outcome reaches whoever waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Delivery {
    /// By a line for the server.
    ToServer,
    /// The server is to hear nothing of it.
    Done,
    /// Not at all: nothing could be written.
    Lost,
}

impl Core {
    /// Hands in what a responder other than the host submits.
    pub(super) fn submitted(&mut self, submitted: TicketedSubmission, now: Duration) {
        let number = submitted.number;
        // The desk consumes the submission, and an outcome has no remark.
        let remark = match &submitted.submission {
            Submission::Reject(remark) => remark.clone(),
            _ => None,
        };
        if let Some(outcome) = self.base.desk.submit(submitted, now) {
            let delivery = self.respond(number, &outcome, remark.as_deref());
            self.settle(number, delivery);
        }
        self.base.tell();
    }

    /// Settles a question whose outcome is not on its way to the server.
    fn settle(&mut self, number: u64, delivery: Delivery) {
        match delivery {
            Delivery::ToServer => {}
            Delivery::Done => self.base.desk.delivered(number),
            Delivery::Lost => self.base.desk.undeliverable(number),
        }
    }

    /// Rejects all open questions, and those that are still to come.
    pub(super) fn close(&mut self, reason: Reason, now: Duration) {
        // The first reason counts, unless the server is gone: then no response can be sent.
        if self.closed.is_none() || reason == Reason::AgentGone {
            self.closed = Some(reason);
        }
        for number in self.pending.numbers(|_| true) {
            self.reject(number, reason, now);
        }
    }

    /// Ends the questions that have reached their deadline, and warns of those that soon will.
    pub(super) fn expire(&mut self, now: Duration) {
        let over = self.base.desk.tick(now);
        self.base.tell();
        for number in over {
            self.reject(number, Reason::Timeout, now);
        }
    }

    fn reject(&mut self, number: u64, reason: Reason, now: Duration) {
        let outcome = Outcome::Rejected(reason);
        if reason == Reason::AgentGone {
            // No server is left that could receive the outcome.
            self.pending.close(number);
            return self.end_undelivered(number, outcome, Provenance::bridge(), now);
        }
        self.end(number, outcome, Provenance::bridge(), now);
    }

    /// Ends a question with this outcome, which whoever waits for it is told.
    fn end(&mut self, number: u64, outcome: Outcome, by: Provenance, now: Duration) {
        let delivery = self.respond(number, &outcome, None);
        self.base.desk.end(number, outcome, by, now);
        self.settle(number, delivery);
        self.base.tell();
    }

    /// Ends a question that the server took back.
    pub(super) fn withdrawn(&mut self, number: u64, now: Duration) {
        let Some(open) = self.pending.close(number) else { return };
        if let Some(request) = open.request().filter(|_| open.host_asked.is_some()) {
            self.pending.settled.remember(request.id.as_str(), 0);
        }
        self.end_undelivered(number, Outcome::Rejected(Reason::Withdrawn), Provenance::bridge(), now);
    }

    /// Ends a question whose call the host has ended.
    pub(super) fn given_up(&mut self, number: u64, now: Duration) {
        let by = self.by_host();
        let outcome = Outcome::Rejected(Reason::CallEnded);
        // A call that the host ended gets no response. A server still waits for that to its own request.
        if self.pending.get(number).is_some_and(|open| open.request().is_some()) {
            return self.end(number, outcome, by, now);
        }
        self.pending.close(number);
        self.end_undelivered(number, outcome, by, now);
    }

    /// Ends the questions about a page that the server says is done with.
    pub(super) fn page_is_done(&mut self, page: &str, now: Duration) {
        let waits = |open: &OpenQuestion| match (&open.source, open.call()) {
            (Source::Request(request), _) => request.page.as_deref() == Some(page),
            (_, Some(call)) => matches!(
                self.calls.get(call).and_then(|call| call.errand.as_ref()),
                Some(Errand::Pages(pages, _)) if pages.ids == [page]
            ),
            _ => false,
        };
        for number in self.pending.numbers(waits) {
            let Some(open) = self.pending.get(number) else { continue };
            let opened = |field: &Field| (field.name.clone(), Value::Flag(true));
            let values = open.question.fields.iter().map(opened).collect();
            let outcome = Outcome::Answered(Answer { values, ..Answer::default() });
            let by = Provenance { name: self.server.as_deref().map(str::to_owned), ..Provenance::bridge() };
            self.end(number, outcome, by, now);
        }
    }

    /// Ends a question to which nothing is written.
    fn end_undelivered(&mut self, number: u64, outcome: Outcome, by: Provenance, now: Duration) {
        self.base.desk.end(number, outcome, by, now);
        self.base.desk.delivered(number);
        self.base.tell();
    }

    /// Gives the outcome of a question to whoever waits for it.
    fn respond(&mut self, number: u64, outcome: &Outcome, remark: Option<&str>) -> Delivery {
        let Some(open) = self.pending.close(number) else { return Delivery::Lost };
        let rejection = match outcome {
            Outcome::Rejected(reason) => Some(Rejection { reason: *reason, remark }),
            _ => None,
        };
        match &open.source {
            Source::Request(request) => self.respond_to(number, &open, request, outcome, rejection),
            Source::Gate(call) => self.allow(number, *call, &open.question, outcome, rejection),
            Source::Errand(call) => self.go_on(number, *call, &open.question, outcome, rejection),
        }
    }

    fn respond_to(
        &mut self,
        number: u64,
        open: &OpenQuestion,
        request: &Request,
        outcome: &Outcome,
        rejection: Option<Rejection<'_>>,
    ) -> Delivery {
        let results = match (outcome, rejection) {
            (Outcome::Answered(answer), _) => request.batch.write_answer(answer),
            (_, Some(rejection)) => request.batch.write_rejection(rejection),
            _ => return Delivery::Lost,
        };
        let id = request.id.as_str();
        let responses = results.iter().map(|(_, result)| Action::Respond(number, line::response(id, result)));
        self.base.actions.extend(responses);
        // The host still shows it.
        if open.host_asked.is_some() && *outcome != Outcome::Rejected(Reason::ClientGone) {
            self.pending.settled.remember(id, 0);
            let why = if *outcome == Outcome::Rejected(Reason::CallEnded) {
                "its call has ended"
            } else {
                "it is settled"
            };
            self.base.actions.push(Action::Send(Peer::Client, taken_back(id, why)));
        }
        Delivery::ToServer
    }

    /// Sends the server the call that was allowed, or the host a result that says why it was not.
    fn allow(
        &mut self,
        number: u64,
        call: u64,
        question: &Question,
        outcome: &Outcome,
        rejection: Option<Rejection<'_>>,
    ) -> Delivery {
        let Some(waiting) = self.calls.get(call) else { return Delivery::Lost };
        let (host, line) = (waiting.host.clone(), waiting.line.clone());
        let is_allowed = matches!(outcome, Outcome::Answered(answer) if gate::allows(question, answer));
        if let Some(line) = line.clone().filter(|_| is_allowed) {
            self.base.actions.push(Action::Respond(number, line));
            if let Some(waiting) = self.calls.get_mut(call) {
                waiting.question = None;
            }
            self.calls.set_server(call, host);
            return Delivery::ToServer;
        }
        let params = line.as_deref().and_then(|line| Message::read(line)?.params);
        let tool = params.and_then(ToolCall::read).map_or_else(|| "The tool".to_owned(), |call| call.tool);
        let rejection = rejection.unwrap_or(Rejection { reason: Reason::User, remark: None });
        let result = host.map(|host| line::response(host.as_str(), &refused(&tool, rejection)));
        self.base.actions.extend(result.map(|result| Action::Send(Peer::Client, result)));
        self.calls.remove(call);
        Delivery::Done
    }

    /// Sends a call again with what was said, or gives it up.
    fn go_on(
        &mut self,
        number: u64,
        call: u64,
        question: &Arc<Question>,
        outcome: &Outcome,
        rejection: Option<Rejection<'_>>,
    ) -> Delivery {
        let errand = self.calls.get(call).and_then(|call| call.errand.clone());
        let is_ending = self.closed.is_some();
        let again = match (&errand, outcome) {
            _ if is_ending => None,
            (Some(Errand::Input(input)), _) => self.repeat_with(call, input, question, outcome, rejection),
            (Some(Errand::Pages(pages, _)), Outcome::Answered(answer)) => {
                self.repeat_opened(call, pages, answer)
            }
            _ => None,
        };
        if let Some(again) = again {
            self.base.actions.push(Action::Respond(number, again));
            return Delivery::ToServer;
        }
        let (response, delivery) = match errand {
            // What the person declined is the error of the call, for the host.
            Some(Errand::Pages(_, response)) if !is_ending => {
                (self.as_host_knows(call, response), Delivery::Done)
            }
            _ if is_ending => (self.unasked(call), Delivery::Done),
            _ => (self.unasked(call), Delivery::Lost),
        };
        self.base.actions.extend(response.map(|response| Action::Send(Peer::Client, response)));
        self.calls.remove(call);
        delivery
    }

    fn repeat_with(
        &mut self,
        call: u64,
        input: &InputRequired,
        question: &Arc<Question>,
        outcome: &Outcome,
        rejection: Option<Rejection<'_>>,
    ) -> Option<Bytes> {
        let results = match (outcome, rejection) {
            (Outcome::Answered(answer), _) => input.batch.write_answer(answer),
            (_, Some(rejection)) => input.batch.write_rejection(rejection),
            _ => return None,
        };
        let again = self.repeat(call, |line, id| input.retry(line, id, &results));
        if let Some(call) = self.calls.get_mut(call) {
            let results = results.iter().map(|(key, result)| ((*key).to_owned(), result.clone())).collect();
            call.said = Some(Said { question: Arc::clone(question), results, is_restarted: false });
        }
        again
    }

    fn repeat_opened(&mut self, call: u64, pages: &UrlsRequired, answer: &Answer) -> Option<Bytes> {
        let is_opened = pages.batch.is_accepted(answer);
        if is_opened { self.repeat(call, |line, id| splice::replace_member(line, "id", id)) } else { None }
    }

    /// Returns a response of the server under the ID by which the host knows the call.
    fn as_host_knows(&self, call: u64, response: Bytes) -> Option<Bytes> {
        let host = self.calls.get(call)?.host.as_ref()?;
        splice::replace_member(&response, "id", host.as_str()).map(Into::into)
    }
}

/// Returns the line that takes a request back from the host.
fn taken_back(id: &str, why: &str) -> Bytes {
    line::line(format!(
        r#"{{"jsonrpc":"2.0","method":"{MCP_CANCELLED}","params":{{"requestId":{id},"reason":"{why}"}}}}"#
    ))
}
