//! The connections to the bridges, whose messages update one store.
//! When to connect to a bridge is left to `follow.rs` and `bridges.rs`.

use std::{
    collections::{BTreeMap, BTreeSet},
    iter::repeat,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use askbridge_core::desk::{BridgeName, IdPrefix, QuestionId, Record, Refusal};
use futures::{StreamExt, future::join_all, stream};
use tokio::{sync::watch, time::timeout};

use super::{
    handshake::{Feed, Greeting, get, greet, look, subscribe},
    link::{BridgeLink, Gaps, LinkState, gaps, lost, put_all},
};
use crate::{
    inbox::{status::BridgeStatus, store::Store},
    limits,
    rpc::{
        client::{CallError, Client, Depth},
        protocol::{Delta, ReadableList},
    },
};

/// The bridges whose sockets were found, and the store of their questions.
#[derive(Debug, Default)]
pub(super) struct Connections {
    pub store: Store,
    links: Mutex<BTreeMap<BridgeName, BridgeLink>>,
    gaps: watch::Sender<Gaps>,
    /// Notified at each message of a bridge.
    heard: watch::Sender<()>,
}

/// The state of the peer behind a socket.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum SocketPeer {
    /// A bridge, which is connected.
    Connected,
    /// No process listens there any more.
    Gone,
    /// A bridge that cannot be asked.
    Unreachable,
}

impl Connections {
    /// Connects to the bridge behind a socket within [`limits::HANDSHAKE_TIMEOUT`].
    pub(super) async fn visit(&self, bridge: &BridgeName, path: &Path) {
        if timeout(limits::HANDSHAKE_TIMEOUT, self.meet(bridge, path)).await.is_err() {
            self.miss(bridge, path, LinkState::Unreachable);
        }
    }

    /// Connects to the bridges behind these sockets that reply in time.
    pub(super) async fn visit_all(&self, found: &[(BridgeName, PathBuf)], patience: Duration) {
        let visits = join_all(found.iter().map(|(bridge, path)| self.meet(bridge, path)));
        self.wait_for_all(found, visits, patience).await;
    }

    /// Reads the open questions of the bridges behind these sockets that reply in time.
    pub(super) async fn read_all(&self, found: &[(BridgeName, PathBuf)], depth: Depth, patience: Duration) {
        let reads = join_all(found.iter().map(|(bridge, path)| self.read(bridge, path, depth)));
        self.wait_for_all(found, reads, patience).await;
    }

    /// Waits until all bridges are done, or until none of them has sent a message for as long as `patience`.
    async fn wait_for_all<T>(
        &self,
        found: &[(BridgeName, PathBuf)],
        all: impl Future<Output = T>,
        patience: Duration,
    ) {
        // Creates each link, so that a bridge that never replies can be marked as unreachable below.
        for (bridge, path) in found {
            self.change(bridge, path, |_| ());
        }
        let mut heard = self.heard.subscribe();
        // The outer timeout ends the wait for a bridge that sends one message after the other, but slowly.
        let silence = timeout(limits::HANDSHAKE_TIMEOUT, async {
            while timeout(patience, heard.changed()).await.is_ok() {}
        });
        tokio::select! {
            _ = all => return,
            _ = silence => {}
        }
        for link in self.lock().values_mut().filter(|link| matches!(link.peer, LinkState::New)) {
            link.peer = LinkState::Unreachable;
        }
        self.tell(self.lock());
    }

    /// Reads the open questions of a bridge once.
    async fn read(&self, bridge: &BridgeName, path: &Path, depth: Depth) {
        let greeting = look(bridge, path, depth).await;
        self.heard.send_replace(());
        match greeting {
            Greeting::Met((greeted, questions)) => {
                self.take_over(bridge, path, true, questions);
                self.change(bridge, path, |link| link.peer = LinkState::Read(greeted));
            }
            Greeting::Older => self.miss(bridge, path, LinkState::Older),
            Greeting::Gone => self.forget(bridge),
            Greeting::Busy => self.miss(bridge, path, LinkState::Busy),
            Greeting::Unreachable => self.miss(bridge, path, LinkState::Unreachable),
        }
    }

