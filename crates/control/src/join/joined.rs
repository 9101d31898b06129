//! Joins the inboxes of all the bridges of this machine into one inbox.
//! Finding their sockets is left to `discovery.rs`, the messages over them to `connections.rs`.

use std::{sync::Arc, time::Duration};

use askbridge_core::{
    desk::{IdPrefix, LostQuestion, QuestionId, Record, Refusal, Settlement, Submission},
    question::{Context, Provenance, Question},
};
use futures::future::join_all;
use tokio::{sync::watch, time::timeout};

use super::{
    connections::Connections,
    discovery::DiscoveryError,
    follow,
    gaps::Gaps,
    name::LinkName,
    over,
    peer::LinkEnd,
    places::Places,
    reach::{OwnInboxes, Reach},
};
use crate::{
    inbox::{
        BridgeStatus, Editor, HistoryFilter, Inbox, Ledger, NO_STANDING, PastQuestion, PastQuestions,
        Standing, Store, latest_lost, recall,
        report::{ConnectedMachine, MachineListing, MachineReport},
        wait_until,
    },
    limits,
    rpc::client::{CallError, Depth},
};

/// The inboxes of all bridges, or of those that an ID may belong to. Cheap to clone.
#[derive(Clone, Debug)]
pub struct JoinedInbox {
    shared: Arc<SharedInbox>,
    part: Part,
}

/// Which questions a joined inbox shows.
#[derive(Clone, Debug)]
enum Part {
    /// All of them.
    All,
    /// Those of this machine, which are in this store.
    Here(Store),
    /// Those of the other machines, which are in this store.
    Elsewhere(Store),
}

#[derive(Debug)]
struct SharedInbox {
    reach: Reach,
    /// The prefix of the names of the bridges, if only those are joined.
    typed: Option<IdPrefix>,
    connections: Arc<Connections>,
    /// The inboxes of this process.
    own: OwnInboxes,
    /// The record of lost and settled questions.
    ledger: Option<Arc<dyn Ledger>>,
}

impl JoinedInbox {
    /// Joins the inboxes of the bridges whose sockets are in this directory now, and waits up to
    /// [`limits::HANDSHAKE_TIMEOUT`] for those that do not reply. What changes arrives while [`JoinedInbox::follow`] runs.
    ///
    /// # Errors
    /// The directory cannot be made or read. A bridge that cannot be asked is in the [`Gaps`] instead.
    pub async fn open(reach: impl Into<Reach>) -> Result<Self, DiscoveryError> {
        JoinedInbox::new(reach, None).join().await
    }

    /// Joins the inboxes of the bridges whose sockets are in this directory now, and waits no longer than
    /// [`limits::PATIENCE`] for those that do not reply.
    pub async fn open_soon(reach: impl Into<Reach>) -> Result<Self, DiscoveryError> {
        let (joined, found) = JoinedInbox::search(reach).await?;
        joined.connections().visit_all(&found, limits::PATIENCE).await;
        Ok(joined)
    }

    /// Reads the open questions of the bridges whose sockets are in this directory now, and waits no longer than this
    /// for those that do not reply. No bridge stays connected: what changes is not seen, and nothing can be submitted.
    pub async fn glance(
        reach: impl Into<Reach>,
        depth: Depth,
        patience: Duration,
    ) -> Result<Self, DiscoveryError> {
        let (joined, found) = JoinedInbox::search(reach).await?;
        joined.connections().read_all(&found, depth, patience).await;
        Ok(joined)
    }

    async fn search(reach: impl Into<Reach>) -> Result<(Self, Vec<(LinkName, LinkEnd)>), DiscoveryError> {
        let joined = JoinedInbox::new(reach, None);
        let found = joined.shared.reach.links().await?.into_iter().collect();
        Ok((joined, found))
    }

    /// Joins the inbox of the bridge that this ID names or, if its name is shortened, the inboxes of the bridges whose
    /// names begin so. No other bridge is connected to.
    pub async fn open_for(reach: impl Into<Reach>, typed: &IdPrefix) -> Result<Self, DiscoveryError> {
        let joined = JoinedInbox::new(reach, Some(typed.clone()));
        match joined.shared.reach.link_of(typed) {
            Some((LinkName::Machine(name), end)) => {
                let selected = joined.reach().selected.clone();
                joined.connections().call_on(&name, &end, selected).await;
            }
            Some((name, end)) => joined.connections().visit(&name, &end).await,
            None => return joined.join().await,
        }
        Ok(joined)
    }

