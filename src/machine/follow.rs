//! How the bridges of this machine are met, followed and lost, each by itself: one that says nothing holds up no other.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use futures::future::join_all;
use jsonrpsee::core::client::Subscription;
use tokio::{
    net::UnixStream,
    task::JoinSet,
    time::{interval, sleep, timeout},
};

use super::{
    bridges::{Bridge, Machine, get},
    discovery::{self, DiscoveryError},
};
use crate::control::old::{
    book::Book,
    refusal::Refusal,
    rpc::{Listing, QuestionsClient},
    socket,
    view::{Settlement, timestamp},
};
use crate::{
    limits,
    question::{Outcome, Provenance, Reason},
};

impl Machine {
    /// Follows the bridges, and those that come, until the future is dropped.
    pub async fn follow(&self) -> Result<(), DiscoveryError> {
        let (mut followed, mut tasks) = (BTreeSet::new(), JoinSet::new());
        let mut again = interval(limits::LOOK);
        loop {
            again.tick().await;
            while let Some(Ok(path)) = tasks.try_join_next() {
                followed.remove::<PathBuf>(&path);
            }
            let mut paths = discovery::sockets(&self.shared.folder).await?;
            paths.extend(self.sockets());
            for path in paths {
                if followed.insert(path.clone()) {
                    let joined = self.clone();
                    tasks.spawn(async move {
                        joined.keep(&path).await;
                        path
                    });
                }
            }
        }
    }

    /// Returns the sockets that are known, whether they are still in the folder or not.
    fn sockets(&self) -> Vec<PathBuf> {
        let bridges = self.lock();
        let connected = bridges.connected.values().map(|bridge| bridge.path.clone());
        connected.chain(bridges.unreachable.iter().cloned()).collect()
    }

    /// Follows the bridge behind a socket, for as long as there is one.
    async fn keep(&self, path: &Path) {
        let mut rest = limits::LOOK;
        loop {
            let met = match self.name(path) {
                Some(bridge) => Met::Bridge(bridge),
                None => self.wait_for(path).await,
            };
            match met {
                Met::Bridge(bridge) => {
                    self.keep_up(&bridge).await;
                    self.lose(&bridge);
                    rest = limits::LOOK;
                }
                Met::Nobody => return,
                Met::Nothing => {}
            }
            sleep(rest).await;
            rest = limits::AWAY.min(2 * rest);
        }
    }

    fn name(&self, path: &Path) -> Option<String> {
        let bridges = self.lock();
        let mut found = bridges.connected.iter().filter(|(_, bridge)| bridge.path == path);
        found.next().map(|(name, _)| name.clone())
    }

    /// Meets the bridge behind a socket, unless it takes too long to say what is open.
    pub(crate) async fn visit(&self, path: &Path) {
        match timeout(limits::HELLO, greet(path)).await {
            Ok(greeted) => drop(self.meet(path, greeted).await),
            Err(_) => self.miss(path),
        }
    }

    /// Meets the bridge behind a socket, however long it takes: one that was stopped goes on where it was.
    async fn wait_for(&self, path: &Path) -> Met {
        let greeting = greet(path);
        tokio::pin!(greeting);
        let greeted = match timeout(limits::HELLO, &mut greeting).await {
            Ok(greeted) => greeted,
            Err(_) => {
                self.miss(path);
                greeting.await
            }
        };
        self.meet(path, greeted).await
    }

    async fn meet(&self, path: &Path, greeted: Greeted) -> Met {
        let (bridge, first) = match greeted {
            Greeted::Bridge(bridge, first) => (bridge, first),
            Greeted::Nobody => {
                self.lock().unreachable.remove(path);
                return Met::Nobody;
            }
            Greeted::Nothing => {
                self.miss(path);
                return Met::Nothing;
            }
        };
        let name = bridge.status.bridge.clone();
        self.take_in(path, bridge);
        // What was lost with the connection before is asked for once.
        let ids = {
            let book = self.shared.book.borrow();
            let lost = book.lost_in(&name).filter(|id| book.find(id).is_none());
            book.open_in(&name).chain(lost).map(str::to_owned).collect()
        };
        self.listed(&name, first, ids).await;
        Met::Bridge(name)
    }

    fn take_in(&self, path: &Path, bridge: Box<Bridge>) {
        let mut bridges = self.lock();
        bridges.unreachable.remove(path);
        bridges.connected.insert(bridge.status.bridge.clone(), *bridge);
    }

    /// Remembers that a bridge could not be asked, and says so the first time.
    fn miss(&self, path: &Path) {
        if self.lock().unreachable.insert(path.to_owned()) {
            let socket = path.display();
            tracing::warn!(%socket, "a bridge does not say what is open; its questions are left out");
        }
    }

