//! The lines of the agent: questions, withdrawals, responses and updates.

use std::{sync::Arc, time::Duration};

use super::{
    capabilities,
    config::Presentation,
    core::Core,
    pending::{ClosingReason, OpenQuestion},
    tool_calls::CallUpdate,
};
use crate::{
    desk::Opening,
    dialect::{
        self, AgentQuestion, ReplyFormat, ShownBy,
        permission::{self, Protocol},
    },
    engine::{Action, Line, Peer},
    guard, limits,
    question::{Purpose, Question, Reason},
    wire::{
        envelope::Message,
        id::RequestId,
        line,
        method::{CANCEL_REQUEST, SESSION_UPDATE},
        scan, splice,
    },
};

/// A question that is about to open.
struct ReadQuestion {
    question: Arc<Question>,
    /// Whether the agent marked it as dangerous.
    is_marked: bool,
    reply_format: ReplyFormat,
    /// How many bytes it counts for.
    weight: usize,
}

impl Core {
    /// Handles an intercepted line of the agent.
    pub(super) fn agent_line(&mut self, line: &Line, now: Duration) {
        let Some(message) = line.message() else { return self.base.actions.push(Action::Forward) };
        match (message.method.as_deref(), message.id) {
            (Some(CANCEL_REQUEST), None) => self.agent_withdraws(&message, now),
            (Some(SESSION_UPDATE), None) => self.agent_updates(&message, line, now),
            (Some(method), Some(id)) if line.whole => {
                self.agent_request(method, id, &message, line, now);
            }
            (Some(method), id) => {
                match id {
                    Some(id) => self.pending.forget(id),
                    // The ID may stand behind the held beginning of the line, so it may be that of any settled
                    // question.
                    None if !line.whole => self.pending.forget_responded(),
                    None => {}
                }
                self.agent_talks(method, &message, line, now);
            }
            (None, Some(id)) if message.responds() => self.agent_response(id, &message, line, now),
            _ => self.base.actions.push(Action::Forward),
        }
    }

    /// Forwards a line that is no question.
    fn agent_talks(&mut self, method: &str, message: &Message<'_>, line: &Line, now: Duration) {
        if method == SESSION_UPDATE {
            self.hint_before(message);
            let update = CallUpdate::read(message, line.whole);
            self.hear(line, update.as_ref(), now);
            if let Some(update) = update {
                self.note_call(&update);
            }
        }
        self.base.actions.push(Action::Forward);
    }

    /// Forwards an update, and changes or ends the permissions that wait for its tool call.
    fn agent_updates(&mut self, message: &Message<'_>, line: &Line, now: Duration) {
        if !line.whole {
            // The ID may stand behind the held beginning of the line, so it may be that of any settled question.
            self.pending.forget_responded();
        }
        self.agent_talks(SESSION_UPDATE, message, line, now);
        if self.protocol == Protocol::V2 {
            self.agent_states(message, now);
        }
        let update = CallUpdate::read(message, line.whole).filter(|_| self.pending.waits_for_call());
        let Some(update) = update else { return };
        let waits = |open: &OpenQuestion| {
            let (session, call) = (open.question.session.as_deref(), open.question.tool_call.as_deref());
            update.concerns(session, call)
        };
        if update.ends() {
            self.over_where(|open| open.ends_with_turn() && waits(open), now);
        } else {
            self.amend_where(|open| open.is_permission() && waits(open), update.json, now);
        }
    }

    /// Follows what the agent says of its work: in version 2 of ACP, this and not the response to a prompt ends a turn.
    fn agent_states(&mut self, message: &Message<'_>, now: Duration) {
        let member =
            |name| message.param("update").and_then(|update| scan::text(scan::member(update, name)?));
        let is_state = member("sessionUpdate").is_some_and(|kind| kind == "state_update");
        let (Some(state), Some(session)) = (member("state").filter(|_| is_state), message.session()) else {
            return;
        };
        match &*state {
            "running" | "requires_action" => self.turns.work(&session),
            "idle" => {
                self.turns.rest(&session);
                self.turn_over(&session, now);
            }
            _ => {}
        }
    }

    /// Remembers the tool call in an update.
    fn note_call(&mut self, update: &CallUpdate<'_>) {
        let in_turn = self.turns.runs_in(&update.session);
        self.tool_calls.update(update, in_turn);
    }

    fn agent_request(&mut self, method: &str, id: &str, message: &Message<'_>, line: &Line, now: Duration) {
        let made_up = format!("askbridge-{}", self.made_up + 1);
        let params = message.params.unwrap_or_default();
        match self.read(method, params, &made_up) {
            Ok(Some(asked)) if is_permission(&asked) && !self.lists_permission(id, now) => {
                self.ordinary_request(method, id, message, line, now);
            }
            Ok(Some(asked)) => {
                // A question that has its own ID does not use up this number.
                self.made_up += u64::from(asked.question.id == made_up);
                self.question(id, asked, line, now);
            }
            // A client that shows this method may understand a request that the bridge cannot read.
            Err(_) if self.shows_method(method) => self.ordinary_request(method, id, message, line, now),
            Err(wrong) => self.refuse(id, &wrong),
            Ok(None) => self.ordinary_request(method, id, message, line, now),
        }
    }

