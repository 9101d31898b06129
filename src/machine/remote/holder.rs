//! The holder of the connection to one machine: it connects, notices when the connection ends or the other side is
//! frozen, connects again, and offers the questions of the machine as an inbox.
//!
//! The questions stay open while the machine is not connected: its bridges go on there, and a snapshot follows each new
//! connection. An answer whose verdict was lost with a connection is sent again over the next one: the bridge accepts the
//! same answer twice, and refuses another.

use std::{
    collections::BTreeSet, convert::Infallible, future::pending, path::Path, sync::Arc, time::SystemTime,
};

use askbridge_core::{
    desk::{IdPrefix, LostQuestion, MachineName, QuestionId, Record, Refusal, Settlement, Submission},
    question::{Provenance, Question},
};
use tokio::{
    sync::{Notify, watch},
    time::{Instant, sleep, sleep_until, timeout, timeout_at},
};

use super::{
    attempt::{Dialed, dial, own},
    failure::{repeated, why_not},
    route::{Route, Running},
};
use crate::{
    inbox::{
        HistoryFilter, Inbox, PastQuestion,
        report::MachineReport,
        status::{BridgeStatus, PROTOCOL},
        store::{Follower, Store},
    },
    limits::{self, machine as limit},
    machine::{
        Machine, Reach,
        handshake::{BridgeConnection, Feed, TimedStatus},
        link::LinkState,
        name::LinkName,
    },
    rpc::client::{CallError, Client},
};

/// Why a connection is ended that is open and does not reply.
const FROZEN: &str = "it is frozen, or the network is: it does not reply";

/// The connection to one machine, and its questions. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Holder {
    pub(super) shared: Arc<SharedHolder>,
}

#[derive(Debug)]
pub(super) struct SharedHolder {
    name: MachineName,
    /// What is known of the machine: one link, to all of its bridges.
    pub(super) machine: Machine,
    pub(super) report: watch::Sender<MachineReport>,
    /// A person waits: the next try is to begin now.
    is_wanted: Notify,
    /// The connection does not reply to a person who waits: it is to end now.
    pub(super) is_silent: Notify,
}

/// A connection that has just begun.
struct Begun {
    running: Running,
    client: Arc<Client>,
}

impl Holder {
    /// Returns a holder that is not connected yet.
    pub fn new(name: MachineName) -> Self {
        let report = MachineReport { protocol: PROTOCOL, ..MachineReport::default() };
        let shared = SharedHolder {
            name,
            machine: Machine::new(Reach::default(), None),
            report: watch::Sender::new(report),
            is_wanted: Notify::new(),
            is_silent: Notify::new(),
        };
        Holder { shared: Arc::new(shared) }
    }

    /// Keeps the machine connected until the future is dropped. If `is_told` returns true, this process tells its person
    /// of questions, so that the machine need not.
    pub async fn hold(&self, route: &Route, is_told: impl Fn() -> bool) {
        let mut back_off = limit::BACK_OFF;
        // From now on, since nothing is known before the first connection.
        let mut known_until = Instant::now() + limit::KEPT;
        loop {
            self.change(|report| report.retry_at = None);
            let why = match self.begin(route).await {
                Ok(begun) => {
                    back_off = limit::BACK_OFF;
                    let why = self.keep(begun, &is_told).await;
                    known_until = Instant::now() + limit::KEPT;
                    why
                }
                Err(why) => why,
            };
            tracing::info!(machine = %self.shared.name, why, "the machine is not connected");
            self.change(|report| {
                report.problem = Some(why);
                report.connected_at = None;
                report.retry_at =
                    Some(SystemTime::now().checked_add(back_off).unwrap_or_else(SystemTime::now).into());
            });
            self.rest(back_off, known_until).await;
            back_off = limit::BACK_OFF_MOST.min(2 * back_off);
        }
    }

    /// Waits before the next try, unless a person waits for it.
    async fn rest(&self, back_off: std::time::Duration, known_until: Instant) {
        let until = Instant::now() + back_off;
        let hurried = async {
            self.shared.is_wanted.notified().await;
            // However often it is wanted, a host is not tried all the time.
            sleep_until(until.min(Instant::now() + limit::BACK_OFF / 4)).await;
        };
        let rest = async {
            tokio::select! {
                () = sleep_until(until) => {}
                () = hurried => {}
            }
        };
        tokio::pin!(rest);
        tokio::select! {
            () = &mut rest => {}
            () = sleep_until(known_until), if known_until <= until => {
                self.shared.machine.connections().lose(&LinkName::Dialed);
                rest.await;
            }
        }
    }