    /// Takes over what changes in a bridge, until the connection ends.
    async fn keep_up(&self, bridge: &str) {
        let changes = self.lock().connected.get_mut(bridge).and_then(|bridge| bridge.changes.take());
        let mut next = match changes {
            Some(changes) => Some(changes),
            None => self.subscribe(bridge).await,
        };
        while let Some(mut changes) = next {
            while let Some(listing) = changes.next().await {
                let Ok(listing) = listing else { return };
                let ids = self.shared.book.borrow().open_in(bridge).map(str::to_owned).collect();
                self.listed(bridge, listing, ids).await;
            }
            // We may only have read too slowly: what is open is in the first listing again.
            next = self.subscribe(bridge).await;
        }
    }

    async fn subscribe(&self, bridge: &str) -> Option<Subscription<Listing>> {
        let client = self.client(bridge).filter(|client| client.is_connected())?;
        timeout(limits::HELLO, client.changes()).await.ok()?.ok()
    }

    /// Takes over what is open in a bridge now and was settled, and asks what became of the others of these questions.
    async fn listed(&self, bridge: &str, listing: Listing, mut ids: Vec<String>) {
        let Listing { questions, settled, .. } = listing;
        ids.retain(|id| !questions.iter().chain(&settled).any(|view| view.id == *id));
        let answers = match self.client(bridge) {
            Some(client) => join_all(ids.iter().map(|id| get(&client, id))).await,
            None => vec![Err(Refusal::Unavailable); ids.len()],
        };
        self.change(|book| {
            for view in settled.into_iter().chain(questions) {
                book.put(view);
            }
            for (id, answer) in ids.iter().zip(answers) {
                // Of one that was put there as open there may be a later listing; all this does nothing to settled ones.
                match answer {
                    Ok(view) => book.put(view),
                    // It was settled, and is not remembered any more.
                    Err(Refusal::NotFound) => book.forget(id),
                    Err(_) => book.lose(id, lost()),
                }
            }
        });
    }

    /// Forgets a bridge that cannot be heard any more, and what was open there.
    fn lose(&self, bridge: &str) {
        self.lock().connected.remove(bridge);
        self.change(|book| {
            let ids: Vec<_> = book.open_in(bridge).map(str::to_owned).collect();
            ids.iter().for_each(|id| book.lose(id, lost()));
        });
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut Book)) {
        self.shared.book.send_if_modified(|book| {
            let before = book.revision;
            change(book);
            book.revision != before
        });
    }
}

/// What is behind a socket.
enum Met {
    /// The bridge of this name.
    Bridge(String),
    /// Nobody any more.
    Nobody,
    /// Somebody who says nothing that is understood, or cannot take a connection.
    Nothing,
}

/// What came of the first words that are exchanged over a socket.
enum Greeted {
    /// A bridge, and what is open there.
    Bridge(Box<Bridge>, Listing),
    /// As in [`Met`].
    Nobody,
    /// As in [`Met`].
    Nothing,
}

/// Reads the inbox of a bridge for the first time, however long that takes.
async fn greet(path: &Path) -> Greeted {
    match discovery::connect(path).await {
        Ok(Some(stream)) => {
            if let Some((bridge, first)) = first(path, stream).await {
                return Greeted::Bridge(Box::new(bridge), first);
            }
        }
        Ok(None) => return Greeted::Nobody,
        Err(error) => {
            tracing::debug!(socket = %path.display(), %error, "a bridge cannot be connected to");
            return Greeted::Nothing;
        }
    }
    // Most often it was about to end, and is gone now.
    match discovery::connect(path).await {
        Ok(None) => Greeted::Nobody,
        _ => Greeted::Nothing,
    }
}

/// What is told of a question that was lost to those who follow what is open. Whoever asks for it is told that nobody
/// knows: the agent may have got an answer, and the question may be found again.
fn lost() -> Settlement {
    let outcome = Outcome::Rejected(Reason::AgentGone);
    Settlement { outcome, by: Provenance::bridge(), at: timestamp(SystemTime::now()), remark: None }
}