    /// Joins all inboxes, with those of this process, through which questions are asked. The ledger says which questions
    /// were lost.
    pub async fn open_with(
        reach: impl Into<Reach>,
        own: OwnInboxes,
        ledger: Option<Arc<dyn Ledger>>,
    ) -> Result<Self, DiscoveryError> {
        let standing = own.standing.iter().map(|standing| standing.inbox().clone());
        let reach = Reach { own: own.asked.iter().cloned().chain(standing).collect(), ..reach.into() };
        let shared = SharedInbox { own, ledger, ..SharedInbox::new(reach, None) };
        JoinedInbox { shared: Arc::new(shared), part: Part::All }.join().await
    }

    async fn join(self) -> Result<Self, DiscoveryError> {
        let found = self.shared.reach.links().await?;
        let meant = found.iter().filter(|(bridge, _)| self.shared.means(bridge));
        join_all(meant.map(|(name, end)| self.connections().visit(name, end))).await;
        Ok(self)
    }

    pub(super) fn new(reach: impl Into<Reach>, typed: Option<IdPrefix>) -> Self {
        JoinedInbox { shared: Arc::new(SharedInbox::new(reach.into(), typed)), part: Part::All }
    }

    /// Returns the questions of this machine alone, as one shows them to another machine. It follows them with this one,
    /// over the same connections, and asks none itself.
    #[must_use]
    pub fn here(&self) -> Self {
        JoinedInbox { shared: Arc::clone(&self.shared), part: Part::Here(self.connections().stores.here()) }
    }

    /// Returns the questions of the other machines alone, as one shows them to another program of this one. As with
    /// [`JoinedInbox::here`], it asks none itself.
    #[must_use]
    pub fn elsewhere(&self) -> Self {
        let part = Part::Elsewhere(self.connections().stores.elsewhere());
        JoinedInbox { shared: Arc::clone(&self.shared), part }
    }

    /// Returns whether this shows the questions at the other end of a link.
    pub(super) fn shows(&self, name: &LinkName) -> bool {
        match self.part {
            Part::All => true,
            Part::Here(_) => name.is_here(),
            Part::Elsewhere(_) => !name.is_here(),
        }
    }

    fn shows_all(&self) -> bool {
        matches!(self.part, Part::All)
    }

    /// Returns whether this shows the questions of other machines.
    fn shows_elsewhere(&self) -> bool {
        !matches!(self.part, Part::Here(_))
    }

    /// Returns the record of lost and settled questions of this machine, if this shows them.
    fn ledger(&self) -> Option<&Arc<dyn Ledger>> {
        self.shared.ledger.as_ref().filter(|_| !matches!(self.part, Part::Elsewhere(_)))
    }

    /// Returns whether the other end of a link may have a question that this shows.
    pub(super) fn may_have<'a>(&'a self, typed: &'a IdPrefix) -> impl Fn(&LinkName) -> bool + 'a {
        |name| self.shows(name) && name.may_have(typed)
    }

    /// Returns the gaps in what is known of the questions that an ID may name.
    pub(super) fn gaps_for(&self, typed: &IdPrefix) -> Gaps {
        let gaps = self.connections().gaps_of(self.may_have(typed));
        Gaps { fleet: gaps.fleet.filter(|_| self.shows_elsewhere()), ..gaps }
    }

    /// Changes what is known of a question.
    pub(super) fn edit<T>(&self, id: &QuestionId, edit: impl Fn(&mut Editor<'_>) -> T) -> T {
        self.connections().stores.edit(LinkName::of(&id.bridge).is_here(), edit)
    }

    /// Follows the bridges, including those that start later, until the future is dropped: what changes arrives in the store
    /// while it runs. Run it once, beside what reads the store.
    ///
    /// # Errors
    /// The directory can no longer be read.
    pub async fn follow(&self) -> Result<(), DiscoveryError> {
        let shared = &self.shared;
        follow::follow(&shared.connections, &shared.reach, |bridge| shared.means(bridge)).await
    }

    /// Returns the directories of the sockets of this machine's bridges. `None` if other machines are asked alone.
    pub fn places(&self) -> Option<&Places> {
        self.shared.reach.bridges.as_ref()
    }

    /// Returns the other machines that are asked, in the order of their names.
    pub fn machines(&self) -> Vec<ConnectedMachine> {
        self.connections().machines.borrow().machines.clone()
    }

    /// Returns the questions of the past of the connected machines: each machine's latest first.
    ///
    /// # Errors
    /// A machine does not reply, or its askbridge has no journal.
    pub async fn past_elsewhere(&self, filter: HistoryFilter) -> Result<Vec<PastQuestion>, CallError> {
        over::past_elsewhere(self.connections(), filter).await
    }

    /// Returns the questions of the connected machines that were lost with their bridges: each machine's latest first.
    ///
    /// # Errors
    /// As those of [`JoinedInbox::past_elsewhere`].
    pub async fn lost_elsewhere(&self) -> Result<Vec<LostQuestion>, CallError> {
        over::lost_elsewhere(self.connections()).await
    }

    /// Returns a receiver of the current gaps, which can also wait until they change.
    pub fn gaps(&self) -> watch::Receiver<Gaps> {
        self.shared.connections.gaps()
    }

    /// Returns the known IDs of the open questions that need a newer askbridge.
    pub fn unreadable(&self) -> Vec<QuestionId> {
        self.connections().unreadable()
    }

    pub(super) fn reach(&self) -> &Reach {
        &self.shared.reach
    }

    pub(super) fn connections(&self) -> &Connections {
        &self.shared.connections
    }
}

impl SharedInbox {
    fn new(reach: Reach, typed: Option<IdPrefix>) -> Self {
        let connections = Connections::default();
        connections.know_fleet(reach.fleet.as_ref().and_then(|problem| problem.borrow().clone()));
        SharedInbox {
            reach,
            typed,
            connections: Arc::new(connections),
            own: OwnInboxes::default(),
            ledger: None,
        }
    }