    /// Connects, and takes over the first snapshot. The error says why not.
    async fn begin(&self, route: &Route) -> Result<Begun, String> {
        let Dialed { running, client, version } = dial(&self.shared.name, route, limit::GREETING).await?;
        let followed = async {
            let followed = BridgeConnection::follow(client, None).await;
            let (mut connection, feed) = followed.map_err(|error| Some(error.to_string()))?;
            connection.greeted = TimedStatus::now(own(connection.greeted.statuses()));
            let client = Arc::clone(&connection.client);
            match self.take_over(connection, feed).await {
                true => Ok(client),
                false if client.is_connected() => {
                    Err(Some("what it says of its questions breaks a limit".to_owned()))
                }
                false => Err(None),
            }
        };
        match timeout(limit::REPLY, followed).await {
            Ok(Ok(client)) => {
                self.change(|report| {
                    report.version = Some(version);
                    report.connected_at = Some(SystemTime::now().into());
                    report.problem = None;
                    self.count_hidden(report);
                });
                Ok(Begun { running, client })
            }
            Ok(Err(Some(why))) => Err(repeated(&why)),
            // What its command says on stderr tells more.
            Ok(Err(None)) => Err(why_not(self.shared.name.as_str(), &running.end().await)),
            Err(_) => Err(FROZEN.to_owned()),
        }
    }

    async fn take_over(&self, connection: Box<BridgeConnection>, feed: Box<Feed>) -> bool {
        self.shared.machine.connections().begin(&LinkName::Dialed, Path::new(""), connection, feed).await
    }

    /// Follows the machine until its connection ends or does not reply any more. Returns why.
    async fn keep(&self, begun: Begun, is_told: impl Fn() -> bool) -> String {
        let Begun { running, client } = begun;
        let connections = self.shared.machine.connections();
        let why = tokio::select! {
            () = connections.keep_up(&LinkName::Dialed, Path::new("")) => None,
            never = self.report_hidden() => match never {},
            () = self.beat(&client, is_told) => Some(FROZEN.to_owned()),
            () = self.shared.is_silent.notified() => Some("it did not reply while an answer waited".to_owned()),
        };
        connections.disconnect(&LinkName::Dialed);
        match why {
            Some(why) => {
                drop(running);
                why
            }
            None => match running.end().await {
                ended if ended.said.is_empty() => "the connection ended".to_owned(),
                ended => why_not(self.shared.name.as_str(), &ended),
            },
        }
    }

    /// Reports how many questions are not listed, each time that this may have changed.
    async fn report_hidden(&self) -> Infallible {
        let mut gaps = self.shared.machine.gaps();
        while gaps.changed().await.is_ok() {
            self.change(|report| self.count_hidden(report));
        }
        pending().await
    }

    fn count_hidden(&self, report: &mut MachineReport) {
        let gaps = self.shared.machine.gaps();
        let gaps = gaps.borrow();
        (report.unreadable, report.left_out) = (gaps.unreadable, gaps.left_out);
    }

    /// Shows that the connection lives, and reads which bridges there are. Returns once there is no reply.
    async fn beat(&self, client: &Client, is_told: impl Fn() -> bool) {
        let mut follower = self.store().follow();
        loop {
            let call = async {
                if is_told() {
                    // So the machine does not tell of its questions as well. A read-only connection refuses it, and an
                    // older version does not know it.
                    drop(client.watch().await);
                }
                client.statuses().await
            };
            match timeout(limit::REPLY, call).await {
                Ok(Ok(statuses)) => self.know(statuses),
                Ok(Err(CallError::Refused(_))) => {}
                Ok(Err(CallError::Gone)) | Err(_) => return,
            }
            // A new bridge has to hear soon that this machine tells of its questions.
            tokio::select! {
                () = sleep(limit::HEARTBEAT) => {}
                () = self.new_bridge(&mut follower) => {}
            }
        }
    }

    /// Waits until a question opens in a bridge whose status is not known.
    async fn new_bridge(&self, follower: &mut Follower) {
        while follower.next().await.is_some() {
            let known: BTreeSet<_> = self.status().into_iter().map(|status| status.bridge).collect();
            if self.store().read(|_, now| now.open_ids().any(|id| !known.contains(&id.bridge))) {
                return;
            }
        }
        pending().await
    }

