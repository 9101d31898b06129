//! The inbox of questions that no connection holds, on a socket of its own. One process of a user has it at a time: the
//! journal has one set of such questions.

use std::{fs::DirBuilder, io, mem, os::unix::fs::DirBuilderExt, sync::Arc};

#[cfg(not(feature = "notify"))]
use askbridge_control::inbox::NoCallbacks;

use askbridge_control::{
    inbox::{CallbackSender, KeptCallback, KeptQuestions, Ledger, StandingInbox},
    join::discovery::{self, Socket},
    rpc::host::{Host, Service},
};
use askbridge_os::lock::{Lock, LockFile};
use askbridge_settings::Settings;
use tokio::time::{Instant, sleep};

#[cfg(feature = "notify")]
use super::callbacks::{CallbackQueue, CallbackService};
use super::{Context, services};
use crate::limits;

/// The file beside the journal that the process with this inbox locks.
const LOCK: &str = "standing.lock";

/// The inbox, and the host that serves it on a socket. Dropping the value ends both; the questions stay in the journal.
pub struct StandingHost {
    /// The inbox.
    pub standing: StandingInbox,
    host: Host<Socket>,
    _lock: Lock,
}

impl StandingHost {
    /// Opens the questions again that an earlier process kept, and listens on a socket. `agent` is the name that lists show
    /// for the inbox.
    ///
    /// # Errors
    /// Why this process keeps no questions.
    pub async fn open(
        agent: &str,
        settings: &Settings,
        ledger: Option<Arc<dyn Ledger>>,
    ) -> Result<Self, String> {
        let ledger = ledger.ok_or("there is no journal (`journal.enabled`)")?;
        if settings.journal().is_some_and(|journal| !journal.texts) {
            return Err("the settings let the journal keep no texts (`journal.texts`)".to_owned());
        }
        let lock = lock().map_err(|error| format!("{LOCK}: {error}"))?;
        let lock = lock.ok_or("another askbridge inbox of this user keeps them now")?;
        let mut kept = resumed(&*ledger).await?;
        let (callbacks, sending) = callbacks(&ledger, mem::take(&mut kept.callbacks));
        let guarding = settings.guarding();
        let (standing, host) =
            discovery::bind_standing(agent.to_owned(), kept, Arc::clone(&ledger), callbacks, guarding)
                .await
                .map_err(|error| error.to_string())?;
        let host = host.with(services(&Context::new(Some(ledger)))).with(sending);
        Ok(StandingHost { standing, host, _lock: lock })
    }

    /// Serves the inbox from now on, and times the questions in it.
    ///
    /// # Errors
    /// The thread of the inbox cannot be started.
    pub fn start(&mut self) -> io::Result<()> {
        self.host.start()
    }
}

/// Returns what sends outcomes to callbacks, and the service that does.
#[cfg(feature = "notify")]
fn callbacks(
    ledger: &Arc<dyn Ledger>,
    kept: Vec<KeptCallback>,
) -> (Arc<dyn CallbackSender>, Vec<Box<dyn Service>>) {
    let queue = Arc::new(CallbackQueue::new(Arc::clone(ledger), kept));
    (Arc::clone(&queue) as Arc<dyn CallbackSender>, vec![Box::new(CallbackService(queue))])
}

#[cfg(not(feature = "notify"))]
fn callbacks(_: &Arc<dyn Ledger>, _: Vec<KeptCallback>) -> (Arc<dyn CallbackSender>, Vec<Box<dyn Service>>) {
    (Arc::new(NoCallbacks), Vec::new())
}

/// Reads what an earlier process kept. A journal that is busy, such as one that another version is about to convert, is
/// waited for.
async fn resumed(ledger: &dyn Ledger) -> Result<KeptQuestions, String> {
    let until = Instant::now() + limits::RESUME;
    loop {
        match ledger.resume(&discovery::bridge_name()).await {
            Err(_) if Instant::now() < until => sleep(limits::RESUME_BACK_OFF).await,
            resumed => return resumed,
        }
    }
}

/// Takes the lock. `None` if another process has it.
fn lock() -> io::Result<Option<Lock>> {
    let journal = discovery::journal_file().ok_or(io::ErrorKind::NotFound)?;
    let path = journal.with_file_name(LOCK);
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    Ok(LockFile::open(&path)?.try_take()?.ok())
}
