//! The questions on a desk that no connection holds: how they open, also those of an earlier process, and how they end.

use std::sync::Arc;

use askbridge_core::{
    desk::{Desk, Opening, Record, Refusal, Room, Setup},
    question::{Outcome, Provenance, Question, Reason},
};

use tokio::{sync::mpsc, time::Duration};

use super::{
    local_desk::{LocalDesk, Waiting},
    store::Store,
};
use crate::limits;

/// How many questions no connection may hold.
const KEPT: Room = Room { open: limits::KEPT, open_per_session: limits::KEPT, bytes: limits::KEPT_BYTES };

impl LocalDesk {
    /// Returns a desk whose clock started this long ago, since its questions may have opened before this process, and what
    /// is decided about those that are kept.
    pub(super) fn of_kept(
        setup: Setup,
        passed: Duration,
        store: Store,
    ) -> (Self, mpsc::Receiver<Arc<Record>>) {
        // A question whose decision waits is in the desk, so that this is never full.
        let (decided, decisions) = mpsc::channel(KEPT.open);
        (Self::with(Desk::with_room(setup, KEPT), passed, store, Some(decided)), decisions)
    }

    /// Returns how a question opens that no connection is to hold, under this number.
    ///
    /// # Errors
    /// As those of [`LocalDesk::open`].
    pub(super) fn draft(&self, number: u64, mut question: Question) -> Result<Record, Refusal> {
        question.check_limits().map_err(Refusal::BadQuestion)?;
        // The journal, which keeps the question over restarts, has no images.
        if !question.images.is_empty() {
            question.images.clear();
            let sentence = "its images are not shown: only a question that its asker waits for has them";
            question.unshown.push(sentence.to_owned());
        }
        let question = self.complete(question);
        let state = self.lock();
        let weight = state.desk.weigh(&question, 0);
        state.desk.check_room(question.session.as_deref(), weight)?;
        let opened_at = state.desk.started().after(self.now());
        let deadline = question.timeout.map(|timeout| opened_at.after(timeout));
        let elsewhere = true;
        Ok(Record { deadline, elsewhere, ..Record::new(state.desk.id(number), question, opened_at) })
    }

    /// Opens questions that no connection holds, also those of an earlier process. Each keeps its number, its times and its
    /// risk.
    pub(super) fn keep(&self, records: impl IntoIterator<Item = Record>) {
        self.change(|state, now| {
            for Record { id, question, opened_at, deadline, later, .. } in records {
                let weight = state.desk.weigh(&question, 0);
                // The person may have given it more time.
                let timeout = deadline.map(|deadline| deadline.since(opened_at));
                let since = opened_at.since(state.desk.started());
                state.desk.reopen(
                    id.number,
                    Opening { weight, timeout, elsewhere: true, question, context: None },
                    since,
                );
                let aside = later.map(|later| later.since(state.desk.started()).saturating_sub(now));
                state.desk.set_aside(id.number, aside.unwrap_or_default(), now);
                state.askers.insert(id.number, Waiting::Kept);
            }
        });
    }

    /// Withdraws a question that is kept. It changes nothing if the question is over.
    ///
    /// # Errors
    /// `NotFound` if no question of this number is kept.
    pub(super) fn withdraw(&self, number: u64) -> Result<(), Refusal> {
        self.change(|state, now| {
            if !matches!(state.askers.get(&number), Some(Waiting::Kept)) {
                return Err(Refusal::NotFound);
            }
            state.desk.end(number, Outcome::Rejected(Reason::Withdrawn), Provenance::bridge(), now);
            state.decide(number);
            Ok(())
        })
    }

    /// Records that the decision about a question that is kept was written: from now on it is told.
    pub(super) fn written(&self, number: u64) {
        self.change(|state, _| state.desk.delivered(number));
    }
}
