//! The questions that are over, of all bridges and machines: those that were settled last, of the past, and lost. The
//! store knows only the settlements that came while it followed; the bridges remember earlier ones, and the journals all.

use std::{cmp::Reverse, collections::BTreeMap, sync::Arc};

use askbridge_core::desk::{LostQuestion, MachineName, QuestionId, Record, Refusal, Timestamp};
use futures::{StreamExt, future::join_all, stream};
use tokio::time::timeout;

use super::{connections::Connections, name::LinkName, peer::Peer};
use crate::{
    inbox::{
        HistoryFilter, Ledger, MissingHistory, PastQuestion, PastQuestions, Store, latest_past,
        report::ConnectedMachine,
    },
    limits,
    rpc::client::CallError,
};

/// Returns the questions of the past of the connected machines: each machine's latest first.
pub(super) async fn past_elsewhere(
    connections: &Connections,
    filter: HistoryFilter,
) -> Result<Vec<PastQuestion>, CallError> {
    let peers = connections.machine_peers();
    let asked = join_all(peers.iter().map(async |(name, peer)| {
        let past =
            timeout(limits::remote::REPLY, peer.past(filter.clone())).await.unwrap_or(Err(CallError::Gone));
        Ok::<_, CallError>(own(name, past?.questions))
    }));
    Ok(asked.await.into_iter().collect::<Result<Vec<_>, _>>()?.concat())
}

/// Returns the questions of the connected machines that were lost with their bridges: each machine's latest first.
pub(super) async fn lost_elsewhere(connections: &Connections) -> Result<Vec<LostQuestion>, CallError> {
    let peers = connections.machine_peers();
    let asked = join_all(peers.iter().map(async |(name, peer)| {
        let lost = timeout(limits::remote::REPLY, peer.lost()).await.unwrap_or(Err(CallError::Gone));
        lost.map(|lost| lost.into_iter().filter(|lost| name.has(&lost.record.id.bridge)).collect::<Vec<_>>())
    }));
    Ok(asked.await.into_iter().collect::<Result<Vec<_>, _>>()?.concat())
}

/// Returns the questions of the past of this machine's journal, and of those of the other machines that reply in time,
/// latest first. Without `connections`, no other machine is asked.
///
/// # Errors
/// `HistoryUnavailable` if the journal of this machine cannot be read.
pub(super) async fn past(
    ledger: Option<&Arc<dyn Ledger>>,
    connections: Option<&Connections>,
    filter: HistoryFilter,
) -> Result<PastQuestions, Refusal> {
    let here = async {
        match ledger {
            Some(ledger) => ledger.past(filter.clone()).await,
            None => Ok(Vec::new()),
        }
    };
    let elsewhere = async {
        match connections {
            Some(connections) => past_of_machines(connections, &filter).await,
            None => Vec::new(),
        }
    };
    let (here, elsewhere) = tokio::join!(here, elsewhere);
    let (mut questions, mut missing) = (here?, Vec::new());
    for past in elsewhere {
        questions.extend(past.questions);
        missing.extend(past.missing);
    }
    questions.sort_by_key(|past| Reverse(past.ended_at()));
    questions.truncate(filter.limit.unwrap_or(usize::MAX));
    Ok(PastQuestions { questions: latest_past(questions), missing })
}

