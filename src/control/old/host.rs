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

use super::{port::Inbox, socket};
use crate::machine::discovery::{self, DiscoveryError, Socket};

/// An inbox's socket, and the thread that serves it, until this is dropped. That waits for no longer than
/// [`limits::LAST_REPLIES`](crate::limits::LAST_REPLIES).
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
    let served =
        runtime.and_then(|runtime| runtime.block_on(serve_both(listener, first, inbox, stopped, beside)));
    if let Err(error) = served {
        tracing::warn!(%error, "the inbox is not served any more");
    }
}

/// Where there is one CPU for both, the bridge's own thread has nearly all of it (I7).
fn yield_to_the_bridge() {
    // Elsewhere it would be the whole process that yields.
    #[cfg(target_os = "linux")]
    if let Err(error) = rustix::process::nice(19) {
        tracing::debug!(%error, "the inbox's thread keeps its priority");
    }
}

/// Both are told to end at the same time, so that the bridge waits for the slower one only.
async fn serve_both(
    listener: UnixListener,
    first: Option<UnixStream>,
    inbox: Inbox,
    stopped: oneshot::Receiver<()>,
    beside: impl AsyncFnOnce(Inbox, oneshot::Receiver<()>),
) -> io::Result<()> {
    let (end_socket, socket_ended) = oneshot::channel();
    let (end_beside, beside_ended) = oneshot::channel();
    let stop = async {
        // Whoever is gone is to stop, too.
        stopped.await.unwrap_or_default();
        drop((end_socket, end_beside));
    };
    let socket = socket::serve(listener, first, inbox.clone(), socket_ended);
    tokio::join!(socket, beside(inbox, beside_ended), stop).0
}

#[cfg(test)]
mod tests {
    use std::{future::pending, sync::Arc, time::Duration};

    use serde_json::json;
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::UnixStream,
        time::{Instant, timeout},
    };

    use crate::control::old::host::*;
    use crate::{
        acp::Opened,
        control::old::{Owner, new},
        limits,
        question::Question,
    };

    /// Questions of so many bytes in all: far more than a socket holds.
    const BYTES: usize = 4 * 1024 * 1024;

    fn large_question() -> Arc<Question> {
        let question = json!({
            "questionId": "q", "message": "x".repeat(BYTES), "fields": [], "origin": "kiro", "dangerous": false,
            "blocking": true,
        });
        Arc::new(serde_json::from_value(question).unwrap())
    }

    /// Subscribes by hand, and reads no further than to where the listing begins.
    async fn subscribe(stream: &mut UnixStream) {
        let upgrade = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
            Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
        stream.write_all(upgrade.as_bytes()).await.unwrap();
        let call = br#"{"jsonrpc":"2.0","id":1,"method":"question_subscribe"}"#;
        // A text in one frame, under a mask of zeros.
        let head = [0x81, 0x80 | u8::try_from(call.len()).unwrap(), 0, 0, 0, 0];
        stream.write_all(&[&head[..], call].concat()).await.unwrap();
        let (mut read, listing) = (Vec::new(), b"question_changed");
        while !read.windows(listing.len()).any(|bytes| bytes == listing) {
            assert!(stream.read_buf(&mut read).await.unwrap() > 0, "the connection ended");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_subscriber_that_reads_nothing_does_not_hold_up_the_end() {
        let owner = Owner { bridge: "b".to_owned(), agent: String::new(), folder: String::new() };
        let (inbox, feed) = new(owner);
        feed.opened(&Opened {
            number: 1,
            question: large_question(),
            since: Duration::ZERO,
            deadline: None,
            elsewhere: false,
        });
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        listener.set_nonblocking(true).unwrap();
        let (stop, stopped) = oneshot::channel();
        // Somebody who has to be waited for is there as well.
        let beside = async |_, ended: oneshot::Receiver<()>| {
            assert!(ended.await.is_err());
            timeout(limits::LAST_REPLIES, pending::<()>()).await.unwrap_or_default();
        };
        let served = tokio::spawn(serve_both(listener, None, inbox, stopped, beside));
        let mut stream = UnixStream::connect(&path).await.unwrap();
        timeout(limits::WAIT, subscribe(&mut stream)).await.unwrap();

        let start = Instant::now();
        stop.send(()).unwrap();
        timeout(limits::WAIT, served).await.unwrap().unwrap().unwrap();
        assert_eq!(start.elapsed(), limits::LAST_REPLIES);
    }
}
