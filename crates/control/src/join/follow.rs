//! Follows all bridges of this machine at once, so that a hung bridge delays no other: one task for each bridge that
//! follows its changes and reconnects.

use std::{
    collections::{BTreeMap, BTreeSet},
    future::pending,
    mem,
    sync::Arc,
};

use tokio::{
    sync::watch,
    task::JoinSet,
    time::{interval, sleep},
};

use super::{
    connections::{Connections, SocketPeer},
    discovery::DiscoveryError,
    handshake::is_passing,
    name::LinkName,
    peer::LinkEnd,
    reach::{Held, Reach},
};
use crate::limits;

/// Follows the bridges whose sockets are in this directory, including later ones, until the future is dropped.
pub(super) async fn follow(
    connections: &Arc<Connections>,
    reach: &Reach,
    is_meant: impl Fn(&LinkName) -> bool,
) -> Result<(), DiscoveryError> {
    let (mut followed, mut tasks) = (BTreeSet::new(), JoinSet::new());
    let (mut again, mut is_failing) = (interval(limits::DISCOVERY_INTERVAL), false);
    let (mut fleet, mut held) = (reach.fleet.clone(), reach.held.clone());
    loop {
        tokio::select! {
            _ = again.tick() => {}
            () = others(&mut held) => {}
            problem = changed(&mut fleet) => {
                connections.know_fleet(problem);
                continue;
            }
        }
        while let Some(Ok(name)) = tasks.try_join_next() {
            followed.remove::<LinkName>(&name);
        }
        // Known bridges are followed too: a bridge may run on after its socket was removed.
        let mut found: BTreeMap<LinkName, LinkEnd> = connections.ends();
        match reach.links().await {
            Ok(ends) => {
                is_failing = false;
                found.extend(ends);
            }
            // Known bridges are still followed.
            Err(DiscoveryError::Path { path, source }) if is_passing(&source) => {
                if !mem::replace(&mut is_failing, true) {
                    tracing::warn!(folder = %path.display(), error = %source, "cannot look for bridges; trying again");
                }
            }
            Err(error) => return Err(error),
        }
        for (name, end) in found {
            if is_meant(&name) && followed.insert(name.clone()) {
                let connections = Arc::clone(connections);
                tasks.spawn(async move {
                    keep(&connections, &name, &end).await;
                    name
                });
            }
        }
    }
}

/// Waits until it changes why the machines of the fleet are not known, and returns that.
async fn changed(fleet: &mut Option<watch::Receiver<Option<String>>>) -> Option<String> {
    if let Some(problem) = fleet
        && problem.changed().await.is_ok()
    {
        return problem.borrow_and_update().clone();
    }
    // No fleet is asked, or it is not followed.
    pending().await
}

/// Waits until this process holds other machines than before.
async fn others(held: &mut Option<watch::Receiver<Option<Held>>>) {
    if let Some(held) = held
        && held.changed().await.is_ok()
    {
        return;
    }
    // It holds none, or no others from now on.
    pending().await
}

