//! The settings service: changes the timeout of a bridge when the settings change. It reads the files when a question
//! opens, on the inbox's thread, so that the thread that forwards waits for no file system (I7).
//!
//! A question opens before this service reads the files. So the service also reports when the change was made, and the
//! bridge applies the new timeout to questions that opened since; older questions keep their timeout. The services of
//! rules, notifiers and unattended questions read their settings themselves.

use std::{
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use askbridge_control::{
    inbox::{BridgeInbox, Inbox, openings::Openings},
    rpc::host::{Service, Starts},
};
use askbridge_core::desk::Asker;
use askbridge_settings::{
    files::{Live, Versions},
    keys,
};
use futures::future::BoxFuture;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::context::{Context, Renewal};

/// Follows the timeout in the settings of one bridge.
#[derive(Debug)]
pub struct SettingsService {
    live: Arc<Live>,
    /// The versions of the files at the last look. At first there are none, so the first look reads the files: they may
    /// have changed since the bridge read them.
    versions: Versions,
    /// The time of the last look.
    looked_at: Instant,
    timeout: Option<Duration>,
    timeouts: mpsc::Sender<(Option<Duration>, Instant)>,
}

impl SettingsService {
    /// Returns the service of a bridge whose timeout the settings may change.
    pub(super) fn of(context: &Context) -> Option<Box<dyn Service>> {
        let bridge = context.bridge.as_ref()?;
        let Renewal { timeout, timeouts } = bridge.renewal.clone()?;
        let (live, looked_at) = (Arc::clone(&bridge.live), Instant::now());
        Some(Box::new(SettingsService { live, versions: Versions::default(), looked_at, timeout, timeouts }))
    }

    async fn follow(mut self, inbox: BridgeInbox) {
        let mut openings = Openings::of(inbox.store());
        while let Some(opened) = openings.next().await {
            // The timeout of the settings is only for questions of the agent.
            if opened.iter().any(|record| record.id.asker == Asker::Agent) {
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
        // Every question leads to a look, so questions from before the last look opened before the change, whatever the
        // file's time says.
        let set_at = changed_at.map_or(before, |changed| changed.max(before));
        tracing::debug!(?timeout, "the timeout has changed");
        // If the bridge has ended, no further question opens: ignore the send error.
        self.timeouts.send((timeout, set_at)).await.unwrap_or_default();
    }
}

/// Converts a time to the monotonic clock. `None` if that is not possible.
fn instant(now: Instant, happened: SystemTime) -> Option<Instant> {
    now.checked_sub(SystemTime::now().duration_since(happened).ok()?)
}

impl Service for SettingsService {
    fn name(&self) -> &'static str {
        "settings"
    }

    fn starts(&self) -> Starts {
        let live = Arc::clone(&self.live);
        Starts::WithQuestion(Arc::new(move || live.has_changed()))
    }

    fn run(self: Box<Self>, inbox: BridgeInbox, stop: CancellationToken) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            stop.run_until_cancelled(self.follow(inbox)).await;
        })
    }
}
