//! The thread on which a bridge's inbox is served: whoever asks there, and however often, the bridge's own thread is
//! left alone.

use std::{os::unix::net::UnixListener, thread};

use tokio::sync::oneshot;

use super::{
    discovery::{self, DiscoveryError, Socket},
    handle::{Feed, Inbox, Owner, new},
    socket,
};

/// A thread that serves an inbox, and the socket that it does so on, until this is dropped.
#[derive(Debug)]
pub struct Host {
    stop: Option<oneshot::Sender<()>>,
    thread: Option<thread::JoinHandle<()>>,
    _socket: Socket,
}

/// What a bridge needs of its inbox.
#[derive(Debug)]
pub struct Hosted {
    /// Where the bridge says what happens.
    pub feed: Feed,
    /// The name by which others find its questions; `None` where they cannot.
    pub name: Option<String>,
    /// Keeps the inbox reachable while the bridge runs.
    pub host: Option<Host>,
}

/// Makes the inbox of a bridge, and serves it if that is wanted, and `beside` its socket in another way, which ends when
/// it is told to. A bridge that cannot be reached still bridges: what is wrong is logged.
pub fn open(
    agent: String,
    reachable: bool,
    beside: impl AsyncFnOnce(Inbox, oneshot::Receiver<()>) + Send + 'static,
) -> Hosted {
    let (inbox, feed) = new(Owner::here(agent));
    if !reachable {
        return Hosted { feed, name: None, host: None };
    }
    let name = inbox.bridge().to_owned();
    match Host::start(inbox, beside) {
        Ok(host) => Hosted { feed, name: Some(name), host: Some(host) },
        Err(error) => {
            tracing::warn!(%error, "questions can be answered by the client only");
            Hosted { feed, name: None, host: None }
        }
    }
}

impl Host {
    /// Serves this inbox over a socket of its bridge's name. When this returns, others can connect.
    pub fn start(
        inbox: Inbox,
        beside: impl AsyncFnOnce(Inbox, oneshot::Receiver<()>) + Send + 'static,
    ) -> Result<Self, DiscoveryError> {
        let folder = discovery::folder()?;
        let (socket, listener) = Socket::bind(&folder, inbox.bridge())?;
        let (stop, stopped) = oneshot::channel();
        let serve = move || serve(listener, inbox, stopped, beside);
        let thread = thread::Builder::new().name("inbox".to_owned()).spawn(serve);
        let thread = thread.map_err(|source| DiscoveryError::Path { path: folder, source })?;
        Ok(Host { stop: Some(stop), thread: Some(thread), _socket: socket })
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        if let (Some(stop), Some(thread)) = (self.stop.take(), self.thread.take()) {
            // It may have ended before; and if it panicked, there would be nothing more to do.
            stop.send(()).unwrap_or_default();
            drop(thread.join());
        }
    }
}

fn serve(
    listener: UnixListener,
    inbox: Inbox,
    stopped: oneshot::Receiver<()>,
    beside: impl AsyncFnOnce(Inbox, oneshot::Receiver<()>),
) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let served = runtime.and_then(|runtime| {
        runtime.block_on(async {
            let (end, ended) = oneshot::channel();
            // A listener needs the runtime that it is made in.
            let socket = socket::serve(listener, inbox.clone(), stopped);
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