    /// Returns whether the permission of this request is listed in the inbox. Otherwise the client alone is asked: a
    /// permission is never refused with an error.
    fn lists_permission(&mut self, id: &str, now: Duration) -> bool {
        let Some(number) = self.pending.number(id) else { return self.config.common.permissions };
        // The client's responses to two permissions of the same id cannot be told apart: both are forwarded unchanged.
        if self.pending.get(number).is_some_and(OpenQuestion::is_permission) {
            self.leave_to_client(number, now);
        }
        false
    }

    fn shows_method(&self, method: &str) -> bool {
        // The bridge understands all of the extension, so a request that it cannot read is invalid.
        dialect::shown_by(method).is_some_and(|clients| clients != ShownBy::Extension && self.shows(clients))
    }

    fn ordinary_request(
        &mut self,
        method: &str,
        id: &str,
        message: &Message<'_>,
        line: &Line,
        now: Duration,
    ) {
        self.pending.forget(id);
        self.note_unread(method, id, message.params.unwrap_or_default());
        self.agent_talks(method, message, line, now);
    }

    fn refuse(&mut self, id: &str, wrong: &str) {
        let error = line::error(id, line::INVALID_PARAMS, &format!("invalid question: {wrong}"));
        self.base.actions.push(Action::Send(Peer::Agent, error));
    }

    fn question(&mut self, id: &str, asked: AgentQuestion, line: &Line, now: Duration) {
        match self.closed {
            // No agent is left that could read a rejection.
            Some(Reason::AgentGone) => return self.base.actions.push(Action::Forward),
            Some(reason) => {
                let rejected = line::response(id, &asked.reply_format.write_rejection(reason.into()));
                return self.base.actions.push(Action::Send(Peer::Agent, rejected));
            }
            None => {}
        }
        if self.pending.number(id).is_some() {
            let error = line::error(id, line::INVALID_REQUEST, "a question with this ID is still open");
            return self.base.actions.push(Action::Send(Peer::Agent, error));
        }
        let AgentQuestion { mut question, reply_format } = asked;
        if question.purpose == Purpose::Permission {
            let params = line.message().and_then(|message| message.params);
            self.complete(&mut question, params.is_some_and(permission::is_titled));
        }
        let is_marked = question.dangerous;
        question.session = question.session.take().or_else(|| self.session_of(&question));
        let folder = question.session.as_deref().and_then(|session| self.sessions.folder(session));
        (question.agent, question.project) = (self.agent.clone(), folder.cloned());
        self.base.desk.fit_images(&mut question);
        // The risk depends on the updates of the tool call and on the session's folder: both are known only now.
        guard::assess(&mut question);
        question.shrink_to_fit();
        let question = Arc::new(question);
        match self.weigh(id, &question, line) {
            Ok(weight) => {
                self.open(id, ReadQuestion { question, is_marked, reply_format, weight }, line, now);
            }
            // A permission that exceeds a limit is no error: it is left to the client. Its response must not be
            // dropped as a late one to an earlier question with this ID.
            Err(_) if question.purpose == Purpose::Permission => {
                self.pending.forget(id);
                self.base.actions.push(Action::Forward);
            }
            Err(wrong) => self.refuse(id, &wrong),
        }
    }