    fn means(&self, name: &LinkName) -> bool {
        self.typed.as_ref().is_none_or(|typed| name.may_have(typed))
    }
}

impl Inbox for JoinedInbox {
    fn store(&self) -> &Store {
        match &self.part {
            Part::All => self.connections().stores.all(),
            Part::Here(store) | Part::Elsewhere(store) => store,
        }
    }

    async fn submit(
        &self,
        id: &QuestionId,
        submission: Submission,
        by: Provenance,
    ) -> Result<Arc<Record>, Refusal> {
        let (link, peer) = self.connections().peer_of(&id.bridge);
        let Some(peer) = peer.filter(|_| self.shows(&link)) else {
            return self.judge(id, &submission).await;
        };
        let patience = if link.is_here() { limits::VERDICT } else { limits::remote::VERDICT };
        match self.submit_over(&peer, id, submission, by, patience).await {
            Ok(record) => Ok(record),
            Err(CallError::Refused(refusal)) => Err(refusal),
            Err(CallError::Gone) => Err(Refusal::Unknown),
        }
    }

    async fn ask(&self, question: Question) -> Result<Settlement, Refusal> {
        match self.shared.own.asked.as_ref().filter(|_| self.shows_all()) {
            Some(own) => own.ask(question).await,
            None => Err(Refusal::Unavailable),
        }
    }

    fn standing(&self) -> Result<Arc<dyn Standing>, &str> {
        match &self.shared.own.standing {
            Ok(standing) if self.shows_all() => Ok(Arc::new(standing.clone())),
            Ok(_) => Err(NO_STANDING),
            Err(why) => Err(why),
        }
    }

    async fn keep_up(&self, told: &Record) {
        let is_over = !told.is_open();
        let has = |known: Option<&Arc<Record>>| known.map_or(is_over, |known| !is_over || !known.is_open());
        wait_until(self.store(), limits::LEDGER_WAIT, |now| has(now.get(&told.id))).await;
        // Who is told may look at another list than this one.
        self.connections().stores.keep_up();
    }

    fn status(&self) -> Vec<BridgeStatus> {
        self.connections().status(|name| self.shows(name))
    }

    async fn report(&self, known: Option<u64>) -> MachineReport {
        let connections = self.connections();
        let report = if self.shows_elsewhere() { &connections.report } else { &connections.report_here };
        let mut reports = report.subscribe();
        let changed = reports.wait_for(|report| known != Some(report.revision)).await;
        changed.map(|report| report.clone()).unwrap_or_default()
    }

    async fn machine_list(&self, known: Option<u64>) -> MachineListing {
        if !self.shows_elsewhere() {
            return MachineListing::default();
        }
        let mut machines = self.connections().machines.subscribe();
        let changed = machines.wait_for(|listing| known != Some(listing.revision)).await;
        changed.map(|listing| listing.clone()).unwrap_or_default()
    }

    fn find(&self, typed: &IdPrefix) -> Result<Arc<Record>, Refusal> {
        let found = self.known(typed);
        if found != Err(Refusal::NotFound) {
            return found;
        }
        let gaps = self.gaps_for(typed);
        let is_unknown = !gaps.has_asked_all() || self.is_new(typed);
        match is_unknown || !self.connections().hidden(typed, self.may_have(typed)).is_empty() {
            true => Err(Refusal::Unavailable),
            false => Err(Refusal::NotFound),
        }
    }

