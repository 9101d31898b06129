//! The host's responses to what it was asked: which of them are a person's answer, and what becomes of the others. A host
//! that refuses faster than a person can read, responds with an error, or with a result of no known meaning, has not
//! answered (I14).

use std::time::Duration;

use super::core::Core;
use crate::{
    dialect::{ReplyMeta, mcp::Batch},
    engine::{Action, Line, UnansweredReason},
    question::{Answer, Outcome, Question, check},
    wire::{envelope::Message, line},
};

impl Core {
    /// Handles a response of the host with this ID.
    pub(super) fn host_response(&mut self, id: &str, line: &Line, now: Duration) {
        let Some(number) = self.pending.number(id) else {
            // The server has the answer of another responder already.
            if self.pending.settled.knows(id) {
                return self.pending.settled.forget(id);
            }
            return self.base.actions.push(Action::Forward);
        };
        let Some(open) = self.pending.get(number) else { return };
        // It was not asked, or has responded already.
        if open.host_asked.is_none() {
            return;
        }
        let message = line.message().unwrap_or_default();
        match self.said(number, &message, line, now) {
            Ok(outcome) => {
                self.base.actions.extend([Action::Forward, Action::Deliver(number)]);
                self.pending.close(number);
                let by = self.by_host();
                self.base.desk.end(number, outcome, by, now);
                self.base.tell();
            }
            Err(why) => {
                if let Some(open) = self.pending.get_mut(number) {
                    open.host_asked = None;
                }
                self.left_by_host(number, why);
            }
        }
    }

    /// Returns what a person said in the host.
    fn said(
        &mut self,
        number: u64,
        message: &Message<'_>,
        line: &Line,
        now: Duration,
    ) -> Result<Outcome, UnansweredReason> {
        let Some(open) = self.pending.get(number) else { return Err(UnansweredReason::NotUnderstood) };
        let Some(request) = open.request() else { return Err(UnansweredReason::NotUnderstood) };
        if message.failed() {
            let (code, mode) = (message.error_code().unwrap_or_default(), request.mode);
            // It is not asked again.
            if code == line::METHOD_NOT_FOUND {
                self.host.remove(mode);
            }
            return Err(UnansweredReason::Refused(code));
        }
        // A response that is too long to hold cannot be read. Only a person fills in as much.
        if !line.whole {
            return Ok(Outcome::Failed);
        }
        let result = message.result.unwrap_or_default();
        let outcome = request.batch.read_results(|_| Some(result)).ok_or(UnansweredReason::NotUnderstood)?;
        decided(&open.question, &request.batch, outcome, open.reaction(now), ReplyMeta::has_reason(result))
    }
}

/// Returns the outcome of a host, unless it decided by itself or its answer does not fit. `reaction` is how fast it was, if
/// no person is as fast; another bridge, which gives a reason, has judged that itself.
pub(super) fn decided(
    question: &Question,
    batch: &Batch,
    outcome: Outcome,
    reaction: Option<Duration>,
    gives_reason: bool,
) -> Result<Outcome, UnansweredReason> {
    let says_nothing = match &outcome {
        Outcome::Rejected(_) => !gives_reason,
        Outcome::Answered(answer) => answer.is_blank() || batch.is_consent(),
        Outcome::Failed | Outcome::Unknown(_) => false,
    };
    if let Some(reaction) = reaction.filter(|_| says_nothing) {
        return Err(UnansweredReason::ByItself(reaction));
    }
    match &outcome {
        Outcome::Answered(answer) if *answer == Answer::default() => {
            check(question, answer).map_err(UnansweredReason::DoesNotFit)?;
        }
        _ => {}
    }
    Ok(outcome)
}