    /// Connects to the bridge behind a socket, without a timeout: a process that was stopped may continue at any time.
    pub(super) async fn wait_for(&self, bridge: &BridgeName, path: &Path) -> SocketPeer {
        let meeting = self.meet(bridge, path);
        tokio::pin!(meeting);
        match timeout(limits::HANDSHAKE_TIMEOUT, &mut meeting).await {
            Ok(met) => met,
            Err(_) => {
                self.miss(bridge, path, LinkState::Unreachable);
                meeting.await
            }
        }
    }

    /// Connects to a bridge, and applies its first snapshot.
    async fn meet(&self, bridge: &BridgeName, path: &Path) -> SocketPeer {
        let greeting = greet(bridge, path).await;
        self.heard.send_replace(());
        let (connection, mut feed) = match greeting {
            Greeting::Met(met) => met,
            Greeting::Older => {
                self.miss(bridge, path, LinkState::Older);
                return SocketPeer::Unreachable;
            }
            Greeting::Gone => {
                self.forget(bridge);
                return SocketPeer::Gone;
            }
            Greeting::Busy => {
                self.miss(bridge, path, LinkState::Busy);
                return SocketPeer::Unreachable;
            }
            Greeting::Unreachable => {
                self.miss(bridge, path, LinkState::Unreachable);
                return SocketPeer::Unreachable;
            }
        };
        loop {
            match feed.next().await {
                Some(delta) if delta.snapshot => {
                    let more = delta.more;
                    if !self.apply(bridge, path, &connection.client, &mut feed, delta).await {
                        break;
                    }
                    if !more {
                        self.change(bridge, path, |link| {
                            link.peer = LinkState::Connected(connection, Some(feed))
                        });
                        return SocketPeer::Connected;
                    }
                }
                Some(_) => break,
                // The subscription may have ended only because we read too slowly.
                None => match subscribe(&connection.client).await {
                    Some(again) => *feed = again,
                    None => break,
                },
            }
        }
        self.lose(bridge);
        self.miss(bridge, path, LinkState::Unreachable);
        SocketPeer::Unreachable
    }

    /// Applies the changes of a connected bridge, until the connection ends.
    pub(super) async fn keep_up(&self, bridge: &BridgeName, path: &Path) {
        let Some((client, feed)) = self.take_feed(bridge) else { return };
        let mut next = Some(*feed);
        while let Some(mut feed) = next {
            while let Some(delta) = feed.next().await {
                if !self.apply(bridge, path, &client, &mut feed, delta).await {
                    return;
                }
            }
            // If the subscription ended only because we read too slowly, a new one begins with a snapshot.
            next = subscribe(&client).await;
        }
    }

    fn take_feed(&self, bridge: &BridgeName) -> Option<(Arc<Client>, Box<Feed>)> {
        match &mut self.lock().get_mut(bridge)?.peer {
            LinkState::Connected(connection, feed) => Some((Arc::clone(&connection.client), feed.take()?)),
            _ => None,
        }
    }

    /// Applies one message of a bridge. Returns false if the message breaks a limit.
    async fn apply(
        &self,
        bridge: &BridgeName,
        path: &Path,
        client: &Client,
        feed: &mut Feed,
        delta: Delta,
    ) -> bool {
        let Delta { snapshot, more, questions, .. } = delta;
        let begins = snapshot && feed.listed.is_none();
        if snapshot {
            let listed = feed.listed.get_or_insert_default();
            let own = |id: &&QuestionId| id.bridge == *bridge;
            listed.extend(questions.items.iter().map(|record| &record.id).filter(own).cloned());
            listed
                .extend(questions.unreadable.iter().filter_map(|item| item.id.as_ref()).filter(own).cloned());
            if listed.len() > limits::LISTED {
                tracing::warn!(%bridge, "a bridge lists more questions than are allowed");
                return false;
            }
        }
        let has_strange = self.take_over(bridge, path, begins, questions);
        if has_strange && !std::mem::replace(&mut feed.warned, true) {
            tracing::warn!(%bridge, "a bridge lists questions of another bridge; they are left out");
        }
        self.heard.send_replace(());
        if snapshot && !more {
            let listed = feed.listed.take().unwrap_or_default();
            self.ask_about_missing(bridge, client, &listed).await;
        }
        true
    }

