//! The settings service: gives a bridge another timeout when the settings change. It reads the files when a question
//! opens, on the inbox's thread, so that the thread that forwards waits for no file system (I7).
//!
//! A question opens before this service reads the files. So the service also says when the change was made, and the
//! bridge gives the new timeout to questions that opened since; one that was open before keeps its own. The services of
//! rules, notifiers and unattended questions read their own settings again.

use std::{
    future::Future,
    pin::Pin,
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use askbridge_core::desk::Asker;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::{
    inbox::{BridgeInbox, Inbox},
    rpc::host::Service,
    settings::{
        files::{Live, Versions},
        keys,
    },
};

/// Looks at the settings for one bridge.
#[derive(Debug)]
pub struct SettingsService {
    live: Arc<Live>,
    /// Which texts the files had at the last look. The first look reads them in any case: they may have changed since the
    /// bridge read them.
    versions: Versions,
    /// When the files were looked at last.
    looked_at: Instant,
    timeout: Option<Duration>,
    timeouts: mpsc::Sender<(Option<Duration>, Instant)>,
    /// The last question of the agent for which they were looked at.
    last: u64,
}

impl SettingsService {
    /// Makes the service of a bridge that started with this timeout.
    pub fn new(
        live: Arc<Live>,
        timeout: Option<Duration>,
        timeouts: mpsc::Sender<(Option<Duration>, Instant)>,
    ) -> Self {
        let (versions, looked_at) = (Versions::default(), Instant::now());
        SettingsService { live, versions, looked_at, timeout, timeouts, last: 0 }
    }

    async fn follow(mut self, inbox: BridgeInbox) {
        let mut follower = inbox.store().follow();
        while follower.next().await.is_some() {
            let open = inbox.store().read(|_, snapshot| snapshot.open());
            let of_agent = open.iter().filter(|record| record.id.asker == Asker::Agent);
            let newest = of_agent.map(|record| record.id.number).max().unwrap_or_default();
            if newest > self.last {
                self.last = newest;
                self.look().await;
            }
        }
    }

    async fn look(&mut self) {
        let (before, looking) = (self.looked_at, Instant::now());
        self.looked_at = looking;
        let versions = self.live.versions();
        let changed_at = versions.changed_at(&self.versions).and_then(|changed| instant(looking, changed));
        if std::mem::replace(&mut self.versions, versions) == versions {
            return;
        }
        let timeout = self.live.settings().get(&keys::BRIDGE_TIMEOUT).0;
        if std::mem::replace(&mut self.timeout, timeout) == timeout {
            return;
        }
        // Each question leads to a look: what opened before the last one opened before the change.
        let set_at = changed_at.map_or(before, |changed| changed.max(before));
        tracing::debug!(?timeout, "the timeout has changed");
        // Where the bridge has ended, no question opens any more.
        self.timeouts.send((timeout, set_at)).await.unwrap_or_default();
    }
}

/// Returns when something happened, on a clock that no person sets. `None` where that cannot be said.
fn instant(now: Instant, happened: SystemTime) -> Option<Instant> {
    now.checked_sub(SystemTime::now().duration_since(happened).ok()?)
}

impl Service for SettingsService {
    fn name(&self) -> &'static str {
        "settings"
    }

    fn run(
        self: Box<Self>,
        inbox: BridgeInbox,
        stop: CancellationToken,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            tokio::select! {
                () = self.follow(inbox) => {}
                () = stop.cancelled() => {}
            }
        })
    }
}