    /// Takes over which bridges the machine has.
    fn know(&self, statuses: Vec<BridgeStatus>) {
        let statuses = own(statuses);
        let connections = self.shared.machine.connections();
        let names = |statuses: &[BridgeStatus]| -> Vec<_> {
            statuses.iter().map(|status| (status.bridge.clone(), status.peers.clone())).collect()
        };
        let before = connections.change(&LinkName::Dialed, Path::new(""), |link| match &mut link.peer {
            LinkState::Connected(connection, _) => {
                let before = connection.greeted.statuses();
                let is_other = names(&before) != names(&statuses);
                connection.greeted = TimedStatus::now(statuses);
                is_other
            }
            _ => false,
        });
        if before {
            // Those who follow read them again.
            self.change(|_| ());
        }
    }

    fn change(&self, change: impl FnOnce(&mut MachineReport)) {
        self.shared.report.send_modify(|report| {
            change(report);
            report.revision += 1;
        });
    }

    /// Waits until the first try to connect has come to an end.
    pub async fn tried(&self) {
        // It fails without a sender only, and the holder has one.
        drop(self.shared.report.subscribe().wait_for(|report| !report.is_new()).await);
    }

    /// Returns the connection, and waits for one for at most this long.
    pub(super) async fn client(&self, patience: std::time::Duration) -> Option<Arc<Client>> {
        let until = Instant::now() + patience;
        let mut reports = self.shared.report.subscribe();
        loop {
            // Before the look, so that no change is missed.
            reports.mark_unchanged();
            if let Some(client) = self.shared.machine.connections().client(&LinkName::Dialed) {
                return Some(client);
            }
            self.shared.is_wanted.notify_one();
            timeout_at(until, reports.changed()).await.ok()?.ok()?;
        }
    }

    pub(super) fn problem(&self) -> String {
        let report = self.shared.report.borrow();
        let why = report.problem.clone().unwrap_or_else(|| "it is being connected to".to_owned());
        format!("{}: {why}", self.shared.name)
    }
}

impl Inbox for Holder {
    fn store(&self) -> &Store {
        self.shared.machine.store()
    }

    async fn submit(
        &self,
        id: &QuestionId,
        submission: Submission,
        by: Provenance,
    ) -> Result<Arc<Record>, Refusal> {
        self.submit_until_known(id, submission, by).await
    }

    async fn ask(&self, _: Question) -> Result<Settlement, Refusal> {
        Err(Refusal::Unavailable)
    }

    fn status(&self) -> Vec<BridgeStatus> {
        self.shared.machine.status()
    }

    async fn report(&self, known: Option<u64>) -> MachineReport {
        let mut reports = self.shared.report.subscribe();
        let changed = reports.wait_for(|report| known != Some(report.revision)).await;
        changed.map(|report| report.clone()).unwrap_or_default()
    }

    fn find(&self, typed: &IdPrefix) -> Result<Arc<Record>, Refusal> {
        let found = self.store().read(|_, snapshot| snapshot.find(typed).cloned());
        match found {
            Err(Refusal::NotFound) if self.shared.report.borrow().connected_at.is_none() => {
                Err(Refusal::Unreached(self.problem()))
            }
            found => found,
        }
    }

    async fn look_up(&self, typed: &IdPrefix) -> Result<Arc<Record>, Refusal> {
        let found = self.find(typed);
        match (&found, self.shared.machine.connections().client(&LinkName::Dialed)) {
            (Err(Refusal::NotFound | Refusal::Unavailable), Some(client)) => {
                let asked = timeout(limits::HANDSHAKE_TIMEOUT, client.get(typed)).await;
                let record = asked.unwrap_or(Err(CallError::Gone))?.value;
                let record =
                    record.filter(|record| typed.matches(&record.id) && LinkName::Dialed.owns(record));
                record.map(Arc::new).ok_or(Refusal::Unavailable)
            }
            _ => found,
        }
    }

    async fn settled(&self, limit: usize) -> Vec<Arc<Record>> {
        self.shared.machine.settled(limit).await
    }

    async fn lost(&self) -> Vec<LostQuestion> {
        let Some(client) = self.client(limit::CONNECT).await else { return Vec::new() };
        let lost = timeout(limits::PATIENCE, client.lost()).await;
        let mut lost = lost.ok().and_then(Result::ok).unwrap_or_default();
        lost.retain(|lost| LinkName::Dialed.owns(&lost.record));
        lost
    }

    async fn past(&self, filter: HistoryFilter) -> Vec<PastQuestion> {
        let Some(client) = self.client(limit::CONNECT).await else { return Vec::new() };
        let params = filter.into();
        let past = timeout(limits::PATIENCE, client.past(&params)).await;
        let mut past = past.ok().and_then(Result::ok).unwrap_or_default();
        past.retain(|past| LinkName::Dialed.owns(&past.record));
        past
    }

    async fn watch(&self) {
        self.shared.machine.watch().await;
    }
}