    /// Stores the questions of a bridge's message. Leaves out questions of other bridges, for which this bridge cannot
    /// speak, and returns whether there were any.
    fn take_over(
        &self,
        bridge: &BridgeName,
        path: &Path,
        begins: bool,
        questions: ReadableList<Record>,
    ) -> bool {
        let ReadableList { items, sizes, mut unreadable, .. } = questions;
        let count = items.len();
        let sizes = sizes.into_iter().map(Some).chain(repeat(None));
        let mut items: Vec<_> = items.into_iter().zip(sizes).collect();
        items.retain(|(record, _)| record.id.bridge == *bridge && record.bridge == *bridge);
        unreadable.retain(|item| item.id.as_ref().is_none_or(|id| id.bridge == *bridge));
        let left_out = self.store.edit(|editor| put_all(editor, &items, &unreadable));
        let items: Vec<_> = items.into_iter().map(|(record, _)| record).collect();
        self.change(bridge, path, |link| link.count(begins, &items, unreadable, left_out));
        items.len() < count
    }

    /// Asks a bridge for its questions that were open or lost in the store, and are missing in its snapshot.
    async fn ask_about_missing(&self, bridge: &BridgeName, client: &Client, listed: &BTreeSet<QuestionId>) {
        let missing: Vec<_> = self.store.read(|_, snapshot| {
            let known = snapshot.open_in(bridge).chain(snapshot.lost_in(bridge));
            known.filter(|id| !listed.contains(id)).cloned().collect()
        });
        let asked = stream::iter(missing).map(async |id| {
            let answer = get(client, &IdPrefix::from(&id)).await;
            (id, answer)
        });
        let answers: Vec<_> = asked.buffer_unordered(limits::LOOK_UPS).collect().await;
        let told = lost();
        self.store.edit(|editor| {
            for (id, answer) in answers {
                match answer.map(|reply| reply.value) {
                    Ok(Some(record)) if record.id == id => editor.put(Arc::new(record)),
                    // The question is settled, but its outcome is forgotten or cannot be read.
                    Ok(_) | Err(CallError::Refused(Refusal::NotFound)) => editor.forget(&id),
                    Err(_) => editor.lose_one(&id, &told),
                }
            }
        });
    }

    /// Records that the connection to a bridge ended, so that the state of its open questions is unknown.
    pub(super) fn lose(&self, bridge: &BridgeName) {
        let mut links = self.lock();
        if let Some(link) = links.get_mut(bridge) {
            link.peer = LinkState::New;
            link.unreadable.clear();
            link.left_out.clear();
        }
        self.tell(links);
        self.store.edit(|editor| editor.lose(bridge, &lost()));
    }

    /// Forgets a bridge that is gone.
    fn forget(&self, bridge: &BridgeName) {
        let mut links = self.lock();
        links.remove(bridge);
        self.tell(links);
    }

    /// Records that a bridge cannot be asked. Showing that is left to those who follow the [`Gaps`].
    fn miss(&self, bridge: &BridgeName, path: &Path, peer: LinkState) {
        self.change(bridge, path, |link| link.peer = peer);
    }

    fn change<T>(&self, bridge: &BridgeName, path: &Path, change: impl FnOnce(&mut BridgeLink) -> T) -> T {
        let mut links = self.lock();
        let changed = change(links.entry(bridge.clone()).or_insert_with(|| BridgeLink::new(path)));
        self.tell(links);
        changed
    }