    async fn look_up(&self, typed: &IdPrefix) -> Result<Arc<Record>, Refusal> {
        match self.seek(typed).await {
            Ok(record) => Ok(record),
            Err(missing) => recall(self.ledger(), typed, missing.into()).await,
        }
    }

    async fn context(&self, record: &Record) -> Result<Arc<Context>, Refusal> {
        self.led_to(record).await
    }

    async fn image(&self, record: &Record, number: usize) -> Result<Arc<Vec<u8>>, Refusal> {
        self.image_of(record, number).await
    }

    async fn lost(&self) -> Result<Vec<LostQuestion>, Refusal> {
        match (&self.part, &self.shared.ledger) {
            (Part::Elsewhere(_), _) => {
                let mut lost = self.lost_elsewhere().await?;
                lost.sort_by_key(|lost| lost.record.opened_at);
                Ok(latest_lost(lost))
            }
            (_, Some(ledger)) => Ok(latest_lost(ledger.lost().await?)),
            (_, None) => Ok(Vec::new()),
        }
    }

    async fn past(&self, filter: HistoryFilter) -> Result<PastQuestions, Refusal> {
        let connections = self.shows_elsewhere().then(|| self.connections());
        over::past(self.ledger(), connections, filter).await
    }

    async fn kept(&self) {
        if let Some(own) = self.shared.own.asked.as_ref().filter(|_| self.shows_all()) {
            own.kept().await;
        }
    }

    async fn watch(&self) {
        // Errors are ignored: an earlier version does not know the method, and a bridge may hang.
        let peers = self.connections().peers(|name| self.shows(name));
        let told = join_all(peers.iter().map(|(_, peer)| peer.watch()));
        timeout(limits::PATIENCE, told).await.map(drop).unwrap_or_default();
    }

    async fn settled(&self, limit: usize) -> Vec<Arc<Record>> {
        let peers = self.connections().peers(|name| self.shows(name));
        over::latest_settled(self.store(), peers, limit).await
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use askbridge_core::{
        desk::State,
        question::{Answer, Outcome, Reason, Value},
    };
    use tempfile::TempDir;
    use tokio::{
        io::{AsyncWriteExt, copy_bidirectional},
        net::{UnixListener, UnixStream},
        sync::watch,
        time::{Instant, interval_at},
    };

    use super::*;
    use crate::{
        inbox::{self, wait_until},
        join::{Held, Missing},
        limits,
        rpc::played::{PlayedBridge, listen, soon},
    };

    async fn open(folder: &TempDir) -> JoinedInbox {
        soon(JoinedInbox::open(folder.path())).await.unwrap()
    }

    fn id(text: &str) -> QuestionId {
        text.parse().unwrap()
    }

    fn typed(text: &str) -> IdPrefix {
        text.parse().unwrap()
    }

    fn answer() -> Submission {
        let values = [("q0".to_owned(), Value::Text("yes".to_owned()))].into();
        Submission::answer(Answer { values, ..Answer::default() }, None)
    }

    /// Lets this time pass on the paused clock.
    async fn pass(time: Duration) {
        interval_at(Instant::now() + time, time).tick().await;
    }

    #[tokio::test]
    async fn a_submission_is_in_the_store_when_the_caller_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let mut bridge = PlayedBridge::start(folder.path(), "b");
        bridge.open("a").await;
        // Only the reply can tell: the machine is not followed.
        let joined = open(&folder).await;
        let first = id("b-1");
        let (done, ()) =
            tokio::join!(soon(joined.submit(&first, answer(), Provenance::bridge())), bridge.obey());
        assert_eq!(done.unwrap(), joined.find(&typed("b-1")).unwrap());
        assert_eq!(joined.store().read(|_, snapshot| snapshot.open_count()), 0);

        // A conflict tells it as well.
        bridge.open("a").await;
        let joined = open(&folder).await;
        let inbox = bridge.inbox.clone();
        let id = id("b-2");
        let (done, ()) = tokio::join!(inbox.submit(&id, answer(), Provenance::bridge()), bridge.obey());
        done.unwrap();
        let rejection = Submission::Reject(None);
        let (refused, ()) =
            tokio::join!(soon(joined.submit(&id, rejection, Provenance::bridge())), bridge.obey());
        assert_eq!(refused, Err(Refusal::Conflict(joined.find(&typed("b-2")).unwrap())));
        assert_eq!(joined.store().read(|_, snapshot| snapshot.open_count()), 0);
    }

