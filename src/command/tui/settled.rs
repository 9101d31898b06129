//! The questions that were settled last: those that the inbox has seen, and those that the bridges remember.
//! What becomes of them is left to `run.rs`.

use std::{cmp::Reverse, collections::BTreeSet, sync::Arc};

use askbridge_control::{
    inbox::{BridgeStatus, Inbox},
    join::JoinedInbox,
};
use askbridge_core::desk::{BridgeName, Record};
use tokio::task::JoinSet;

/// The settled questions that are listed.
pub(super) const SETTLED: usize = 20;

/// The bridges that were asked for their settled questions, and their replies.
#[derive(Debug, Default)]
pub(super) struct Asked {
    bridges: Vec<BridgeName>,
    pub(super) replies: JoinSet<Vec<Arc<Record>>>,
}

impl Asked {
    /// Asks each bridge once for the settled questions that it remembers. The store has those since it is followed.
    pub(super) fn ask(&mut self, joined: &JoinedInbox, status: &[BridgeStatus]) {
        let names: Vec<_> = status.iter().map(|bridge| bridge.bridge.clone()).collect();
        // There is one round at a time: bridges that appear meanwhile are asked in the next round.
        if names.iter().any(|name| !self.bridges.contains(name)) && self.replies.is_empty() {
            let joined = joined.clone();
            self.replies.spawn(async move { joined.settled(SETTLED).await });
            self.bridges = names;
        }
    }
}

/// Returns the questions that were settled last, latest first. `seen` is in this order too, and wins over `remembered`
/// for the same question.
pub(super) fn latest(seen: Vec<Arc<Record>>, remembered: &[Arc<Record>], limit: usize) -> Vec<Arc<Record>> {
    let mut ids: BTreeSet<_> = seen.iter().map(|record| record.id.clone()).collect();
    let mut all = seen;
    all.extend(remembered.iter().filter(|record| ids.insert(record.id.clone())).cloned());
    let at = |record: &Arc<Record>| record.settlement.as_ref().map(|settlement| settlement.at);
    // The sort is stable: what settled in the same millisecond stays in its order.
    all.sort_by_key(|record| Reverse(at(record)));
    all.truncate(limit);
    all
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use askbridge_core::{
        desk::{QuestionId, Settlement, Timestamp},
        question::{Origin, Outcome, Provenance, Question, Reason},
    };

    use super::*;

    fn record(number: u64, at: u64, reason: Reason) -> Arc<Record> {
        let id: QuestionId = format!("b-{number}").parse().unwrap();
        let question = Arc::new(Question::new(Origin::Program, "q", Vec::new()));
        let at = Timestamp::default().after(Duration::from_secs(at));
        let settlement = Settlement::new(Outcome::Rejected(reason), Provenance::bridge(), at);
        Arc::new(Record::new(id, question, Timestamp::default()).settled(settlement))
    }

    #[test]
    fn each_question_is_listed_once_and_the_latest_first() {
        let seen = vec![record(5, 50, Reason::User), record(2, 20, Reason::User)];
        let remembered =
            [record(4, 40, Reason::User), record(2, 20, Reason::Cancelled), record(1, 10, Reason::User)];
        let numbers = |limit| {
            let listed = latest(seen.clone(), &remembered, limit);
            listed.iter().map(|record| record.id.number).collect::<Vec<_>>()
        };
        assert_eq!(numbers(9), [5, 4, 2, 1]);
        assert_eq!(numbers(2), [5, 4]);
        assert_eq!(latest(seen.clone(), &remembered, 9)[2], seen[1]);
    }
}
