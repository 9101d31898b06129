//! The connections to the bridges, whose messages update one store.
//! When to connect to a bridge is left to `follow.rs` and `joined.rs`.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use askbridge_core::desk::{BridgeName, IdPrefix, MachineName, QuestionId};
use futures::future::join_all;
use tokio::{sync::watch, time::timeout};

use super::{
    gaps::{Gaps, gaps},
    handshake::{BridgeConnection, Greeting, greet, greet_machine, look},
    link::{BridgeLink, LinkState, lost},
    name::LinkName,
    peer::{LinkEnd, Peer},
    selected::Selected,
    stores::Stores,
};
use crate::{
    inbox::{
        BridgeStatus,
        report::{MachineListing, MachineReport},
    },
    limits,
    rpc::client::Depth,
};

/// The bridges whose sockets were found, and the store of their questions.
#[derive(Debug)]
pub(super) struct Connections {
    pub stores: Stores,
    links: Mutex<BTreeMap<LinkName, BridgeLink>>,
    pub gaps: watch::Sender<Gaps>,
    /// The machines that were found.
    pub machines: watch::Sender<MachineListing>,
    /// The gaps in the list of questions, as reported to another machine.
    pub report: watch::Sender<MachineReport>,
    /// The same for the questions of this machine alone.
    pub report_here: watch::Sender<MachineReport>,
    /// Notified at each message of a bridge.
    pub heard: watch::Sender<()>,
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

impl Default for Connections {
    fn default() -> Self {
        Connections {
            stores: Stores::default(),
            links: Mutex::default(),
            gaps: watch::Sender::default(),
            machines: watch::Sender::default(),
            report: watch::Sender::new(MachineReport::here()),
            report_here: watch::Sender::new(MachineReport::here()),
            heard: watch::Sender::default(),
        }
    }
}

impl Connections {
    /// Meets the other end of a link, unless that takes too long.
    pub(super) async fn visit(&self, name: &LinkName, end: &LinkEnd) {
        if timeout(limits::HANDSHAKE_TIMEOUT, self.meet(name, end)).await.is_err() {
            self.give_up(name, end);
        }
    }

    /// Connects to a machine for one of its questions, unless that takes too long, or uses the connection over which the
    /// machine was selected. What changes there is not followed before [`Connections::keep_up`]: a machine may have many
    /// questions.
    pub(super) async fn call_on(&self, machine: &MachineName, end: &LinkEnd, selected: Option<Selected>) {
        let name = LinkName::Machine(machine.clone());
        let is_short = |is_short| self.is_short(&name, end, is_short);
        let greeting = async {
            match selected.filter(|selected| selected.client.is_connected()) {
                Some(selected) => Greeting::Met(BridgeConnection::selected(selected)),
                None => greet_machine(machine, end, is_short).await,
            }
        };
        let Ok(greeting) = timeout(limits::HANDSHAKE_TIMEOUT, greeting).await else {
            return self.give_up(&name, end);
        };
        if let Ok(connection) = self.met(&name, end, greeting) {
            self.change(&name, end, |link| {
                link.report.clone_from(&connection.report);
                link.state = LinkState::Connected(connection, None);
            });
        }
    }

    /// Meets the other ends of these links that reply in time.
    pub(super) async fn visit_all(&self, found: &[(LinkName, LinkEnd)], patience: Duration) {
        let visits = join_all(found.iter().map(|(name, end)| self.meet(name, end)));
        self.wait_for_all(found, visits, patience).await;
    }

    /// Reads the open questions at the other ends of these links that reply in time.
    pub(super) async fn read_all(&self, found: &[(LinkName, LinkEnd)], depth: Depth, patience: Duration) {
        let reads = join_all(found.iter().map(|(name, end)| self.read(name, end, depth)));
        self.wait_for_all(found, reads, patience).await;
    }

    /// Waits until all bridges are done, or until none of them has sent a message for as long as `patience`.
    async fn wait_for_all<T>(
        &self,
        found: &[(LinkName, LinkEnd)],
        all: impl Future<Output = T>,
        patience: Duration,
    ) {
        // Creates each link, so that a bridge that never replies can be marked as unreachable below.
        for (name, end) in found {
            self.set(name, end, |_| ());
        }
        let mut heard = self.heard.subscribe();
        // The outer timeout ends the wait for a bridge that sends one message after the other, but slowly.
        let silence = timeout(limits::HANDSHAKE_TIMEOUT, async {
            while timeout(patience, heard.changed()).await.is_ok() {}
        });
        tokio::select! {
            _ = all => {}
            _ = silence => {
                for link in self.lock().values_mut().filter(|link| matches!(link.state, LinkState::New)) {
                    link.state = LinkState::Unreachable;
                }
            }
        }
        self.tell(self.lock());
    }