    #[tokio::test]
    async fn only_the_bridges_that_an_id_may_mean_are_connected_to() {
        let folder = tempfile::tempdir().unwrap();
        let mut bridge = PlayedBridge::start(folder.path(), "k3f9q2");
        bridge.open("a").await;
        let frozen = listen(&folder.path().join("mute.sock"));
        let joined = soon(JoinedInbox::open_for(folder.path(), &typed("k3-1"))).await.unwrap();
        assert_eq!(joined.seek(&typed("k3-1")).await.unwrap().id, id("k3f9q2-1"));
        assert_eq!(*joined.gaps().borrow(), Gaps::default());
        assert_eq!(joined.seek(&typed("k3-2")).await, Err(Missing::Refused(Refusal::NotFound)));
        assert!(frozen.accept().is_err(), "the other bridge was connected to");
    }

    #[tokio::test(start_paused = true)]
    async fn a_frozen_bridge_delays_a_glance_by_no_more_than_the_patience() {
        let folder = tempfile::tempdir().unwrap();
        let mut bridge = PlayedBridge::start(folder.path(), "b");
        bridge.open("a").await;
        let frozen = folder.path().join("mute.sock");
        let _listener = listen(&frozen);
        drop(listen(&folder.path().join("dead.sock")));
        for watches in [false, true] {
            let start = Instant::now();
            let opened = async {
                match watches {
                    true => JoinedInbox::open_soon(folder.path()).await,
                    false => JoinedInbox::glance(folder.path(), Depth::Outline, limits::PATIENCE).await,
                }
            };
            let joined = soon(opened).await.unwrap();
            assert!(start.elapsed() >= limits::PATIENCE && start.elapsed() <= 2 * limits::PATIENCE);
            assert_eq!(joined.store().read(|_, snapshot| snapshot.open_count()), 1);
            assert_eq!(joined.status().len(), 1);
            let gaps = Gaps { unreachable: vec![frozen.clone()], ..Gaps::default() };
            assert_eq!(*joined.gaps().borrow(), gaps, "a dead bridge is not one that does not reply");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_bridge_that_replies_late_is_waited_for_and_one_that_does_not_is_named() {
        for depth in [Some(Depth::Outline), Some(Depth::Whole), None] {
            let folder = tempfile::tempdir().unwrap();
            let mut bridge = PlayedBridge::start(folder.path(), "b");
            bridge.open("a").await;
            // It lives, and has had no turn on a CPU since it was connected to.
            let path = folder.path().join("late.sock");
            let listener = listen(&path);
            let late = async {
                pass(Duration::from_secs(1)).await;
                let mut late = PlayedBridge::on(listener, None, path, "late");
                late.open("a").await;
                std::future::pending::<()>().await;
            };
            let open = async {
                match depth {
                    Some(depth) => JoinedInbox::glance(folder.path(), depth, limits::PATIENCE).await,
                    None => JoinedInbox::open_soon(folder.path()).await,
                }
            };
            let mut late = std::pin::pin!(late);
            let joined = tokio::select! {
                joined = soon(open) => joined.unwrap(),
                () = &mut late => panic!("it goes on"),
            };
            assert_eq!(joined.store().read(|_, snapshot| snapshot.open_count()), 2, "{depth:?}");
            assert!(joined.gaps().borrow().is_empty(), "{depth:?}");
        }
    }

    #[tokio::test]
    async fn a_bridge_that_is_too_busy_is_not_one_that_does_not_reply() {
        let folder = tempfile::tempdir().unwrap();
        let bridge = PlayedBridge::start(folder.path(), "b");
        let mut streams = Vec::new();
        for _ in 0..limits::CONNECTIONS {
            streams.push(bridge.stream().await);
        }
        let busy = Gaps { busy: vec![bridge.path.clone()], ..Gaps::default() };
        for watches in [false, true] {
            let joined = match watches {
                true => open(&folder).await,
                false => {
                    soon(JoinedInbox::glance(folder.path(), Depth::Outline, limits::PATIENCE)).await.unwrap()
                }
            };
            assert_eq!(*joined.gaps().borrow(), busy, "{watches}");
            assert!(!joined.gaps().borrow().has_asked_all());
            assert_eq!(joined.seek(&typed("b-1")).await, Err(Missing::Unasked(Box::new(busy.clone()))));
            assert_eq!(joined.find(&typed("b-1")), Err(Refusal::Unavailable));
        }
        drop(streams);
    }

    #[tokio::test(start_paused = true)]
    async fn a_bridge_whose_replies_are_not_read_says_that_it_is_too_busy() {
        let folder = tempfile::tempdir().unwrap();
        let mut bridge = PlayedBridge::start(folder.path(), "b");
        let mut bytes = 0;
        while bytes < limits::REPLIES_BYTES / 4 {
            bridge.open(&"x".repeat(100_000)).await;
            bytes += 100_000;
        }
        // Each holds more than a quarter of the room.
        let mut unread = Vec::new();
        for _ in 0..4 {
            let mut stream = bridge.stream().await;
            let call = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"question_list\"}\n";
            stream.write_all(call).await.unwrap();
            unread.push(stream);
        }
        let glance = JoinedInbox::glance(folder.path(), Depth::Outline, limits::PATIENCE);
        let joined = soon(glance).await.unwrap();
        let busy = Gaps { busy: vec![bridge.path.clone()], ..Gaps::default() };
        assert_eq!(*joined.gaps().borrow(), busy);
        drop(unread);
    }

    #[tokio::test(start_paused = true)]
    async fn a_bridge_with_a_long_queue_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("busy.sock");
        let listener = listen(&path);
        rustix::net::listen(&listener, 0).unwrap();
        let queued = std::os::unix::net::UnixStream::connect(&path).unwrap();
        let later = async {
            pass(limits::PATIENCE / 2).await;
            let mut bridge = PlayedBridge::on(listener, None, path, "busy");
            bridge.open("a").await;
            std::future::pending::<()>().await;
        };
        let joined = tokio::select! {
            joined = soon(JoinedInbox::glance(folder.path(), Depth::Outline, limits::PATIENCE)) => joined.unwrap(),
            () = later => panic!("it goes on"),
        };
        assert!(joined.gaps().borrow().is_empty());
        assert_eq!(joined.store().read(|_, snapshot| snapshot.open_count()), 1);
        drop(queued);
    }

    #[tokio::test]
    async fn the_id_that_an_agent_gave_is_found_where_it_is_unique() {
        let folder = tempfile::tempdir().unwrap();
        let mut one = PlayedBridge::start(folder.path(), "one");
        one.open("a").await;
        let joined = open(&folder).await;
        assert_eq!(joined.seek_own("q").unwrap().id, id("one-1"));
        for unknown in ["", "Q", "one-1"] {
            assert_eq!(joined.seek_own(unknown), Err(Missing::Refused(Refusal::NotFound)), "{unknown}");
        }
        let mut two = PlayedBridge::start(folder.path(), "two");
        two.open("a").await;
        let several = Refusal::Ambiguous(vec![id("one-1"), id("two-1")]);
        assert_eq!(open(&folder).await.seek_own("q"), Err(Missing::Refused(several)));
    }

    #[tokio::test]
    async fn a_whole_name_is_that_of_one_bridge() {
        let folder = tempfile::tempdir().unwrap();
        let mut bridge = PlayedBridge::start(folder.path(), "k3");
        bridge.open("a").await;
        let longer = listen(&folder.path().join("k3f9q2.sock"));
        let joined = soon(JoinedInbox::open_for(folder.path(), &typed("k3-1"))).await.unwrap();
        assert_eq!(joined.seek(&typed("k3-1")).await.unwrap().id, id("k3-1"));
        assert!(longer.accept().is_err(), "the other bridge was connected to");
    }

    #[tokio::test(start_paused = true)]
    async fn a_submission_to_a_frozen_bridge_ends_and_its_outcome_is_unknown() {
        let (folder, behind) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut bridge = PlayedBridge::start(behind.path(), "b");
        bridge.open("a").await;
        let listener = UnixListener::from_std(listen(&folder.path().join("b.sock"))).unwrap();
        let mut streams: Option<(UnixStream, UnixStream)> = None;
        let passes_on = async {
            let (near, _) = listener.accept().await.unwrap();
            let (near, far) = streams.insert((near, bridge.stream().await));
            copy_bidirectional(near, far).await
        };
        let joined = tokio::select! {
            joined = soon(JoinedInbox::open(folder.path())) => joined.unwrap(),
            passed = passes_on => panic!("{passed:?}"),
        };
        let start = Instant::now();
        let refused = soon(joined.submit(&id("b-1"), Submission::Reject(None), Provenance::bridge())).await;
        assert_eq!((refused, start.elapsed()), (Err(Refusal::Unknown), 2 * limits::HANDSHAKE_TIMEOUT));
        assert_eq!(joined.find(&typed("b-1")).unwrap().state, State::Open, "its end is not known");
        drop(streams);
    }

    #[tokio::test(start_paused = true)]
    async fn an_agent_that_reads_slowly_is_waited_for_and_may_read_later_still() {
        let folder = tempfile::tempdir().unwrap();
        let mut bridge = PlayedBridge::start(folder.path(), "b");
        bridge.open("a").await;
        let joined = open(&folder).await;
        let id = id("b-1");
        let submitted = joined.submit(&id, answer(), Provenance::bridge());
        tokio::pin!(submitted);
        assert!(timeout(limits::VERDICT - Duration::from_secs(1), &mut submitted).await.is_err());
        let begun = Instant::now();
        assert_eq!(soon(submitted).await, Err(Refusal::Unknown));
        assert!(begun.elapsed() <= Duration::from_secs(1), "{:?}", begun.elapsed());
        // Now it reads: the answer was on its way, and the same one is no other.
        bridge.obey().await;
        let (again, ()) =
            tokio::join!(soon(joined.submit(&id, answer(), Provenance::bridge())), bridge.obey());
        assert_eq!(again.unwrap().state, State::Settled);
    }

    #[tokio::test]
    async fn a_socket_with_the_name_of_another_bridge_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("other.sock");
        let mut bridge = PlayedBridge::on(listen(&path), None, path.clone(), "b");
        bridge.open("Continue?").await;
        let joined = open(&folder).await;
        assert_eq!(joined.store().read(|_, snapshot| snapshot.open_count()), 0);
        assert_eq!(joined.gaps().borrow().unreachable, [path]);
    }

