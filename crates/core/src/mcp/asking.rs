//! Opens questions: for a request of the server, which the host is sent as well where it shows such requests.

use std::{sync::Arc, time::Duration};

use super::{
    config::Elicitation,
    core::Core,
    pending::{OpenQuestion, Request, Source},
};
use crate::{
    desk::Opening,
    dialect::mcp::{Batch, Mode, errand::elicitation_id},
    engine::{Action, Peer},
    guard, limits,
    question::{Question, Reason},
    wire::{envelope::Message, id::RequestId, line, scan::member},
};

impl Core {
    /// Handles an elicitation.
    pub(super) fn asks(&mut self, id: &str, message: &Message<'_>, now: Duration) {
        let params = message.params.unwrap_or_default();
        if self.pending.number(id).is_some() {
            let error = line::error(id, line::INVALID_REQUEST, "a question with this ID is still open");
            return self.base.actions.push(Action::Send(Peer::Agent, error));
        }
        let (true, Some(mode)) = (self.asks_inbox(), Mode::of(params)) else {
            return self.leave_to_host(id);
        };
        let shows = self.config.elicitation == Elicitation::Both && self.host.has(mode);
        let read = Batch::read([(String::new(), params)]);
        let opened = read.and_then(|read| match read {
            Some((question, batch)) => {
                let request = Request {
                    id: RequestId::new(id),
                    batch,
                    mode,
                    token: progress_token(member(params, "_meta")),
                    page: elicitation_id(params),
                };
                self.open_request(question, request, params.len(), shows, now)
            }
            None => Err("its mode is unknown".to_owned()),
        });
        match opened {
            Ok(()) if shows => self.base.actions.push(Action::Forward),
            Ok(()) => {}
            // A host that shows elicitations may understand one that the bridge cannot read.
            Err(_) if self.host.has(mode) => self.leave_to_host(id),
            Err(wrong) => {
                let error = line::error(id, line::INVALID_PARAMS, &format!("invalid elicitation: {wrong}"));
                self.base.actions.push(Action::Send(Peer::Agent, error));
            }
        }
    }

    /// Forwards a request to the host, which alone responds to it.
    fn leave_to_host(&mut self, id: &str) {
        self.pending.settled.forget(id);
        self.base.actions.push(Action::Forward);
    }

    fn open_request(
        &mut self,
        question: Question,
        request: Request,
        bytes: usize,
        shows: bool,
        now: Duration,
    ) -> Result<(), String> {
        match self.closed {
            // No server is left that could read a response.
            Some(Reason::AgentGone) => return Ok(()),
            Some(reason) => {
                for (_, result) in request.batch.write_rejection(reason.into()) {
                    let rejected = line::response(request.id.as_str(), &result);
                    self.base.actions.push(Action::Send(Peer::Agent, rejected));
                }
                return Ok(());
            }
            None => {}
        }
        if request.id.as_str().len() > limits::ID {
            return Err(format!("its request id is longer than {} bytes", limits::ID));
        }
        let bytes = bytes + request.batch.bytes();
        let calls = self.calls.running();
        self.open(question, bytes, Source::Request(Box::new(request)), calls, shows, now).map(drop)
    }

    /// Opens a question under an ID that the bridge makes up, if there is room for it, and returns its number. `bytes` is
    /// what it takes in memory beside its texts, and `shows` whether the host is asked as well.
    pub(super) fn open(
        &mut self,
        question: Question,
        bytes: usize,
        source: Source,
        calls: Vec<u64>,
        shows: bool,
        now: Duration,
    ) -> Result<u64, String> {
        let mut question = self.named(question);
        question.id = self.made_up_id();
        guard::assess(&mut question);
        question.shrink_to_fit();
        let weight = self.base.desk.weigh(&question, bytes);
        self.base.desk.check_room(None, weight).map_err(|full| full.to_string())?;
        let question = Arc::new(question);
        let timeout = self.base.timeout(&question);
        let opening =
            Opening { question: Arc::clone(&question), weight, timeout, elsewhere: !shows, context: None };
        let number = self.base.desk.open(opening, now);
        self.base.tell();
        self.pending.open(number, OpenQuestion { question, source, calls, host_asked: shows.then_some(now) });
        self.progress.begin(now);
        Ok(number)
    }
}

/// Returns the token with which the sender of a request wants to know how far it has come, as JSON, from the `_meta` of
/// the request.
pub(super) fn progress_token(meta: Option<&[u8]>) -> Option<String> {
    let token = member(meta?, "progressToken")?;
    let token = std::str::from_utf8(token).ok().filter(|token| token.len() <= limits::ID)?;
    let is_token =
        token.starts_with('"') || token.starts_with(|char: char| char == '-' || char.is_ascii_digit());
    is_token.then(|| token.to_owned())
}