async fn first(path: &Path, stream: UnixStream) -> Option<(Bridge, Listing)> {
    let client = Arc::new(socket::connect(stream).await.ok()?);
    let status = client.status().await.ok()?.pop()?;
    let mut changes = client.changes().await.ok()?;
    let first = changes.next().await?.ok()?;
    Some((Bridge { client, status, path: path.to_owned(), changes: Some(changes) }, first))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;
    use tokio::{net::UnixListener, time::Instant};

    use crate::machine::follow::*;
    use crate::{
        acp::Submission,
        control::old::{
            Refusal, Source,
            played::{Bridge, listen, question, soon},
        },
        question::{Answer, Value},
    };

    async fn open(folder: &TempDir) -> Machine {
        soon(Machine::open(folder.path())).await.unwrap()
    }

    /// Follows the bridges while something else is done.
    async fn following<T>(joined: &Machine, done: impl Future<Output = T>) -> T {
        tokio::select! {
            followed = joined.follow() => panic!("not followed: {followed:?}"),
            done = soon(done) => done,
        }
    }

    /// Waits until so many questions are open.
    async fn open_questions(joined: &Machine, count: usize) {
        joined.book().wait_for(|book| book.open().len() == count).await.unwrap();
    }

    /// Waits until this holds, which nothing tells.
    async fn until(holds: impl Fn() -> bool) {
        let mut again = interval(limits::LOOK);
        while !holds() {
            again.tick().await;
        }
    }

    fn values(text: &str) -> Answer {
        Answer { values: [("q0".to_owned(), Value::Text(text.to_owned()))].into(), ..Answer::default() }
    }

    fn answer() -> Submission {
        Submission::Answer(values("yes"))
    }

    #[tokio::test]
    async fn who_has_answered_finds_the_question_settled() {
        let folder = tempfile::tempdir().unwrap();
        let mut bridge = Bridge::start(folder.path(), "b");
        bridge.open(1, "a");
        let joined = open(&folder).await;
        // Nothing else could tell: nobody follows what changes.
        let (done, ()) =
            tokio::join!(soon(joined.submit("b-1", answer(), Provenance::bridge())), bridge.obey());
        done.unwrap();
        let settled = joined.find("b-1").unwrap();
        assert_eq!(Some(settled), bridge.inbox.find("b-1").ok());
        assert!(joined.book().borrow().open().is_empty());

        // Somebody else was first.
        bridge.open(2, "a");
        let joined = open(&folder).await;
        let inbox = bridge.inbox.clone();
        let (done, ()) = tokio::join!(inbox.submit("b-2", answer(), Provenance::bridge()), bridge.obey());
        done.unwrap();
        let rejection = Submission::Reject(None);
        let refused = soon(joined.submit("b-2", rejection, Provenance::bridge())).await.unwrap_err();
        assert_eq!(refused, Refusal::Conflict(joined.find("b-2").unwrap()));
        assert!(joined.book().borrow().open().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_says_nothing_holds_up_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let joined = open(&folder).await;
        let mute = folder.path().join("mute.sock");
        let listener = listen(&mute);
        following(&joined, async {
            let asked = UnixListener::from_std(listener.try_clone().unwrap()).unwrap();
            let (stream, _) = asked.accept().await.unwrap();
            let start = Instant::now();
            let bridge = Bridge::start(folder.path(), "b");
            bridge.open(1, "a");
            open_questions(&joined, 1).await;
            assert!(start.elapsed() <= 2 * limits::LOOK, "{:?}", start.elapsed());
            until(|| joined.unreachable() == [mute.clone()]).await;
            assert_eq!(joined.find("mute-1"), Err(Refusal::Unavailable));
            assert_eq!(joined.look_up("mute-1").await, Err(Refusal::NotFound), "by whom could be asked");
            assert_eq!(joined.find("b-7"), Err(Refusal::NotFound), "its bridge would know it");
            // Once it goes on, it is heard by whoever has waited.
            let thawed = Bridge::on(listener, Some(stream), mute.clone(), "mute");
            thawed.open(1, "a");
            open_questions(&joined, 2).await;
            assert!(joined.unreachable().is_empty());
        })
        .await;
    }

    #[tokio::test(start_paused = true)]
    async fn one_that_takes_no_connection_is_tried_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("busy.sock");
        let listener = listen(&path);
        rustix::net::listen(&listener, 0).unwrap();
        let waits = std::os::unix::net::UnixStream::connect(&path).unwrap();
        let joined = open(&folder).await;
        assert_eq!(
            (joined.unreachable(), joined.find("busy")),
            (vec![path.clone()], Err(Refusal::Unavailable))
        );
        let bridge = Bridge::on(listener, None, path, "busy");
        bridge.open(1, "a");
        following(&joined, open_questions(&joined, 1)).await;
        assert!(joined.unreachable().is_empty());
        drop(waits);
    }

    #[tokio::test]
    async fn of_a_bridge_that_vanished_nothing_is_known_until_it_is_there_again() {
        let folder = tempfile::tempdir().unwrap();
        let mut bridge = Bridge::start(folder.path(), "b");
        (1..=3).for_each(|number| bridge.open(number, "a"));
        let joined = open(&folder).await;
        following(&joined, async {
            let (done, ()) =
                tokio::join!(joined.submit("b-3", answer(), Provenance::bridge()), bridge.obey());
            done.unwrap();
            bridge.vanish().await;
            open_questions(&joined, 0).await;
            let told: Vec<_> = joined.book().borrow().settled().map(|view| view.id.clone()).collect();
            assert_eq!(told, ["b-3", "b-1", "b-2"], "who follows is told");
            assert_eq!(joined.find("b-1"), Err(Refusal::Unavailable));
            assert_eq!(joined.look_up("b").await.map(|view| view.id.clone()), Ok("b-3".to_owned()));
            let late = joined.submit("b-1", answer(), Provenance::bridge()).await;
            assert_eq!(late, Err(Refusal::Unavailable), "nobody knows");
            let again = joined.submit("b-3", answer(), Provenance::bridge()).await;
            assert_eq!(again, Ok(()), "this is known");
            // Somebody answers while nobody of us hears of it.
            let inbox = bridge.inbox.clone();
            let (done, ()) = tokio::join!(inbox.submit("b-2", answer(), Provenance::bridge()), bridge.obey());
            done.unwrap();
            bridge.reappear();
            open_questions(&joined, 1).await;
            assert_eq!(joined.find("b-1").unwrap().settlement, None);
            assert_eq!(joined.find("b-2").ok(), bridge.inbox.find("b-2").ok());
        })
        .await;
    }

    #[tokio::test]
    async fn whoever_fell_behind_reads_all_that_is_open() {
        let folder = tempfile::tempdir().unwrap();
        let bridge = Bridge::start(folder.path(), "b");
        let joined = open(&folder).await;
        let client = joined.client("b").unwrap();
        for number in 1..=3 * (limits::MESSAGES as u64) {
            bridge.open(number, "a");
            // By the time of the answer, what is open was sent.
            soon(client.list(None)).await.unwrap();
        }
        following(&joined, open_questions(&joined, 3 * limits::MESSAGES)).await;
        assert_eq!(joined.book().borrow().settled().count(), 0);
        assert!(Arc::ptr_eq(&client, &joined.client("b").unwrap()), "it is the same connection");
    }

    #[tokio::test]
    async fn a_folder_that_is_removed_is_followed_when_it_is_there_again() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("askbridge");
        let joined = soon(Machine::open(&folder)).await.unwrap();
        following(&joined, async {
            let before = Bridge::start(&folder, "a");
            before.open(1, "a");
            open_questions(&joined, 1).await;
            fs::remove_dir_all(&folder).unwrap();
            until(|| folder.exists()).await;
            let after = Bridge::start(&folder, "b");
            after.open(1, "a");
            open_questions(&joined, 2).await;
        })
        .await;
    }

    #[tokio::test]
    async fn what_is_asked_here_is_found_by_all_and_withdrawn_with_who_asked() {
        let folder = tempfile::tempdir().unwrap();
        let own = Bridge::start(folder.path(), "own");
        let joined = soon(Machine::open_with(folder.path(), own.inbox.clone())).await.unwrap();
        following(&joined, async {
            let answered = async {
                open_questions(&joined, 1).await;
                let other = open(&folder).await;
                other.submit("own-p1", answer(), Provenance::bridge()).await.unwrap();
            };
            let (settlement, ()) = tokio::join!(joined.ask(question("a")), answered);
            assert_eq!(settlement.unwrap().outcome, Outcome::Answered(values("yes")));
            open_questions(&joined, 0).await;
            tokio::select! {
                settled = joined.ask(question("a")) => panic!("{settled:?}"),
                () = open_questions(&joined, 1) => {}
            }
            let is_over = |book: &Book| book.find("own-p2").is_some_and(|view| view.settlement.is_some());
            let mut book = joined.book();
            let book = book.wait_for(is_over).await.unwrap();
            let settlement = book.find("own-p2").unwrap().settlement.clone().unwrap();
            assert_eq!(settlement.outcome, Outcome::Rejected(Reason::Withdrawn));
        })
        .await;
        assert_eq!(open(&folder).await.ask(question("a")).await, Err(Refusal::Unavailable));
    }

    #[tokio::test]
    async fn what_its_bridge_has_forgotten_is_not_taken_for_lost() {
        let folder = tempfile::tempdir().unwrap();
        let bridge = Bridge::start(folder.path(), "b");
        (1..=3).for_each(|number| bridge.open(number, "a"));
        let joined = open(&folder).await;
        following(&joined, async {
            open_questions(&joined, 3).await;
            bridge.settle(1, Outcome::Rejected(Reason::User), Provenance::bridge());
            // Whatever its remark is: there is no room for another beside it.
            let values = values(&"x".repeat(limits::REMEMBERED_BYTES));
            bridge.settle(2, Outcome::Answered(values), Provenance::bridge());
            open_questions(&joined, 1).await;
        })
        .await;
        assert_eq!(joined.find("b-1"), Err(Refusal::NotFound), "nothing is made up about it");
        assert_eq!(joined.book().borrow().settled().count(), 1);
    }
}