    #[tokio::test]
    async fn a_question_of_a_bridge_that_was_not_asked_yet_is_not_known_to_be_none() {
        let folder = tempfile::tempdir().unwrap();
        let joined = open(&folder).await;
        assert_eq!(joined.find(&typed("b-1")), Err(Refusal::NotFound));
        let mut bridge = PlayedBridge::start(folder.path(), "b");
        bridge.open("a").await;
        assert_eq!(joined.find(&typed("b-1")), Err(Refusal::Unavailable));
        assert_eq!(joined.look_up(&typed("b-1")).await, Err(Refusal::Unavailable));
        assert_eq!(joined.find(&typed("other-1")), Err(Refusal::NotFound), "no such bridge runs");
        let asked = wait_until(joined.store(), limits::WAIT, |now| now.open_count() == 1);
        tokio::select! {
            followed = joined.follow() => panic!("not followed: {followed:?}"),
            asked = soon(asked) => assert!(asked),
        }
        assert_eq!(joined.find(&typed("b-2")), Err(Refusal::NotFound), "its bridge would know it");
    }

    #[tokio::test]
    async fn a_settled_question_is_found_in_its_bridge() {
        let folder = tempfile::tempdir().unwrap();
        let mut bridge = PlayedBridge::start(folder.path(), "b");
        let number = bridge.open("a").await;
        bridge.settle(number, Outcome::Rejected(Reason::User), Provenance::bridge()).await;
        let joined = open(&folder).await;
        assert_eq!(joined.find(&typed("b-1")), Err(Refusal::NotFound));
        let found = joined.look_up(&typed("b-1")).await.unwrap();
        assert_eq!((found.id.clone(), found.state), (id("b-1"), State::Settled));
        let again = joined.submit(&found.id, Submission::Reject(None), Provenance::bridge());
        let (again, ()) = tokio::join!(soon(again), bridge.obey());
        assert_eq!(again, Ok(Arc::clone(&found)), "the same once more is accepted");
    }

