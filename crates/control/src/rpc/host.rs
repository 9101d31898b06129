//! The thread that serves a bridge's inbox, so that responders never disturb the thread that forwards. It starts with
//! the first connection, or when a service needs it. Until then a bridge pays only for a socket.

use std::{
    convert::Infallible,
    fmt,
    future::pending,
    io,
    os::unix::net::{UnixListener, UnixStream},
    sync::Arc,
    thread,
};

use futures::future::{BoxFuture, join_all};
use tokio::{sync::oneshot, time::sleep};
use tokio_util::sync::CancellationToken;

use super::socket;
use crate::{
    inbox::{BridgeInbox, Work},
    limits,
};

/// A task beside the socket of an inbox, such as an HTTP server. It learns of changes from the inbox's store.
pub trait Service: Send {
    /// Returns the name, for logs.
    fn name(&self) -> &'static str;

    /// Returns when the service needs the inbox's thread. The default starts no thread.
    fn starts(&self) -> Starts {
        Starts::WithThread
    }

    /// Runs until `stop` is cancelled.
    fn run(self: Box<Self>, inbox: BridgeInbox, stop: CancellationToken) -> BoxFuture<'static, ()>;
}

/// Returns whether a service needs the questions of the bridge now. It may read files, so it is called on a separate
/// thread.
pub type NeedsQuestions = Arc<dyn Fn() -> bool + Send + Sync>;

/// When a service needs the thread of its inbox.
pub enum Starts {
    /// Once there is a thread, which a connection or another service starts.
    WithThread,
    /// As soon as a question opens and this returns true.
    WithQuestion(NeedsQuestions),
    /// With the host.
    AtOnce,
}

/// An inbox's socket, and the thread that serves the socket and the services. Dropping the host ends both. The drop
/// waits for the last replies and for the ledger, and for no longer than [`limits::SERVICE_STOP`]. The asker has to end
/// before, since a store ends with its port.
///
/// `S` owns the socket's file, and is dropped last: a reader that does not find the socket relies on the ledger.
pub struct Host<S> {
    inbox: BridgeInbox,
    /// The services, until the thread runs them.
    services: Vec<Box<dyn Service>>,
    /// What the thread will need, until it starts.
    idle: Option<(UnixListener, Work)>,
    thread: Option<Thread>,
    _socket: S,
}

#[derive(Debug)]
struct Thread {
    stop: CancellationToken,
    handle: thread::JoinHandle<()>,
    /// Keeps the socket open until the ledger is written: a reader must not take the bridge for one that was killed.
    listener: UnixListener,
}

impl<S: fmt::Debug> fmt::Debug for Host<S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let services: Vec<_> = self.services.iter().map(|service| service.name()).collect();
        formatter
            .debug_struct("Host")
            .field("inbox", &self.inbox)
            .field("services", &services)
            .finish_non_exhaustive()
    }
}

impl<S> Host<S> {
    /// Makes a host without services. The socket listens already: connections wait until they are served.
    pub fn new(inbox: BridgeInbox, work: Work, listener: UnixListener, socket: S) -> Self {
        Host { inbox, services: Vec::new(), idle: Some((listener, work)), thread: None, _socket: socket }
    }

    /// Adds services. They run once the thread has started. A bridge without visitors and notifiers never starts one,
    /// since a thread costs memory.
    #[must_use]
    pub fn with(mut self, services: Vec<Box<dyn Service>>) -> Self {
        self.services.extend(services);
        self
    }

    /// Starts the thread, if a service wants it at once.
    pub fn start_if_needed(&mut self) -> io::Result<()> {
        if self.services.iter().any(|service| matches!(service.starts(), Starts::AtOnce)) {
            self.start()?;
        }
        Ok(())
    }

    /// Starts the thread, which serves the socket and the services from now on.
    pub fn start(&mut self) -> io::Result<()> {
        match self.idle.take() {
            Some((listener, work)) => self.spawn(listener, None, work),
            None => Ok(()),
        }
    }

    /// Waits for the first connection, or for a question that a service needs, and serves the inbox from then on. If
    /// the future is dropped before, the inbox is not served.
    pub async fn serve_visitors(&mut self) -> io::Result<Infallible> {
        let first = self.first_visitor().await?;
        if let Some((listener, work)) = self.idle.take() {
            self.spawn(listener, first, work)?;
        }
        pending().await
    }

    /// Waits until there is something to serve: a connection, which is returned, or a question that a service needs.
    async fn first_visitor(&mut self) -> io::Result<Option<UnixStream>> {
        // Both stay in `idle`, so that `keep_the_last` can still use them if the bridge ends now.
        let Some((listener, work)) = &self.idle else { return pending().await };
        let listener = tokio::net::UnixListener::from_std(listener.try_clone()?)?;
        tokio::select! {
            // If `accept` fails, the thread tries again. The stream is converted, as the thread has another runtime.
            first = listener.accept() => first.ok().map(|(first, _)| first.into_std()).transpose(),
            () = questions_needed(work, self.needs_questions()) => Ok(None),
        }
    }

    fn needs_questions(&self) -> Vec<NeedsQuestions> {
        let starts = self.services.iter().map(|service| service.starts());
        starts
            .filter_map(|starts| if let Starts::WithQuestion(needs) = starts { Some(needs) } else { None })
            .collect()
    }