    /// Adds to a permission what the agent said only in updates of the tool call.
    fn complete(&mut self, permission: &mut Question, is_titled: bool) {
        let (Some(session), Some(id)) = (permission.session.clone(), permission.tool_call.clone()) else {
            return;
        };
        permission::complete(permission, self.tool_calls.updates(&session, &id), is_titled);
        self.tool_calls.asked(&session, &id, self.turns.runs_in(&session));
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

    fn open(&mut self, id: &str, read: ReadQuestion, line: &Line, now: Duration) {
        let ReadQuestion { question, is_marked, reply_format, weight } = read;
        let timeout = self.base.timeout(&question);
        let presentation = self.first_presentation(&question, &reply_format);
        let own = matches!(presentation, Presentation::Own);
        let id = RequestId::new(id);
        // The client's response to another request must not be taken for one to this question.
        let shown_as = if self.pending.is_taken(id.as_str()) { self.made_up_id() } else { id.clone() };
        if own {
            let renamed = if shown_as == id {
                None
            } else {
                splice::replace_member(&line.bytes, "id", shown_as.as_str())
            };
            self.base.actions.push(renamed.map_or(Action::Forward, |bytes| Action::ForwardAs(bytes.into())));
        }
        let elsewhere = matches!(presentation, Presentation::None);
        let context = self.base.heard.before(&question);
        let opening = Opening { question: Arc::clone(&question), weight, timeout, elsewhere, context };
        let number = self.base.desk.open(opening, now);
        // The desk has the data of its images from now on.
        let question = self.base.desk.get(number).map_or(question, |record| Arc::clone(&record.question));
        self.base.tell();
        let in_turn = question.session.as_deref().is_some_and(|session| self.turns.runs_in(session));
        let crosses = question.purpose == Purpose::Permission && self.is_cancelled(&question);
        self.pending.open(OpenQuestion {
            id,
            number,
            question,
            reply_format,
            presentation,
            asked: None,
            awaiting_response: false,
            closing: None,
            hinted: false,
            silent_at: None,
            in_turn,
            amended: None,
            is_marked,
        });
        if own {
            self.pending.ask(number, shown_as, now);
            self.listen(number, now);
        } else {
            self.show(number, now);
        }
        // The permission and the cancellation of its turn have crossed.
        if crosses {
            self.leave_as_cancelled(number, now);
        }
    }

    /// Returns whether a question belongs to a turn that was cancelled.
    pub(super) fn is_cancelled(&self, question: &Question) -> bool {
        question.session.as_deref().is_some_and(|session| self.turns.is_cancelled(session))
    }

    /// Returns an ID that no other request to the client has.
    pub(super) fn made_up_id(&mut self) -> RequestId {
        loop {
            let id = format!("\"askbridge-{}\"", self.next_number());
            // An agent that is a bridge itself makes up such IDs as well.
            if !self.pending.knows(&id) {
                return RequestId::new(&id);
            }
        }
    }

    /// Handles the withdrawal of a question. A client that was asked gets a cancellation, and [`limits::WITHDRAW`] to
    /// respond.
    fn agent_withdraws(&mut self, message: &Message<'_>, now: Duration) {
        let id = message.param("requestId").and_then(|id| std::str::from_utf8(id).ok());
        let number = id.and_then(|id| self.pending.number(id));
        let Some((number, open)) = number.and_then(|number| Some((number, self.pending.get_mut(number)?)))
        else {
            return self.base.actions.push(Action::Forward);
        };
        if !open.awaiting_response {
            return self.withdrawn(number, now);
        }
        open.closing = Some(ClosingReason::Withdrawn);
        self.base.actions.push(match &open.asked {
            // The agent's notification names an ID under which the client was not asked.
            Some(asked) if asked.id != open.id => {
                Action::Send(Peer::Client, line::cancel_request(asked.id.as_str()))
            }
            _ => Action::Forward,
        });
        self.base.desk.close(number, now.saturating_add(limits::WITHDRAW));
    }

    fn agent_initialized(&mut self, message: &Message<'_>, line: &Line) {
        self.protocol = message.result.map(capabilities::protocol).unwrap_or_default();
        self.agent = message.result.and_then(capabilities::agent_name);
        self.takes_own_text = message.result.is_some_and(capabilities::takes_own_text);
        let agent = message.result.map(capabilities::introduction_of_agent);
        self.base.introduce(|said| said.agent = agent);
        let advertises = self.config.advertise && line.whole;
        let advertised = if advertises { capabilities::advertise_to_client(&line.bytes) } else { None };
        self.base.actions.push(match advertised {
            Some(bytes) => Action::Send(Peer::Client, bytes.into()),
            None => Action::Forward,
        });
    }

    fn agent_response(&mut self, id: &str, message: &Message<'_>, line: &Line, now: Duration) {
        if self.initialize.as_ref().is_some_and(|own| own.is(id)) {
            self.initialize = None;
            return self.agent_initialized(message, line);
        }
        if self.sessions.awaits(id) {
            self.sessions.responded(id, message.result);
            let session = message.result.and_then(|result| scan::text(scan::member(result, "sessionId")?));
            if let Some(session) = session {
                self.tool_calls.forget(&session);
                self.base.heard.forget(&session, now);
            }
            return self.base.actions.push(Action::Forward);
        }
        if self.tool_calls.awaits(id) {
            self.tool_calls.loaded(id);
            return self.base.actions.push(Action::Forward);
        }
        let turn = self.turns.end(id);
        if let Some(turn) = &turn {
            // The hint is sent before the response, since an update behind the response would belong to no turn.
            self.hint_at_end(&turn.session);
        }
        self.base.actions.push(Action::Forward);
        let Some(turn) = turn else { return };
        // A held prompt waits for the last of the turns that run in its session.
        if self.turns.owes_response(&turn.session) {
            return;
        }
        if self.protocol == Protocol::V1 {
            self.turn_over(&turn.session, now);
        } else if !message.failed() {
            self.turns.acknowledged(&turn);
        }
        if let Some(held) = self.turns.release(&turn.session) {
            self.base.actions.push(Action::Send(Peer::Agent, held.line));
            self.turns.start(&held.id, held.session);
        }
    }
}

fn is_permission(asked: &AgentQuestion) -> bool {
    asked.question.purpose == Purpose::Permission
}