    /// Returns what a process holds of one machine.
    fn of(machine: &str, bridge: &PlayedBridge) -> Held {
        let inbox: Arc<dyn inbox::AnyInbox> = Arc::new(bridge.inbox.clone());
        [(machine.parse().unwrap(), inbox)].into()
    }

    #[tokio::test]
    async fn a_machine_that_this_process_holds_is_handed_over() {
        let folder = tempfile::tempdir().unwrap();
        let mut bridge = PlayedBridge::start(folder.path(), "b");
        bridge.open("a").await;
        let (sender, held) = watch::channel(Some(of("far", &bridge)));
        let reach = Reach { held: Some(held), ..Reach::default() };
        let joined = soon(JoinedInbox::open(reach)).await.unwrap();
        let there = bridge.inbox.find(&typed("b-1")).unwrap();
        let here = joined.find(&typed("far/b-1")).unwrap();
        assert_eq!((here.id.to_string(), here.bridge.to_string()), ("far/b-1".into(), "far/b".into()));
        assert!(Arc::ptr_eq(&here.question, &there.question), "the question is kept once");
        assert_eq!(joined.status()[0].bridge.to_string(), "far/b");

        let follow = joined.clone();
        let following = tokio::spawn(async move { follow.follow().await });
        let far = id("far/b-1");
        let (done, ()) =
            tokio::join!(soon(joined.submit(&far, answer(), Provenance::bridge())), bridge.obey());
        assert_eq!(done.unwrap(), joined.find(&typed("far/b-1")).unwrap());
        let late = joined.submit(&far, Submission::Reject(None), Provenance::bridge());
        let (refused, ()) = tokio::join!(soon(late), bridge.obey());
        assert!(matches!(refused, Err(Refusal::Conflict(record)) if record.id == far), "by its name here");

        // What opens there is seen here, until the process holds the machine no more.
        bridge.open("second").await;
        let second = id("far/b-2");
        assert!(wait_until(joined.store(), limits::WAIT, |now| now.get(&second).is_some()).await);
        bridge.inbox.store().end();
        sender.send_replace(Some(Held::new()));
        assert!(wait_until(joined.store(), limits::WAIT, |now| now.open_count() == 0).await);
        let late = soon(joined.submit(&second, answer(), Provenance::bridge())).await;
        assert_eq!(late, Err(Refusal::Unavailable));
        following.abort();
    }

