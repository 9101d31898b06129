//! The thread on which a bridge's inbox is served: whoever asks there, and however often, the bridge's own thread is
//! left alone. It starts with the first visitor: until then a bridge pays for a socket only.

use std::{
    convert::Infallible,
    future::pending,
    io,
    os::unix::net::{UnixListener, UnixStream},
    thread,
};

use tokio::sync::oneshot;

use super::{
    discovery::{self, DiscoveryError, Socket},
    handle::Inbox,
    socket,
};

/// An inbox's socket, and the thread that serves it, until this is dropped.
#[derive(Debug)]
pub struct Host {
    inbox: Inbox,
    /// Until there is a thread.
    listener: Option<UnixListener>,
    thread: Option<Thread>,
    _socket: Socket,
}

#[derive(Debug)]
struct Thread {
    stop: oneshot::Sender<()>,
    handle: thread::JoinHandle<()>,
}

impl Host {
    /// Listens on a socket of this bridge's name. When this returns, others can connect: they wait until they are
    /// served.
    pub fn bind(inbox: Inbox) -> Result<Self, DiscoveryError> {
        let (socket, listener) = Socket::bind(&discovery::folder()?, inbox.bridge())?;
        Ok(Host { inbox, listener: Some(listener), thread: None, _socket: socket })
    }

    /// The name under which others find this bridge.
    pub fn name(&self) -> &str {
        self.inbox.bridge()
    }

    /// Serves the inbox from now on, and `beside` its socket in another way, which ends when it is told to.
    pub fn serve(
        &mut self,
        beside: impl AsyncFnOnce(Inbox, oneshot::Receiver<()>) + Send + 'static,
    ) -> io::Result<()> {
        match self.listener.take() {
            Some(listener) => self.start(listener, None, beside),
            None => Ok(()),
        }
    }

    /// Waits for the first visitor, and serves the inbox from then on. Who waits no longer has no visitors.
    pub async fn serve_visitors(&mut self) -> io::Result<Infallible> {
        if let Some(listener) = self.listener.take() {
            let listener = tokio::net::UnixListener::from_std(listener)?;
            // What fails now, the thread tries again. It has a runtime of its own.
            let first = listener.accept().await.ok().map(|(first, _)| first.into_std()).transpose()?;
            self.start(listener.into_std()?, first, async |_, _| ())?;
        }
        pending().await
    }

    fn start(
        &mut self,
        listener: UnixListener,
        first: Option<UnixStream>,
        beside: impl AsyncFnOnce(Inbox, oneshot::Receiver<()>) + Send + 'static,
    ) -> io::Result<()> {
        let (stop, stopped) = oneshot::channel();
        let inbox = self.inbox.clone();
        let serve = move || serve(listener, first, inbox, stopped, beside);
        let handle = thread::Builder::new().name("inbox".to_owned()).spawn(serve)?;
        self.thread = Some(Thread { stop, handle });
        Ok(())
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        if let Some(Thread { stop, handle }) = self.thread.take() {
            // It may have ended before; and if it panicked, there would be nothing more to do.
            stop.send(()).unwrap_or_default();
            drop(handle.join());
        }
    }
}

fn serve(
    listener: UnixListener,
    first: Option<UnixStream>,
    inbox: Inbox,
    stopped: oneshot::Receiver<()>,
    beside: impl AsyncFnOnce(Inbox, oneshot::Receiver<()>),
) {
    yield_to_the_bridge();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let served = runtime.and_then(|runtime| {
        runtime.block_on(async {
            let (end, ended) = oneshot::channel();
            // A listener needs the runtime that it is made in.
            let socket = socket::serve(listener, first, inbox.clone(), stopped);
            let socket = async {
                let served = socket.await;
                drop(end);
                served
            };
            tokio::join!(socket, beside(inbox, ended)).0
        })
    });
    if let Err(error) = served {
        tracing::warn!(%error, "the inbox is not served any more");
    }
}

/// Where there is one CPU for both, the bridge's own thread is served first (I7).
fn yield_to_the_bridge() {
    // Elsewhere it would be the whole process that yields.
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::nice(10) {
        tracing::debug!(%error, "the inbox's thread keeps its priority");
    }
}
