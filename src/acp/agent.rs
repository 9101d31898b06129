//! What a line of the agent leads to.

use std::{sync::Arc, time::Duration};

use memchr::memmem;

use super::{
    bridge::Bridge,
    capabilities,
    event::{Action, Line, Opened, Peer},
    pending::Open,
    presentation::Way,
};
use crate::{
    dialect::{self, Asked, ReplyFormat, elicitation::FormReply, kiro::KiroReply},
    limits,
    question::{Question, Reason},
    wire::{
        envelope::Message,
        id::RequestId,
        line,
        method::{CURSOR_PREFIX, ELICITATION_CREATE, KIRO_USER_INPUT},
    },
};

impl Bridge {
    /// Handles a wanted line of the agent.
    pub(super) fn agent_line(&mut self, line: &Line, now: Duration) {
        let Some(message) = line.message() else { return self.actions.push(Action::Forward) };
        match (message.method.as_deref(), message.id) {
            (Some("$/cancel_request"), None) => self.agent_withdraws(&message, now),
            (Some(method), Some(id)) if line.whole => self.agent_request(method, id, &message, now),
            (Some(method), id) => {
                match id {
                    Some(id) => self.pending.forget(id),
                    // Its id may come behind what is held of it.
                    None if !line.whole => self.pending.forget_responded(),
                    None => {}
                }
                self.agent_talks(method, &message);
            }
            (None, Some(id)) if message.responds() => self.agent_response(id, &message, line),
            _ => self.actions.push(Action::Forward),
        }
    }

    /// What is no question goes on; of an agent whose questions need it, the tool calls are remembered.
    fn agent_talks(&mut self, method: &str, message: &Message<'_>) {
        if method.starts_with(CURSOR_PREFIX) {
            self.tool_calls.follow();
        }
        if method == "session/update" {
            self.tool_calls.update(message);
        }
        self.actions.push(Action::Forward);
    }

    fn agent_request(&mut self, method: &str, id: &str, message: &Message<'_>, now: Duration) {
        let made_up = format!("askbridge-{}", self.made_up + 1);
        let params = message.params.unwrap_or_default();
        match dialect::read(method, params, &made_up) {
            Ok(Some(asked)) => {
                self.made_up += u64::from(asked.question.id == made_up);
                self.question(id, asked, params.len(), now);
            }
            // What a client takes as it is, it may judge better.
            Err(_) if self.takes_method(method) => self.ordinary_request(method, id, message),
            Err(wrong) => self.refuse(id, &wrong),
            Ok(None) => self.ordinary_request(method, id, message),
        }
    }

    fn takes_method(&self, method: &str) -> bool {
        let words = match method {
            ELICITATION_CREATE => ReplyFormat::Elicitation(FormReply::default()),
            KIRO_USER_INPUT => ReplyFormat::Kiro(KiroReply),
            _ => return false,
        };
        self.takes_own(&words)
    }

    fn ordinary_request(&mut self, method: &str, id: &str, message: &Message<'_>) {
        self.pending.forget(id);
        self.agent_talks(method, message);
    }

    fn refuse(&mut self, id: &str, wrong: &str) {
        let error = line::error(id, line::INVALID_PARAMS, &format!("invalid question: {wrong}"));
        self.actions.push(Action::Send(Peer::Agent, error));
    }

    fn question(&mut self, id: &str, asked: Asked, size: usize, now: Duration) {
        match self.closed {
            // Nobody is left to be told.
            Some(Reason::AgentGone) => return self.actions.push(Action::Forward),
            Some(reason) => {
                let rejected = line::response(id, &asked.reply_format.write_rejection(reason));
                return self.actions.push(Action::Send(Peer::Agent, rejected));
            }
            None => {}
        }
        if self.pending.get(id).is_some() {
            let error = line::error(id, line::INVALID_REQUEST, "a question with this id is still open");
            return self.actions.push(Action::Send(Peer::Agent, error));
        }
        let Asked { mut question, reply_format: words } = asked;
        if matches!(words, ReplyFormat::Cursor(_)) {
            self.tool_calls.follow();
        }
        question.session = question.session.take().or_else(|| self.session_of(&question));
        let size = question.weight(size);
        let room = self.pending.check_room(question.session.as_deref(), size);
        let short = if id.len() > limits::ID {
            Err(format!("its request id is longer than {} bytes", limits::ID))
        } else {
            Ok(())
        };
        match short.and(room) {
            Ok(()) => self.open(id, question, words, size, now),
            Err(wrong) => self.refuse(id, &wrong),
        }
    }

