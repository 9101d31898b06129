//! What becomes of an outcome that is on its way: it arrives, it is lost, or the asker had another one first.

use std::{sync::Arc, time::Duration};

use super::{
    Desk, Record, Refusal, Settlement, Submission,
    state::{Entry, Stage},
};
use crate::question::{Outcome, Provenance, Reason};

impl Desk {
    /// Records that the asker has the outcome of a question that is on its way. Responders are told from now on (I9).
    pub fn delivered(&mut self, number: u64) {
        let Some(Entry { record, weight, stage, parked, .. }) = self.take_delivering(number) else { return };
        let Stage::Delivering { settlement, winner } = stage else { return };
        self.settle(number, record, weight, *settlement);
        if let Some(ticket) = winner {
            self.tell(ticket, Ok(()));
        }
        self.judge_parked(number, &parked);
    }

    /// Records that the asker is gone, so that the outcome of a question that was on its way did not reach it. A
    /// decision of the client or of a responder counts as lost: responders see that the agent is gone. Those that wait for
    /// their verdict are told that it is not known.
    pub fn undeliverable(&mut self, number: u64) {
        let Some(Entry { record, weight, stage, parked, .. }) = self.take_delivering(number) else { return };
        let Stage::Delivering { mut settlement, winner } = stage else { return };
        let was_decided = match &settlement.outcome {
            Outcome::Rejected(reason) => *reason == Reason::User,
            _ => true,
        };
        if was_decided {
            // The remark explained the decision that is lost, and goes with it.
            let gone = Outcome::Rejected(Reason::AgentGone);
            *settlement = Settlement::new(gone, Provenance::bridge(), settlement.at);
        }
        self.settle(number, record, weight, *settlement);
        if let Some(ticket) = winner {
            self.tell(ticket, Err(Refusal::Unavailable));
        }
        if was_decided {
            // It may have arrived after all, and what they wanted may be what was on its way.
            parked.into_iter().for_each(|(ticket, _)| self.tell(ticket, Err(Refusal::Unavailable)));
        } else {
            self.judge_parked(number, &parked);
        }
    }

    /// Settles a question by what the asker had before, such as an answer at the agent's own dialog. Where another
    /// outcome was on its way, it came too late: its submission is judged as those that come later are.
    pub fn overtaken(&mut self, number: u64, outcome: Outcome, by: Provenance, now: Duration) {
        // It stays as it is if it is on its way already.
        self.end(number, outcome.clone(), by.clone(), now);
        let Some(Entry { record, weight, stage, parked, .. }) = self.take_delivering(number) else { return };
        self.settle(number, record, weight, Settlement::new(outcome, by, self.at(now)));
        if let Stage::Delivering { winner: Some(ticket), settlement } = stage {
            let late = match settlement.outcome {
                Outcome::Answered(answer) => Submission::Answer(answer),
                _ => Submission::Reject(settlement.remark),
            };
            self.judge(ticket, number, &late);
        }
        self.judge_parked(number, &parked);
    }

    fn take_delivering(&mut self, number: u64) -> Option<Entry> {
        let Stage::Delivering { .. } = self.open.get(&number)?.stage else { return None };
        let entry = self.open.remove(&number)?;
        self.weight -= entry.weight;
        self.changed.insert(number);
        Some(*entry)
    }

    fn settle(&mut self, number: u64, record: Arc<Record>, weight: usize, settlement: Settlement) {
        for forgotten in self.memory.remember(number, record, weight, settlement) {
            // No follower waits for the end of a question that was never shown as open. It is counted.
            if !self.shown.contains(&forgotten) && self.changed.remove(&forgotten) {
                self.missed += 1;
            }
        }
    }
}