    /// Publishes the current gaps, if they changed.
    fn tell(&self, links: MutexGuard<'_, BTreeMap<BridgeName, BridgeLink>>) {
        let now = gaps(links.values());
        // Under the lock, so that an older value never replaces a newer one.
        self.gaps.send_if_modified(|gaps| {
            let changed = *gaps != now;
            *gaps = now;
            changed
        });
        drop(links);
    }

    /// Returns a receiver of the current gaps, which can also wait until they change.
    pub(super) fn gaps(&self) -> watch::Receiver<Gaps> {
        self.gaps.subscribe()
    }

    /// Returns the sockets that are known, whether they are still in the directory or not.
    pub(super) fn sockets(&self) -> BTreeMap<BridgeName, PathBuf> {
        self.lock().iter().map(|(bridge, link)| (bridge.clone(), link.path.clone())).collect()
    }

    /// Returns the connection to a bridge.
    pub(super) fn client(&self, bridge: &BridgeName) -> Option<Arc<Client>> {
        match &self.lock().get(bridge)?.peer {
            LinkState::Connected(connection, _) => Some(Arc::clone(&connection.client)),
            _ => None,
        }
    }

    /// Returns the connections to the bridges that may have a question.
    pub(super) fn clients(&self, typed: &IdPrefix) -> Vec<(BridgeName, Arc<Client>)> {
        let mut clients = self.all_clients();
        clients.retain(|(bridge, _)| typed.may_be_in(bridge.as_str()));
        clients
    }

    /// Returns the connections to all bridges.
    pub(super) fn all_clients(&self) -> Vec<(BridgeName, Arc<Client>)> {
        let links = self.lock();
        let connected = links.iter().filter_map(|(bridge, link)| match &link.peer {
            LinkState::Connected(connection, _) => Some((bridge.clone(), Arc::clone(&connection.client))),
            _ => None,
        });
        connected.collect()
    }

    /// Returns the gaps of the bridges that may have this question.
    pub(super) fn gaps_for(&self, typed: &IdPrefix) -> Gaps {
        let links = self.lock();
        gaps(links.iter().filter(|(bridge, _)| typed.may_be_in(bridge.as_str())).map(|(_, link)| link))
    }

    /// Returns the IDs of hidden questions, which are counted instead of shown, that match this prefix.
    pub(super) fn hidden(&self, typed: &IdPrefix) -> Vec<QuestionId> {
        let links = self.lock();
        let named = links.iter().filter(|(bridge, _)| typed.may_be_in(bridge.as_str()));
        let hidden = named.flat_map(|(_, link)| {
            link.unreadable.matching(typed).chain(link.left_out.matching(typed)).cloned()
        });
        hidden.collect()
    }

    /// Returns whether a question that matches this prefix needs a newer askbridge.
    pub(super) fn is_unreadable(&self, typed: &IdPrefix) -> bool {
        let links = self.lock();
        links.values().any(|link| link.unreadable.matching(typed).next().is_some())
    }

    /// Returns the known IDs of the questions that need a newer askbridge.
    pub(super) fn unreadable(&self) -> Vec<QuestionId> {
        self.lock().values().flat_map(|link| link.unreadable.ids().cloned()).collect()
    }

    /// Returns the connected bridges, oldest first.
    pub(super) fn status(&self) -> Vec<BridgeStatus> {
        let statuses = self.lock().values().filter_map(BridgeLink::status).collect::<Vec<_>>();
        let mut statuses = self.store.read(|_, snapshot| {
            let count = |mut status: BridgeStatus| {
                status.open = snapshot.open_in(&status.bridge).count();
                status
            };
            statuses.into_iter().map(count).collect::<Vec<_>>()
        });
        statuses.sort_by(|one, other| (one.started_at, &one.bridge).cmp(&(other.started_at, &other.bridge)));
        statuses
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<BridgeName, BridgeLink>> {
        // No code panics while it holds the lock, so its data is consistent.
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