    /// Reads the open questions of a bridge once. The gaps are told when all bridges are read.
    async fn read(&self, name: &LinkName, end: &LinkEnd, depth: Depth) {
        let greeting = look(name, end, depth, |is_short| self.is_short(name, end, is_short)).await;
        if let Ok((greeted, report, questions)) = self.met(name, end, greeting) {
            let stored = self.put(name, questions);
            self.set(name, end, |link| {
                link.count(true, stored);
                link.report = report;
                link.state = LinkState::Read(greeted);
            });
        }
    }

    /// Meets the other end of a link, without a timeout: a process that was stopped replies once it is
    /// continued.
    pub(super) async fn wait_for(&self, name: &LinkName, end: &LinkEnd) -> SocketPeer {
        let meeting = self.meet(name, end);
        tokio::pin!(meeting);
        match timeout(limits::HANDSHAKE_TIMEOUT, &mut meeting).await {
            Ok(met) => met,
            Err(_) => {
                self.give_up(name, end);
                meeting.await
            }
        }
    }

    /// Meets the other end of a link, and stores its first snapshot.
    async fn meet(&self, name: &LinkName, end: &LinkEnd) -> SocketPeer {
        let greeting = greet(name, end, |is_short| self.is_short(name, end, is_short)).await;
        let (connection, feed) = match self.met(name, end, greeting) {
            Ok(met) => met,
            Err(peer) => return peer,
        };
        if self.begin(name, end, connection, feed).await {
            return SocketPeer::Connected;
        }
        self.lose(name);
        self.miss(name, end, LinkState::Unreachable);
        SocketPeer::Unreachable
    }

    /// Returns what a handshake led to, or records why it led to nothing.
    fn met<T>(&self, name: &LinkName, end: &LinkEnd, greeting: Greeting<T>) -> Result<T, SocketPeer> {
        self.heard.send_replace(());
        let peer = match greeting {
            Greeting::Met(met) => return Ok(met),
            Greeting::Gone => {
                self.forget(name);
                return Err(SocketPeer::Gone);
            }
            Greeting::Older => LinkState::Older,
            Greeting::Busy => LinkState::Busy,
            Greeting::Unreachable => LinkState::Unreachable,
        };
        self.miss(name, end, peer);
        Err(SocketPeer::Unreachable)
    }

    /// Records that the connection to a bridge ended: the state of its open questions is unknown from then on.
    pub(super) fn lose(&self, name: &LinkName) {
        let mut links = self.lock();
        if let Some(link) = links.get_mut(name) {
            link.state = LinkState::New;
            link.has_lost = false;
            link.unreadable.clear();
            link.left_out.clear();
        }
        self.tell(links);
        self.stores.edit(name.is_here(), |editor| editor.lose(|of| name.has(of), &lost()));
    }

    /// Forgets a bridge that is gone.
    fn forget(&self, name: &LinkName) {
        let mut links = self.lock();
        links.remove(name);
        self.tell(links);
    }

    /// Records that a bridge cannot be asked. Reporting that is left to the callers that follow the [`Gaps`].
    fn miss(&self, name: &LinkName, end: &LinkEnd, peer: LinkState) {
        self.change(name, end, |link| link.state = peer);
    }

    /// Records that a bridge takes too long, unless it is known why.
    fn give_up(&self, name: &LinkName, end: &LinkEnd) {
        self.change(name, end, |link| {
            if !matches!(link.state, LinkState::NoDescriptors) {
                link.state = LinkState::Unreachable;
            }
        });
    }

    /// Records whether this process is short of file descriptors.
    fn is_short(&self, name: &LinkName, end: &LinkEnd, is_short: bool) {
        self.change(name, end, |link| match link.state {
            _ if is_short => link.state = LinkState::NoDescriptors,
            LinkState::NoDescriptors => link.state = LinkState::New,
            _ => {}
        });
    }

    /// Records that there is no connection for now. What was open there counts as open.
    pub(super) fn disconnect(&self, name: &LinkName) {
        if let Some(link) = self.lock().get_mut(name) {
            link.state = LinkState::New;
        }
    }