    /// Finds the session of a question that does not name it: that of its tool call, or of the request that it
    /// belongs to, or the only one whose turn is running.
    fn session_of(&self, question: &Question) -> Option<String> {
        let of_tool_call = question.tool_call.as_deref().and_then(|id| self.tool_calls.session(id));
        let session = match &question.request {
            Some(request) => self.turns.session(request),
            None => of_tool_call.or_else(|| self.turns.only_session()),
        };
        session.map(str::to_owned)
    }

    fn open(&mut self, id: &str, question: Question, words: ReplyFormat, size: usize, now: Duration) {
        // The shorter one, where both the agent and the user have one.
        let timeout = [question.timeout, self.config.timeout].into_iter().flatten().min();
        let deadline = timeout.map(|timeout| now.saturating_add(timeout));
        self.opened += 1;
        let way = self.first_way(&question, &words);
        let own = matches!(way, Way::Own);
        let id = RequestId::new(id);
        let taken = !own && self.pending.is_owed(id.as_str());
        let shown_as = if taken { self.made_up_id() } else { id.clone() };
        let (number, elsewhere) = (self.opened, matches!(way, Way::None));
        let opened =
            Arc::new(Opened { number, question: Arc::new(question), since: now, deadline, elsewhere });
        if own {
            self.actions.push(Action::Forward);
        }
        self.actions.push(Action::Opened(Arc::clone(&opened)));
        let mut open = Open {
            id: id.clone(),
            opened,
            words,
            way,
            shown_as,
            owes: own,
            size,
            deadline: None,
            warning: None,
            remark: None,
            withdrawn: false,
        };
        open.set_deadline(deadline);
        self.pending.open(open);
        if !own {
            self.show(&id);
        }
    }

    fn made_up_id(&mut self) -> RequestId {
        RequestId::new(&format!("\"askbridge-{}\"", self.next_number()))
    }

    /// A client that was asked hears of it, and has a moment to answer it in its own words.
    fn agent_withdraws(&mut self, message: &Message<'_>, now: Duration) {
        let id = message.param("requestId").and_then(|id| std::str::from_utf8(id).ok());
        let Some(open) = id.and_then(|id| self.pending.get_mut(id)) else {
            return self.actions.push(Action::Forward);
        };
        if !open.owes {
            let id = open.id.clone();
            return self.withdrawn(id.as_str(), now);
        }
        if !open.withdrawn {
            open.withdrawn = true;
            (open.deadline, open.warning) = (Some(now.saturating_add(limits::WITHDRAW)), None);
        }
        self.actions.push(match open.way {
            Way::Own => Action::Forward,
            _ => Action::Send(Peer::Client, line::cancel_request(open.shown_as.as_str())),
        });
    }

    fn agent_initialized(&mut self, message: &Message<'_>, line: &Line) {
        self.protocol = message.result.map(capabilities::protocol).unwrap_or_default();
        if memmem::find(&line.bytes, b"ursor").is_some() {
            // It may be Cursor: its questions name a tool call and no session.
            self.tool_calls.follow();
        }
        let promises = self.config.promise && line.whole;
        let promised = if promises { capabilities::promise_to_client(&line.bytes) } else { None };
        self.actions.push(match promised {
            Some(bytes) => Action::Send(Peer::Client, bytes.into()),
            None => Action::Forward,
        });
    }

    fn agent_response(&mut self, id: &str, message: &Message<'_>, line: &Line) {
        if self.initialize.as_ref().is_some_and(|own| own.is(id)) {
            self.initialize = None;
            return self.agent_initialized(message, line);
        }
        self.actions.push(Action::Forward);
        let Some(session) = self.turns.end(id) else { return };
        if self.turns.runs_in(&session) {
            return;
        }
        if let Some(held) = self.turns.release(&session) {
            self.actions.push(Action::Send(Peer::Agent, held.line));
            self.turns.start(&held.id, held.session);
        }
    }
}