    #[tokio::test]
    async fn a_submission_to_an_inbox_that_ends_meanwhile_is_unknown() {
        let folder = tempfile::tempdir().unwrap();
        let mut bridge = PlayedBridge::start(folder.path(), "b");
        bridge.open("a").await;
        let reach = Reach { held: Some(watch::channel(Some(of("far", &bridge))).1), ..Reach::default() };
        let joined = soon(JoinedInbox::open(reach)).await.unwrap();
        let far = id("far/b-1");
        let submitting = joined.submit(&far, answer(), Provenance::bridge());
        let ending = async {
            bridge.submitted().await;
            bridge.inbox.store().end();
        };
        let (done, ()) = tokio::join!(soon(submitting), ending);
        assert_eq!(done, Err(Refusal::Unknown));
    }

    #[tokio::test]
    async fn the_inbox_of_this_process_is_not_connected_to() {
        let (empty, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut own = PlayedBridge::start(elsewhere.path(), "own");
        own.open("a").await;
        let joined = JoinedInbox::open_with(empty.path(), own.inbox.clone().into(), None);
        let joined = soon(joined).await.unwrap();
        let (here, there) = (joined.find(&typed("own-1")).unwrap(), own.inbox.find(&typed("own-1")).unwrap());
        assert!(Arc::ptr_eq(&here, &there), "the record is kept once");
        let first = id("own-1");
        let (done, ()) =
            tokio::join!(soon(joined.submit(&first, answer(), Provenance::bridge())), own.obey());
        assert_eq!(done.unwrap().state, State::Settled);
    }

    #[tokio::test]
    async fn the_questions_of_this_machine_are_shown_alone_over_the_same_connections() {
        let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let mut near = PlayedBridge::start(folder.path(), "near");
        let mut far = PlayedBridge::start(elsewhere.path(), "bridge");
        near.open("a").await;
        far.open("a").await;
        let reach =
            Reach { held: Some(watch::channel(Some(of("far", &far))).1), ..Reach::from(folder.path()) };
        let joined = soon(JoinedInbox::open(reach)).await.unwrap();
        let here = joined.here();
        let ids = |inbox: &JoinedInbox| -> Vec<String> {
            inbox.store().read(|_, now| now.open_ids().map(ToString::to_string).collect())
        };
        assert_eq!(
            (ids(&joined), ids(&here)),
            (vec!["far/bridge-1".into(), "near-1".into()], vec!["near-1".into()])
        );
        assert_eq!(here.status().len(), 1);
        assert_eq!(here.machine_list(None).await.machines, []);
        let far_id = id("far/bridge-1");
        assert_eq!(soon(here.look_up(&typed("far/bridge-1"))).await, Err(Refusal::NotFound));
        assert_eq!(soon(here.look_up(&typed("bridge"))).await, Err(Refusal::NotFound));
        let refused = soon(here.submit(&far_id, answer(), Provenance::bridge())).await;
        assert_eq!(refused, Err(Refusal::NotFound), "another machine is not answered through this one");

        // What changes is seen in both, whichever of them was asked.
        let first = id("near-1");
        let (done, ()) = tokio::join!(soon(here.submit(&first, answer(), Provenance::bridge())), near.obey());
        assert_eq!(done.unwrap().state, State::Settled);
        assert_eq!((ids(&joined), ids(&here)), (vec!["far/bridge-1".to_owned()], vec![]));
        let follow = joined.clone();
        let following = tokio::spawn(async move { follow.follow().await });
        near.open("b").await;
        assert!(wait_until(here.store(), limits::WAIT, |now| now.get(&id("near-2")).is_some()).await);
        assert!(wait_until(joined.store(), limits::WAIT, |now| now.get(&id("near-2")).is_some()).await);
        assert_eq!(ids(&here), ["near-2"]);
        following.abort();
    }
}
