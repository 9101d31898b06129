//! The questions that were settled last on this machine: those that the store knows, and those that only their bridges
//! remember, because they were settled before this process came.

use std::{cmp::Reverse, collections::BTreeMap, sync::Arc};

use futures::future::join_all;
use tokio::time::timeout;

use super::connections::Connections;
use crate::{
    desk::{QuestionId, Record},
    limits,
};

/// Returns the questions that were settled last, latest first. A bridge that does not reply in time is left out, as is
/// one of a version that does not know the method.
pub(super) async fn of_all(connections: &Connections, limit: usize) -> Vec<Arc<Record>> {
    let clients = connections.all_clients();
    let asked = clients.iter().map(async |(bridge, client)| {
        let remembered = timeout(limits::PATIENCE, client.settled(limit)).await;
        let mut remembered = remembered.ok().and_then(Result::ok).unwrap_or_default();
        remembered.retain(|record| record.id.bridge == *bridge);
        remembered
    });
    let remembered = join_all(asked).await.into_iter().flatten();
    // What the store knows is newer than what was read a moment before.
    let mut settled: BTreeMap<QuestionId, Arc<Record>> =
        remembered.map(|record| (record.id.clone(), record)).collect();
    connections.store.read(|_, snapshot| {
        settled.extend(snapshot.settled().map(|record| (record.id.clone(), Arc::clone(record))));
    });
    let mut settled: Vec<_> = settled.into_values().collect();
    // By the number within a bridge, where two were settled in the same millisecond.
    let age = |record: &Record| (record.settlement.as_ref().map(|it| it.at), record.id.number);
    settled.sort_by_key(|record| Reverse(age(record)));
    settled.truncate(limit);
    settled
}

#[cfg(test)]
mod tests {
    use super::Record;
    use crate::{
        control::{
            inbox::Inbox,
            played::{PlayedBridge, soon},
        },
        machine::Machine,
        question::{Outcome, Provenance, Reason},
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
        let settled = soon(machine.settled(10)).await;
        let ids: Vec<_> = settled.iter().map(|record| record.id.to_string()).collect();
        assert_eq!(ids.len(), 4, "{ids:?}");
        let at = |record: &Record| record.settlement.as_ref().expect("it is settled").at;
        assert!(settled.is_sorted_by(|one, next| at(one) >= at(next)), "{ids:?}");
        assert_eq!(soon(machine.settled(1)).await.first(), settled.first());
    }
}
