//! What a responder other than the client says about a question.
//! Who that is, and how it is told, is left to the shell.

use std::{sync::Arc, time::Duration};

use super::{
    bridge::Bridge,
    event::{Action, Refused, Submission, Submitted},
};
use crate::{
    limits,
    question::{Outcome, Provenance, Reason, check},
    wire::id::RequestId,
};

impl Bridge {
    /// Does what was submitted, where it can be done.
    pub(super) fn submitted(&mut self, submitted: Submitted, now: Duration) {
        let Submitted { ticket, number, submission, by } = submitted;
        let verdict = match self.pending.id_of(number).cloned() {
            None => Err(Refused::NotOpen),
            Some(id) => self.submit(&id, submission, by, now),
        };
        self.actions.push(Action::Judged(ticket, verdict));
    }

    fn submit(
        &mut self,
        id: &RequestId,
        submission: Submission,
        by: Provenance,
        now: Duration,
    ) -> Result<(), Refused> {
        // What the agent took back is not answered any more, but by the client that was asked.
        let open =
            self.pending.get_mut(id.as_str()).filter(|open| !open.withdrawn).ok_or(Refused::NotOpen)?;
        match submission {
            Submission::Answer(answer) => {
                check(open.question(), &answer).map_err(Refused::DoesNotFit)?;
                self.settle(id, Outcome::Answered(answer), by, now);
            }
            Submission::Reject(remark) => {
                open.remark = remark;
                self.settle(id, Outcome::Rejected(Reason::User), by, now);
            }
            Submission::Extend(time) => {
                let deadline =
                    open.deadline.ok_or(Refused::NoDeadline)?.saturating_add(time.min(limits::WAIT));
                open.set_deadline(Some(deadline));
                self.actions.push(Action::Extended(Arc::clone(&open.opened), deadline));
            }
        }
        Ok(())
    }
}