    fn spawn(&mut self, listener: UnixListener, first: Option<UnixStream>, work: Work) -> io::Result<()> {
        let services = std::mem::take(&mut self.services);
        let stop = CancellationToken::new();
        let kept_open = listener.try_clone()?;
        let inbox = self.inbox.clone();
        let stopped = stop.clone();
        let serve = move || run(listener, first, inbox, work, services, stopped);
        let handle = thread::Builder::new().name("inbox".to_owned()).spawn(serve)?;
        self.thread = Some(Thread { stop, handle, listener: kept_open });
        Ok(())
    }
}

impl<S> Host<S> {
    /// Starts the thread of a bridge that ends without one, if its ledger still has to get entries.
    fn keep_the_last(&mut self) {
        let Some(has_entries) = self.inbox.ledger().map(|ledger| ledger.has_entries()) else { return };
        if let Some((listener, work)) = self.idle.take_if(|(_, work)| has_entries || work.has_news())
            && let Err(error) = self.spawn(listener, None, work)
        {
            tracing::warn!(%error, "the last entries may be missing in the journal");
        }
    }
}

impl<S> Drop for Host<S> {
    fn drop(&mut self) {
        self.keep_the_last();
        if let Some(Thread { stop, handle, listener }) = self.thread.take() {
            self.inbox.stop();
            stop.cancel();
            // If the thread panicked, there is nothing more to do.
            drop(handle.join());
            drop(listener);
        }
    }
}

/// Waits until a question opens that a service needs. It asks the services at most once in [`limits::NOTIFY_SETTINGS`].
async fn questions_needed(work: &Work, services: Vec<NeedsQuestions>) {
    if services.is_empty() {
        return pending().await;
    }
    loop {
        work.opened().await;
        let (said, hears) = oneshot::channel();
        let services = services.clone();
        // The services are asked on a separate thread, since the thread that forwards runs this, and must not wait for
        // a file system (I7).
        let look = move || said.send(services.iter().any(|needs| needs())).unwrap_or_default();
        match thread::Builder::new().name("settings".to_owned()).spawn(look) {
            Ok(_) if hears.await == Ok(true) => return,
            Ok(_) => tracing::debug!("no service needs the questions yet"),
            Err(error) => tracing::debug!(%error, "settings are looked at with the next question"),
        }
        // A question that opens during the pause is not missed: `opened` then returns at once.
        sleep(limits::NOTIFY_SETTINGS).await;
    }
}

/// Runs a service until it ends, or until [`limits::SERVICE_STOP`] after it was told to stop.
async fn run_service(service: Box<dyn Service>, inbox: BridgeInbox, stop: CancellationToken) {
    let name = service.name();
    tracing::debug!(service = name, "a service starts");
    let running = service.run(inbox, stop.clone());
    let late = async {
        stop.cancelled().await;
        sleep(limits::SERVICE_STOP).await;
    };
    tokio::select! {
        () = running => {}
        () = late => tracing::warn!(service = name, "the service did not stop in time"),
    }
}

fn run(
    listener: UnixListener,
    first: Option<UnixStream>,
    inbox: BridgeInbox,
    work: Work,
    services: Vec<Box<dyn Service>>,
    stop: CancellationToken,
) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let served = runtime.and_then(|runtime| {
        runtime.block_on(async {
            let working = tokio::spawn(work.run());
            let services = services
                .into_iter()
                .map(|service| tokio::spawn(run_service(service, inbox.clone(), stop.clone())));
            // The services are joined, so that all of them stop at the same time and the bridge waits only for the
            // slowest.
            let (served, _) =
                tokio::join!(socket::serve(listener, first, inbox.clone(), stop.clone()), join_all(services));
            // The work of a desk in this process never ends by itself.
            working.abort();
            served
        })
    });
    if let Err(error) = served {
        tracing::warn!(%error, "the inbox is no longer served");
    }
}

#[cfg(test)]
mod tests {
    use std::{
        pin::pin,
        sync::atomic::{AtomicBool, Ordering},
    };

    use futures::FutureExt;
    use tokio::{sync::mpsc, time::Instant};

    use super::*;
    use crate::{
        limits,
        rpc::played::{played, soon},
    };

    struct Hanging;

    impl Service for Hanging {
        fn name(&self) -> &'static str {
            "hanging"
        }

        fn run(self: Box<Self>, _: BridgeInbox, _: CancellationToken) -> BoxFuture<'static, ()> {
            Box::pin(pending())
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_service_that_does_not_stop_is_ended() {
        let (inbox, _port, _work) = played("b");
        let stop = CancellationToken::new();
        stop.cancel();
        let started = Instant::now();
        run_service(Box::new(Hanging), inbox, stop).await;
        assert_eq!(started.elapsed(), limits::SERVICE_STOP);
    }

    #[tokio::test]
    async fn question_is_followed_once_a_service_needs_it() {
        let (_inbox, port, work) = played("b");
        let is_needed = Arc::new(AtomicBool::new(false));
        let (calls, mut called) = mpsc::channel(2);
        let answer = Arc::clone(&is_needed);
        let needs_questions: NeedsQuestions = Arc::new(move || {
            let is_needed = answer.load(Ordering::SeqCst);
            calls.try_send(thread::current().id()).expect("few calls");
            is_needed
        });
        let mut needed = pin!(questions_needed(&work, vec![needs_questions]));
        assert!(needed.as_mut().now_or_never().is_none());
        assert!(called.is_empty(), "no question has opened");
        port.opened();
        let looked = async {
            tokio::select! {
                () = &mut needed => panic!("no service needs it"),
                thread = called.recv() => thread,
            }
        };
        assert_ne!(
            soon(looked).await,
            Some(thread::current().id()),
            "the thread that forwards reads no files"
        );
        is_needed.store(true, Ordering::SeqCst);
        port.opened();
        soon(needed).await;
    }
}
