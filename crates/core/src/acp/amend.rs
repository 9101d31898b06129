//! What happens to a question while it is open: what it is about changes, or the agent stops waiting for it (I13). How
//! an update changes a permission is left to the dialect.

use std::{sync::Arc, time::Duration};

use super::{
    core::Core,
    pending::{Amended, OpenQuestion},
};
use crate::{
    dialect::permission,
    engine::{Action, Peer},
    guard,
    question::{Answer, Outcome, Provenance, Question, Reason, Role, Value},
    wire::{line, method::REQUEST_PERMISSION},
};

impl Core {
    /// Changes the permissions that satisfy `holds` by an update of their tool call. Without its JSON, the update is too
    /// long to be read.
    pub(super) fn amend_where(
        &mut self,
        holds: impl FnMut(&OpenQuestion) -> bool,
        update: Option<&[u8]>,
        now: Duration,
    ) {
        for number in self.pending.numbers(holds) {
            self.amend(number, update, now);
        }
        self.base.tell();
    }

    fn amend(&mut self, number: u64, update: Option<&[u8]>, now: Duration) {
        let Some(open) = self.pending.get(number) else { return };
        let first =
            open.amended.as_ref().map_or_else(|| Arc::clone(&open.question), |it| Arc::clone(&it.first));
        let mut question = Question::clone(&open.question);
        question.dangerous = open.is_marked;
        match update {
            Some(update) => permission::amend(&mut question, &first, update, self.protocol),
            None => permission::is_cut(&mut question),
        }
        let is_marked = question.dangerous;
        self.base.desk.fit_images(&mut question);
        guard::assess(&mut question);
        if question == *open.question {
            return;
        }
        question.shrink_to_fit();
        let question = Arc::new(question);
        // The text that was asked first is kept beside the present one.
        let weight = self.base.desk.weigh(&question, 0) + self.base.desk.weigh(&first, 0);
        match self.base.desk.amend(number, Arc::clone(&question), weight) {
            Ok(()) => {
                let question =
                    self.base.desk.get(number).map_or(question, |record| Arc::clone(&record.question));
                if let Some(open) = self.pending.get_mut(number) {
                    open.amended = Some(Amended { first, at: now });
                    (open.question, open.is_marked) = (question, is_marked);
                }
            }
            // As with a permission that exceeds a limit when it is asked: nothing that is out of date is shown.
            Err(_) => self.leave_to_client(number, now),
        }
    }

    /// Ends a permission in the inbox: only the client can answer it from now on.
    pub(super) fn leave_to_client(&mut self, number: u64, now: Duration) {
        if let Some(open) = self.pending.get(number) {
            self.say_no_more(number, open.silent_at);
        }
        self.pending.abandon(number);
        self.base.desk.end(number, Outcome::Failed, Provenance::bridge(), now);
        self.base.desk.delivered(number);
        self.base.tell();
    }

    /// Records that the turn of this session is over: what waits for its tool calls is over as well, and the agent may
    /// not read the answer to a question.
    pub(super) fn turn_over(&mut self, session: &str, now: Duration) {
        self.tool_calls.end_turn(session);
        self.base.heard.pause(session, now);
        let of_turn = |open: &OpenQuestion| open.in_turn && open.question.session.as_deref() == Some(session);
        self.over_where(|open| of_turn(open) && open.ends_with_turn(), now);
        for number in self.pending.numbers(|open| of_turn(open) && open.question.blocking) {
            self.base.desk.turn_over(number);
        }
        self.base.tell();
    }

    /// Ends the questions that satisfy `holds`, since the agent does not wait for them any more. One that is about to
    /// end for another reason ends in its time.
    pub(super) fn over_where(&mut self, holds: impl Fn(&OpenQuestion) -> bool, now: Duration) {
        self.reject_where(|open| open.closing.is_none() && holds(open), Reason::Over, now);
    }

    /// Asks the client again whether it grants a permission, since what it was asked has changed just before it
    /// answered.
    pub(super) fn ask_again(&mut self, number: u64, now: Duration) {
        let id = self.made_up_id();
        let Some(open) = self.pending.get(number) else { return };
        let params = permission::ask_again(&open.question, self.protocol);
        let request = line::request(id.as_str(), REQUEST_PERMISSION, &params);
        self.base.actions.push(Action::Send(Peer::Client, request));
        self.pending.ask(number, id, now);
        self.listen(number, now);
    }
}

/// Returns whether an answer grants a permission, or may do so.
pub(super) fn grants(question: &Question, answer: &Answer) -> bool {
    let field = question.fields.first();
    let chosen = field.and_then(|field| match answer.values.get(&field.name)? {
        Value::Text(value) => field.kind.options().iter().find(|option| option.value == *value),
        _ => None,
    });
    !chosen
        .and_then(|option| option.role.as_deref())
        .is_some_and(|role| matches!(role, Role::RejectOnce | Role::RejectAlways))
}
