//! The questions that were settled last on this machine: those that the store knows, and those that only their bridges
//! remember, because they were settled before this process came.

use std::{collections::BTreeMap, sync::Arc};

use futures::{StreamExt, stream};
use tokio::time::timeout;

use super::connections::Connections;
use crate::{
    desk::{QuestionId, Record, Timestamp},
    limits,
};

/// Returns the questions that were settled last, latest first. A bridge that does not reply in time is left out, as is
/// one of a version that does not know the method.
pub(super) async fn latest_settled(connections: &Connections, limit: usize) -> Vec<Arc<Record>> {
    let mut latest = LatestRecords { limit, ..LatestRecords::default() };
    connections.store.read(|_, snapshot| snapshot.settled().for_each(|record| latest.add(record)));
    let asked = connections.all_clients().into_iter().map(async |(bridge, client)| {
        let remembered = timeout(limits::PATIENCE, client.settled(limit)).await;
        let mut remembered = remembered.ok().and_then(Result::ok).unwrap_or_default();
        remembered.retain(|record| record.id.bridge == bridge);
        remembered
    });
    // Each of these replies is held until it is looked at.
    let mut replies = stream::iter(asked).buffer_unordered(limits::BRIDGES_AT_ONCE);
    while let Some(remembered) = replies.next().await {
        remembered.iter().for_each(|record| latest.add(record));
    }
    latest.records.into_values().rev().map(|(record, _)| record).collect()
}

/// What orders records: when each was settled, and its number where two were settled in the same millisecond.
type Order = (Option<Timestamp>, u64, QuestionId);

/// The latest of the records that were added, within the limits of what one bridge remembers.
#[derive(Default)]
struct LatestRecords {
    limit: usize,
    /// The records and their sizes, oldest first.
    records: BTreeMap<Order, (Arc<Record>, usize)>,
    bytes: usize,
}

impl LatestRecords {
    /// Adds a record, unless it is known.
    fn add(&mut self, record: &Arc<Record>) {
        let at = record.settlement.as_ref().map(|settlement| settlement.at);
        let key = (at, record.id.number, record.id.clone());
        if self.records.contains_key(&key) {
            return;
        }
        let size = record.size();
        self.bytes += size;
        self.records.insert(key, (Arc::clone(record), size));
        while (self.records.len() > self.limit || self.bytes > limits::REMEMBERED_BYTES)
            && let Some((_, (_, size))) = self.records.pop_first()
        {
            self.bytes -= size;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{
        control::{
            inbox::Inbox,
            played::{PlayedBridge, soon},
        },
        desk::{Settlement, Submission},
        machine::Machine,
        question::{Origin, Outcome, Provenance, Question, Reason},
    };

    #[tokio::test]
    async fn what_bridges_remember_is_listed_latest_first() {
        let folder = tempfile::tempdir().unwrap();
        let mut bridges = [PlayedBridge::start(folder.path(), "b"), PlayedBridge::start(folder.path(), "c")];
        for bridge in &mut bridges {
            for name in ["first", "second"] {
                let number = bridge.open(name).await;
                bridge.settle(number, Outcome::Rejected(Reason::User), Provenance::bridge()).await;
            }
            bridge.open("open").await;
        }
        let machine = soon(Machine::open(folder.path())).await.unwrap();
        // The store and the bridge know this one.
        let id = machine.store().read(|_, snapshot| snapshot.open()[0].id.clone());
        let bridge = bridges.iter_mut().find(|bridge| bridge.inbox.status()[0].bridge == id.bridge).unwrap();
        let rejected = machine.submit(&id, Submission::Reject(None), Provenance::bridge());
        let (rejected, ()) = tokio::join!(soon(rejected), bridge.obey());
        rejected.unwrap();
        let settled = soon(machine.settled(10)).await;
        let ids: Vec<_> = settled.iter().map(|record| record.id.to_string()).collect();
        assert_eq!(ids.len(), 5, "{ids:?}");
        let at = |record: &Record| record.settlement.as_ref().expect("it is settled").at;
        assert!(settled.is_sorted_by(|one, next| at(one) >= at(next)), "{ids:?}");
        assert_eq!(soon(machine.settled(1)).await, settled[..1]);
    }

    #[test]
    fn the_latest_are_kept_within_the_limits() {
        let record = |number: u64, bytes: usize| {
            let id: QuestionId = format!("b-{number}").parse().unwrap();
            let message = "x".repeat(bytes);
            let question = Arc::new(Question { message, ..Question::new(Origin::Program, "q", Vec::new()) });
            let at = Timestamp::default().after(Duration::from_secs(number));
            let by_user = Settlement::new(Outcome::Rejected(Reason::User), Provenance::bridge(), at);
            Arc::new(Record::new(id, question, at).settled(by_user))
        };
        let numbers =
            |latest: &LatestRecords| latest.records.keys().map(|(_, number, _)| *number).collect::<Vec<_>>();
        let mut latest = LatestRecords { limit: 2, ..LatestRecords::default() };
        for number in [3, 1, 3, 4, 2] {
            latest.add(&record(number, 0));
        }
        assert_eq!(numbers(&latest), [3, 4]);
        let mut latest = LatestRecords { limit: 10, ..LatestRecords::default() };
        for number in 1..=4 {
            latest.add(&record(number, limits::REMEMBERED_BYTES / 3));
        }
        assert_eq!(numbers(&latest), [3, 4]);
        assert!(latest.bytes <= limits::REMEMBERED_BYTES);
    }
}