    /// Returns a receiver of the current gaps, which can also wait until they change.
    pub(super) fn gaps(&self) -> watch::Receiver<Gaps> {
        self.gaps.subscribe()
    }

    /// Returns the other ends of the links to other machines that are up.
    pub(super) fn machine_peers(&self) -> Vec<(LinkName, Peer)> {
        self.peers(|name| matches!(name, LinkName::Machine(_) | LinkName::Elsewhere))
    }

    /// Returns whether a bridge was asked, with or without success.
    pub(super) fn has_asked(&self, name: &LinkName) -> bool {
        self.lock().get(name).is_some_and(|link| !matches!(link.state, LinkState::New))
    }

    /// Returns the known links and their other ends, whether these are still found or not.
    pub(super) fn ends(&self) -> BTreeMap<LinkName, LinkEnd> {
        self.lock().iter().map(|(name, link)| (name.clone(), link.end.clone())).collect()
    }

    /// Returns the other end of a link that is up.
    pub(super) fn peer(&self, name: &LinkName) -> Option<Peer> {
        match &self.lock().get(name)?.state {
            LinkState::Connected(connection, _) => Some(connection.peer.clone()),
            _ => None,
        }
    }

    /// Returns the link over which a bridge is reached, and its other end if the link is up.
    pub(super) fn peer_of(&self, bridge: &BridgeName) -> (LinkName, Option<Peer>) {
        let own = LinkName::of(bridge);
        let name = match own {
            LinkName::Machine(_) if !self.lock().contains_key(&own) => LinkName::Elsewhere,
            own => own,
        };
        let peer = self.peer(&name);
        (name, peer)
    }

    /// Returns the other ends of those links that are meant and up.
    pub(super) fn peers(&self, is_meant: impl Fn(&LinkName) -> bool) -> Vec<(LinkName, Peer)> {
        let links = self.lock();
        let named = links.iter().filter(|(name, _)| is_meant(name));
        let connected = named.filter_map(|(name, link)| match &link.state {
            LinkState::Connected(connection, _) => Some((name.clone(), connection.peer.clone())),
            _ => None,
        });
        connected.collect()
    }

    /// Returns the gaps of these links.
    pub(super) fn gaps_of(&self, is_meant: impl Fn(&LinkName) -> bool) -> Gaps {
        let links = self.lock();
        let fleet = self.gaps.borrow().fleet.clone();
        Gaps { fleet, ..gaps(links.iter(), is_meant) }
    }

    /// Returns the IDs of hidden questions, which are counted instead of shown, that match this prefix.
    pub(super) fn hidden(&self, typed: &IdPrefix, is_meant: impl Fn(&LinkName) -> bool) -> Vec<QuestionId> {
        let links = self.lock();
        let named = links.iter().filter(|(name, _)| is_meant(name));
        let hidden = named.flat_map(|(_, link)| {
            link.unreadable.matching(typed).chain(link.left_out.matching(typed)).cloned()
        });
        hidden.collect()
    }

    /// Returns whether a question that matches this prefix needs a newer askbridge.
    pub(super) fn is_unreadable(&self, typed: &IdPrefix, is_meant: impl Fn(&LinkName) -> bool) -> bool {
        let links = self.lock();
        let mut named = links.iter().filter(|(name, _)| is_meant(name));
        named.any(|(_, link)| link.unreadable.matching(typed).next().is_some())
    }

    /// Returns the known IDs of the questions that need a newer askbridge.
    pub(super) fn unreadable(&self) -> Vec<QuestionId> {
        self.lock().values().flat_map(|link| link.unreadable.ids().cloned()).collect()
    }

    /// Returns the connected bridges of these links, oldest first.
    pub(super) fn status(&self, is_meant: impl Fn(&LinkName) -> bool) -> Vec<BridgeStatus> {
        let links = self.lock();
        let named = links.iter().filter(|(name, _)| is_meant(name));
        let statuses = named.flat_map(|(_, link)| link.statuses()).collect::<Vec<_>>();
        drop(links);
        let mut statuses = self.stores.all().read(|_, snapshot| {
            let count = |mut status: BridgeStatus| {
                status.open = snapshot.open_in(&status.bridge).count();
                status
            };
            statuses.into_iter().map(count).collect::<Vec<_>>()
        });
        statuses.sort_by(|one, other| (one.started_at, &one.bridge).cmp(&(other.started_at, &other.bridge)));
        statuses
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, BTreeMap<LinkName, BridgeLink>> {
        // No code panics while it holds the lock, so its data is consistent.
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