/// Follows the bridge at the other end of a link, for as long as there is one.
async fn keep(connections: &Connections, name: &LinkName, end: &LinkEnd) {
    let mut back_off = limits::DISCOVERY_INTERVAL;
    loop {
        let met = match connections.peer(name) {
            Some(_) => SocketPeer::Connected,
            None => Box::pin(connections.wait_for(name, end)).await,
        };
        match met {
            SocketPeer::Connected => {
                connections.keep_up(name, end).await;
                connections.lose(name);
                back_off = limits::DISCOVERY_INTERVAL;
            }
            SocketPeer::Gone => return,
            SocketPeer::Unreachable => {}
        }
        // The pause also follows a connection that succeeded: a bridge that closes each one at once must not keep us
        // busy.
        sleep(back_off).await;
        back_off = limits::RECONNECT_BACK_OFF.min(2 * back_off);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use askbridge_core::{
        desk::{IdPrefix, QuestionId, Refusal, State, Submission},
        question::{Answer, Outcome, Provenance, Reason, Value},
    };
    use tempfile::TempDir;
    use tokio::{net::UnixListener, time::Instant};

    use crate::{
        inbox::{Inbox, wait_until},
        join::{Gaps, JoinedInbox},
        limits,
        rpc::played::{PlayedBridge, listen, question, soon},
    };

    async fn open(folder: &TempDir) -> JoinedInbox {
        soon(JoinedInbox::open(folder.path())).await.unwrap()
    }

    /// Follows the bridges while something else is done.
    async fn following<T>(joined: &JoinedInbox, done: impl Future<Output = T>) -> T {
        tokio::select! {
            followed = joined.follow() => panic!("not followed: {followed:?}"),
            done = soon(done) => done,
        }
    }

    /// Waits until so many questions are open.
    async fn open_questions(joined: &JoinedInbox, count: usize) {
        let is_met = wait_until(joined.store(), limits::WAIT, |now| now.open_count() == count);
        assert!(is_met.await);
    }

    /// Waits until it is known how a question was settled.
    async fn settled(joined: &JoinedInbox, question: &str) {
        let question = id(question);
        let is_settled = wait_until(joined.store(), limits::WAIT, |now| {
            now.get(&question).is_some_and(|record| record.state == State::Settled)
        });
        assert!(is_settled.await);
    }

    async fn gaps(joined: &JoinedInbox, holds: impl Fn(&Gaps) -> bool) {
        joined.gaps().wait_for(|gaps| holds(gaps)).await.unwrap();
    }

    fn typed(text: &str) -> IdPrefix {
        text.parse().unwrap()
    }

    fn id(text: &str) -> QuestionId {
        text.parse().unwrap()
    }

    fn values(text: &str) -> Answer {
        Answer { values: [("q0".to_owned(), Value::Text(text.to_owned()))].into(), ..Answer::default() }
    }

    fn answer() -> Submission {
        Submission::answer(values("yes"), None)
    }

    #[tokio::test(start_paused = true)]
    async fn a_hung_bridge_delays_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let joined = open(&folder).await;
        let mute = folder.path().join("mute.sock");
        let listener = listen(&mute);
        following(&joined, async {
            let asked = UnixListener::from_std(listener.try_clone().unwrap()).unwrap();
            let (stream, _) = asked.accept().await.unwrap();
            let start = Instant::now();
            let mut bridge = PlayedBridge::start(folder.path(), "b");
            bridge.open("a").await;
            open_questions(&joined, 1).await;
            assert!(start.elapsed() <= 2 * limits::DISCOVERY_INTERVAL, "{:?}", start.elapsed());
            gaps(&joined, |gaps| gaps.unreachable == [mute.clone()]).await;
            assert_eq!(joined.find(&typed("mute-1")), Err(Refusal::Unavailable));
            assert_eq!(joined.find(&typed("b-7")), Err(Refusal::NotFound), "its bridge would know it");
            // When the bridge runs again, its messages arrive over the connection that was left open.
            let mut thawed = PlayedBridge::on(listener, Some(stream), mute.clone(), "mute");
            thawed.open("a").await;
            open_questions(&joined, 2).await;
            gaps(&joined, |gaps| *gaps == Gaps::default()).await;
        })
        .await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_bridge_that_accepts_no_connection_is_tried_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("busy.sock");
        let listener = listen(&path);
        rustix::net::listen(&listener, 0).unwrap();
        let waits = std::os::unix::net::UnixStream::connect(&path).unwrap();
        let joined = open(&folder).await;
        assert_eq!(joined.gaps().borrow().unreachable, std::slice::from_ref(&path));
        assert_eq!(joined.find(&typed("busy")), Err(Refusal::Unavailable));
        let mut bridge = PlayedBridge::on(listener, None, path, "busy");
        bridge.open("a").await;
        following(&joined, open_questions(&joined, 1)).await;
        gaps(&joined, |gaps| *gaps == Gaps::default()).await;
        drop(waits);
    }

    #[tokio::test]
    async fn questions_of_a_bridge_that_vanished_are_unknown_until_it_is_back() {
        let folder = tempfile::tempdir().unwrap();
        let mut bridge = PlayedBridge::start(folder.path(), "b");
        for _ in 0..3 {
            bridge.open("a").await;
        }
        let joined = open(&folder).await;
        following(&joined, async {
            let third = id("b-3");
            let (done, ()) =
                tokio::join!(joined.submit(&third, answer(), Provenance::bridge()), bridge.obey());
            done.unwrap();
            bridge.vanish().await;
            open_questions(&joined, 0).await;
            let told: Vec<_> =
                joined.store().read(|_, now| now.settled().map(|told| told.id.to_string()).collect());
            assert_eq!(told, ["b-3", "b-1", "b-2"], "followers are told");
            assert_eq!(joined.find(&typed("b-1")), Err(Refusal::Unavailable));
            assert_eq!(joined.look_up(&typed("b")).await.map(|found| found.id.clone()), Ok(third.clone()));
            let late = joined.submit(&id("b-1"), answer(), Provenance::bridge()).await;
            assert_eq!(late, Err(Refusal::Unavailable));
            let again = joined.submit(&third, answer(), Provenance::bridge()).await;
            assert_eq!(again.map(|found| found.state), Ok(State::Settled), "this is known");
            // Another process answers meanwhile.
            let (inbox, second) = (bridge.inbox.clone(), id("b-2"));
            let (done, ()) =
                tokio::join!(inbox.submit(&second, answer(), Provenance::bridge()), bridge.obey());
            done.unwrap();
            bridge.reappear();
            settled(&joined, "b-2").await;
            assert_eq!(joined.find(&typed("b-1")).unwrap().state, State::Open);
            assert_eq!(joined.find(&typed("b-2")).ok(), bridge.inbox.find(&typed("b-2")).ok());
        })
        .await;
    }

    #[tokio::test]
    async fn a_follower_that_falls_behind_reads_all_that_is_open() {
        let folder = tempfile::tempdir().unwrap();
        let mut bridge = PlayedBridge::start(folder.path(), "b");
        let joined = open(&folder).await;
        let count = 4 * limits::MESSAGES;
        let mut changes = bridge.inbox.store().follow();
        for _ in 0..count {
            // Each change is a message of its own, which nothing reads yet.
            bridge.open(&"x".repeat(limits::DELTA / 2)).await;
            soon(changes.next()).await.unwrap();
        }
        following(&joined, async {
            gaps(&joined, |gaps| gaps.busy.len() == 1).await;
            open_questions(&joined, count).await;
            gaps(&joined, Gaps::is_empty).await;
        })
        .await;
        assert_eq!(joined.store().read(|_, now| now.settled().count()), 0);
    }

    #[tokio::test]
    async fn a_snapshot_of_many_messages_is_read_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut bridge = PlayedBridge::start(folder.path(), "b");
        let count = 2 * limits::MESSAGES;
        for _ in 0..count {
            bridge.open(&"x".repeat(limits::DELTA)).await;
        }
        let joined = open(&folder).await;
        assert_eq!(*joined.gaps().borrow(), Gaps::default());
        assert_eq!(joined.store().read(|_, now| now.open_count()), count);
    }

    #[tokio::test]
    async fn a_removed_directory_is_followed_when_it_is_there_again() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("askbridge");
        let joined = soon(JoinedInbox::open(&folder)).await.unwrap();
        following(&joined, async {
            let mut before = PlayedBridge::start(&folder, "a");
            before.open("a").await;
            open_questions(&joined, 1).await;
            fs::remove_dir_all(&folder).unwrap();
            let mut again = tokio::time::interval(limits::DISCOVERY_INTERVAL);
            while !folder.exists() {
                again.tick().await;
            }
            let mut after = PlayedBridge::start(&folder, "b");
            after.open("a").await;
            open_questions(&joined, 2).await;
        })
        .await;
    }

    #[tokio::test]
    async fn own_questions_are_found_by_other_processes_and_withdrawn_with_their_caller() {
        let folder = tempfile::tempdir().unwrap();
        let own = PlayedBridge::start(folder.path(), "own");
        let joined =
            soon(JoinedInbox::open_with(folder.path(), own.inbox.clone().into(), None)).await.unwrap();
        following(&joined, async {
            let answered = async {
                open_questions(&joined, 1).await;
                let other = open(&folder).await;
                other.submit(&id("own-p1"), answer(), Provenance::bridge()).await.unwrap();
            };
            let (settlement, ()) = tokio::join!(joined.ask(question("a")), answered);
            assert_eq!(settlement.unwrap().outcome, Outcome::Answered(values("yes")));
            open_questions(&joined, 0).await;
            tokio::select! {
                settled = joined.ask(question("a")) => panic!("{settled:?}"),
                () = open_questions(&joined, 1) => {}
            }
            settled(&joined, "own-p2").await;
            let settlement = joined.find(&typed("own-p2")).unwrap().settlement.clone().unwrap();
            assert_eq!(settlement.outcome, Outcome::Rejected(Reason::Withdrawn));
        })
        .await;
        assert_eq!(open(&folder).await.ask(question("a")).await, Err(Refusal::Unavailable));
    }

    #[tokio::test]
    async fn what_became_of_questions_is_asked_once_their_bridge_is_back() {
        let folder = tempfile::tempdir().unwrap();
        let mut bridge = PlayedBridge::start(folder.path(), "b");
        for _ in 0..3 {
            bridge.open("a").await;
        }
        let joined = open(&folder).await;
        bridge.vanish().await;
        bridge.settle(1, Outcome::Rejected(Reason::User), Provenance::bridge()).await;
        // The bridge remembers no other settled question beside this one.
        let large = values(&"x".repeat(limits::REMEMBERED_BYTES));
        bridge.settle(2, Outcome::Answered(large), Provenance::bridge()).await;
        bridge.reappear();
        following(&joined, settled(&joined, "b-2")).await;
        assert_eq!(joined.find(&typed("b-3")).unwrap().state, State::Open);
        assert!(joined.find(&typed("b-1")).is_err(), "no outcome is made up");
    }
}