/// Asks each machine for its questions of the past.
async fn past_of_machines(connections: &Connections, filter: &HistoryFilter) -> Vec<PastQuestions> {
    if let Some(peer) = connections.peer(&LinkName::Elsewhere) {
        return vec![past_of_all(&peer, connections, filter).await];
    }
    let machines = connections.machines.borrow().machines.clone();
    let asked = machines.into_iter().map(async |ConnectedMachine { name, report }| {
        let link = LinkName::Machine(name.clone());
        // Nobody waits for a machine that is away.
        let peer = connections.peer(&link).filter(|_| report.connected_at.is_some());
        let past = match peer {
            None => Err(report.problem.unwrap_or_else(|| "it is not connected yet".to_owned())),
            Some(peer) => match timeout(limits::PATIENCE, peer.past(filter.clone())).await {
                Ok(Ok(past)) => Ok(PastQuestions { questions: own(&link, past.questions), ..past }),
                // The reader knows which machine it is.
                Ok(Err(CallError::Refused(Refusal::HistoryUnavailable(why)))) => {
                    Err(why.strip_prefix(&format!("{name}: ")).unwrap_or(&why).to_owned())
                }
                Ok(Err(error)) => Err(error.to_string()),
                Err(_) => Err(silent()),
            },
        };
        past.unwrap_or_else(|problem| without([name], &problem))
    });
    join_all(asked).await
}

/// Asks the process that holds the machines for the questions of the past of all of them.
async fn past_of_all(peer: &Peer, connections: &Connections, filter: &HistoryFilter) -> PastQuestions {
    let problem = match timeout(limits::remote::REPLY, peer.past(filter.clone())).await {
        Ok(Ok(past)) => {
            return PastQuestions { questions: own(&LinkName::Elsewhere, past.questions), ..past };
        }
        Ok(Err(error)) => error.to_string(),
        Err(_) => silent(),
    };
    let machines = connections.machines.borrow().machines.clone();
    without(machines.into_iter().map(|machine| machine.name), &problem)
}

fn silent() -> String {
    format!("it did not reply within {} s", limits::PATIENCE.as_secs())
}

/// Returns no questions of these machines, and why.
fn without(machines: impl IntoIterator<Item = MachineName>, problem: &str) -> PastQuestions {
    let missing = machines.into_iter().map(|machine| MissingHistory { machine, problem: problem.to_owned() });
    PastQuestions { missing: missing.collect(), ..PastQuestions::default() }
}

/// Returns the questions that the other end of a link speaks for.
fn own(name: &LinkName, mut past: Vec<PastQuestion>) -> Vec<PastQuestion> {
    past.retain(|past| name.has(&past.record.id.bridge));
    past
}

/// Returns the questions that were settled last, latest first. A bridge that does not reply in time is left out, as is
/// one of a version that does not know the method.
pub(super) async fn latest_settled(
    store: &Store,
    peers: Vec<(LinkName, Peer)>,
    limit: usize,
) -> Vec<Arc<Record>> {
    let mut latest = LatestRecords { limit, ..LatestRecords::default() };
    store.read(|_, snapshot| snapshot.settled().for_each(|record| latest.add(record)));
    let asked = peers.into_iter().map(async |(bridge, peer)| {
        let remembered = timeout(limits::PATIENCE, peer.settled(limit)).await;
        let mut remembered = remembered.ok().and_then(Result::ok).unwrap_or_default();
        remembered.retain(|record| bridge.owns(record));
        remembered
    });
    // Bounded, since each reply is held in memory until it is merged.
    let mut replies = stream::iter(asked).buffer_unordered(limits::BRIDGES_AT_ONCE);
    while let Some(remembered) = replies.next().await {
        remembered.iter().for_each(|record| latest.add(record));
    }
    latest.records.into_values().rev().map(|(record, _)| record).collect()
}

/// The sort key of records: the time of the settlement, then the number, since two settlements may share a millisecond.
type Order = (Option<Timestamp>, u64, QuestionId);

/// Collects the latest records, within the bounds on what one bridge remembers.
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
        // The keys begin with the time of the settlement, so the oldest record is dropped first.
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

    use askbridge_core::{
        desk::{Settlement, Submission},
        question::{Origin, Outcome, Provenance, Question, Reason},
    };

    use super::*;
    use crate::{
        inbox::Inbox,
        join::JoinedInbox,
        limits,
        rpc::played::{PlayedBridge, soon},
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
        let machine = soon(JoinedInbox::open(folder.path())).await.unwrap();
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
