//! An inbox over a UNIX socket, and the other end of it.

use std::{
    io::{self, IoSlice},
    mem,
    os::unix::net,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, Waker},
};

use jsonrpsee::{
    client_transport::ws::{Url, WsHandshakeError, WsTransportClientBuilder},
    core::client::{Client, ClientBuilder},
    server::{
        BatchRequestConfig, PingConfig, Server, ServerConfig, ServerConfigBuilder, ServerHandle,
        serve_with_graceful_shutdown, stop_channel,
    },
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{UnixListener, UnixStream},
    sync::{OwnedSemaphorePermit, Semaphore, oneshot},
    task::yield_now,
    time::{sleep, timeout},
};

use super::{
    rpc::{Caller, Methods, QuestionsServer},
    source::Source,
};
use crate::limits;

/// Returns what holds of a server of an inbox that other machines may reach: one of them may be gone without a word.
pub fn config() -> ServerConfig {
    let pings = PingConfig::new().ping_interval(limits::PING).inactive_limit(limits::PONG);
    bounds().enable_ws_ping(pings).build()
}

/// Returns what holds of every server of an inbox. On a socket of this machine, who is gone is known to be, and who is
/// only stopped may go on where it was.
fn bounds() -> ServerConfigBuilder {
    ServerConfig::builder()
        .max_connections(limits::CONNECTIONS as u32)
        .max_request_body_size(limits::REQUEST as u32)
        .max_response_body_size(limits::RESPONSE)
        .max_subscriptions_per_connection(limits::SUBSCRIPTIONS_PER_CONNECTION as u32)
        .set_message_buffer_capacity(limits::MESSAGES as u32)
        .set_batch_request_config(BatchRequestConfig::Limit(limits::BATCH as u32))
}

/// Serves an inbox until it is told to stop, to the `first` who connected, if somebody did, and to all who do from now
/// on. Who waits for a reply by then still gets it.
pub async fn serve<S: Source>(
    listener: net::UnixListener,
    first: Option<net::UnixStream>,
    source: S,
    mut stopped: oneshot::Receiver<()>,
) -> io::Result<()> {
    let listener = UnixListener::from_std(listener)?;
    let mut first = first.map(UnixStream::from_std);
    let methods = Methods::new(source, Caller::Ours).into_rpc();
    let (stop, running) = stop_channel();
    let services = Server::builder().set_config(bounds().build()).to_service_builder();
    let connections = Arc::new(Semaphore::new(limits::CONNECTIONS));
    loop {
        let accepted = tokio::select! {
            _ = &mut stopped => break,
            accepted = accept(&listener, &mut first) => accepted,
        };
        let stream = match accepted {
            Ok(stream) => stream,
            Err(error) => {
                tracing::debug!(%error, "a connection to the inbox was not taken");
                sleep(limits::REST).await;
                continue;
            }
        };
        if !is_own(&stream) {
            tracing::warn!("another user's connection to the inbox was refused");
            continue;
        }
        let Ok(permit) = Arc::clone(&connections).try_acquire_owned() else {
            tracing::debug!("a connection to the inbox was refused: there are as many as may be");
            continue;
        };
        let stream = Connection::new(stream, permit);
        let service = services.clone().build(methods.clone(), stop.clone());
        // Whoever says nothing at first is closed by this.
        let served = serve_with_graceful_shutdown(stream, service, stop.clone().shutdown());
        tokio::spawn(async move {
            if let Err(error) = served.await {
                tracing::debug!(%error, "a connection to the inbox failed");
            }
        });
    }
    // From here on nobody connects any more.
    drop((listener, stop));
    // Who subscribed is told the last that happened: their tasks were woken before us, and run while we yield.
    for _ in 0..limits::CONNECTIONS {
        yield_now().await;
    }
    end(running).await;
    Ok(())
}

async fn accept(
    listener: &UnixListener,
    first: &mut Option<io::Result<UnixStream>>,
) -> io::Result<UnixStream> {
    match first.take() {
        Some(first) => first,
        None => listener.accept().await.map(|(stream, _)| stream),
    }
}

/// Ends a server. Who waits for a reply still gets it, but whoever does not read is left alone.
pub async fn end(running: ServerHandle) {
    // It cannot have been told before.
    running.stop().unwrap_or_default();
    timeout(limits::LAST_REPLIES, running.stopped()).await.unwrap_or_default();
}

/// Says whether the other end is of our own user: the folder's mode may have been changed.
fn is_own(stream: &UnixStream) -> bool {
    stream.peer_cred().is_ok_and(|peer| peer.uid() == rustix::process::geteuid().as_raw())
}

/// A connection that counts as one for as long as it is there, whatever is spoken on it. Who does not read is not read
/// either: what waits to be written is not bounded otherwise.
#[derive(Debug)]
pub struct Connection<S> {
    stream: S,
    _permit: OwnedSemaphorePermit,
    /// The other end has not read what was written before.
    is_full: bool,
    /// What was read last is answered first, as far as that needs to wait for nothing.
    rests: bool,
    /// Who would read once something is written.
    reader: Option<Waker>,
}

impl<S> Connection<S> {
    /// Counts a connection, which has this place among those that there may be.
    pub fn new(stream: S, permit: OwnedSemaphorePermit) -> Self {
        Connection { stream, _permit: permit, is_full: false, rests: false, reader: None }
    }

    /// Remembers whether something could be written, and lets be read on if so, or if it failed.
    fn wrote<T>(&mut self, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        self.is_full = written.is_pending();
        if !self.is_full
            && let Some(reader) = self.reader.take()
        {
            reader.wake();
        }
        written
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Connection<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.is_full {
            self.reader = Some(context.waker().clone());
            return Poll::Pending;
        }
        if mem::take(&mut self.rests) {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let room = limits::SIP.min(buffer.remaining());
        let mut sip = ReadBuf::new(buffer.initialize_unfilled_to(room));
        let read = Pin::new(&mut self.stream).poll_read(context, &mut sip);
        self.rests = read.is_ready();
        let length = sip.filled().len();
        buffer.advance(length);
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Connection<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.wrote(written)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.stream).poll_shutdown(context);
        self.wrote(shut)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, slices);
        self.wrote(written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

/// Speaks with an inbox at the other end of a socket. Its methods are those of [`super::rpc::QuestionsClient`].
pub async fn connect(stream: UnixStream) -> Result<Client, WsHandshakeError> {
    // The name stands in the handshake only.
    let url =
        Url::parse("ws://localhost/").map_err(|error| WsHandshakeError::Url(error.to_string().into()))?;
    let transport = WsTransportClientBuilder::default()
        .max_request_size(limits::REQUEST as u32)
        .max_response_size(limits::RESPONSE);
    let (sender, receiver) = transport.build_with_stream(url, stream).await?;
    let builder = ClientBuilder::default()
        .request_timeout(limits::WAIT)
        .max_buffer_capacity_per_subscription(limits::MESSAGES);
    Ok(builder.build_with_tokio(sender, receiver))
}

#[cfg(test)]
mod tests {
    use jsonrpsee::core::client::{ReceivedMessage, TransportReceiverT, TransportSenderT};
    use serde_json::{Value, json};
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex, split};

    use crate::control::old::socket::*;
    use crate::{
        control::old::{
            played::{Bridge, soon},
            rpc::QuestionsClient,
        },
        question::{Outcome, Provenance, Reason},
    };

    #[tokio::test]
    async fn whoever_subscribes_and_does_not_read_is_sent_the_latest_state_only() {
        let folder = tempfile::tempdir().unwrap();
        let bridge = Bridge::start(folder.path(), "b");
        let url = Url::parse("ws://localhost/").unwrap();
        let transport = WsTransportClientBuilder::default();
        let (mut sender, mut receiver) =
            soon(transport.build_with_stream(url, bridge.stream().await)).await.unwrap();
        let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "question_subscribe" });
        soon(sender.send(call.to_string())).await.unwrap();
        const QUESTIONS: usize = 60;
        for number in 1..=QUESTIONS {
            bridge.open(number as u64, &"x".repeat(32 * 1024));
            // What is sent without waiting for the reader has room in none of the buffers of a socket.
            for _ in 0..20 {
                yield_now().await;
            }
        }
        let mut sent = 0;
        loop {
            let Ok(ReceivedMessage::Text(text)) = soon(receiver.receive()).await else {
                panic!("no message")
            };
            let message: Value = serde_json::from_str(&text).unwrap();
            let Some(listing) = message.pointer("/params/result") else { continue };
            sent += 1;
            if listing["questions"].as_array().unwrap().len() == QUESTIONS {
                break;
            }
        }
        assert!(sent < 20, "{sent} states were kept for who does not read");
    }

    #[tokio::test]
    async fn a_listing_is_read_however_long_it_may_be() {
        let folder = tempfile::tempdir().unwrap();
        let bridge = Bridge::start(folder.path(), "b");
        let client = soon(connect(bridge.stream().await)).await.unwrap();
        (1..=12).for_each(|number| bridge.open(number, &"x".repeat(1024 * 1024)));
        let listing = soon(client.list(None)).await.unwrap();
        assert_eq!(listing.questions.len(), 12);
        let mut changes = soon(client.changes()).await.unwrap();
        assert_eq!(soon(changes.next()).await.unwrap().unwrap(), listing);
    }

    /// A bridge whose agent has ended goes at once: nobody can ask any more what became of its questions.
    #[tokio::test]
    async fn who_subscribed_is_told_the_last_that_happened() {
        for _ in 0..20 {
            let folder = tempfile::tempdir().unwrap();
            let mut bridge = Bridge::start(folder.path(), "b").apart().await;
            bridge.open(1, "a");
            let client = soon(connect(bridge.stream().await)).await.unwrap();
            let mut changes = soon(client.changes()).await.unwrap();
            assert_eq!(soon(changes.next()).await.unwrap().unwrap().questions.len(), 1);
            bridge.settle(1, Outcome::Rejected(Reason::AgentGone), Provenance::bridge());
            bridge.vanish().await;
            let last = soon(changes.next()).await.expect("it is told").unwrap();
            assert_eq!(last.settled, [(*bridge.inbox.find("b-1").unwrap()).clone()]);
            assert!(last.questions.is_empty() && last.settled[0].settlement.is_some());
        }
    }

    /// Lets the others do what they can.
    async fn rest() {
        for _ in 0..20 {
            yield_now().await;
        }
    }

    #[tokio::test]
    async fn who_does_not_read_is_not_read() {
        for is_read in [true, false] {
            let (mut peer, stream) = duplex(8);
            let permit = Arc::new(Semaphore::new(1)).acquire_owned().await.unwrap();
            let (mut reads, mut writes) = split(Connection::new(stream, permit));
            peer.write_all(b"one").await.unwrap();
            soon(reads.read_exact(&mut [0; 3])).await.unwrap();
            let writing = tokio::spawn(async move { writes.write_all(b"a long reply").await });
            rest().await;
            peer.write_all(b"two").await.unwrap();
            let reading = tokio::spawn(async move { reads.read_exact(&mut [0; 3]).await });
            rest().await;
            assert!(!writing.is_finished() && !reading.is_finished());
            if is_read {
                soon(peer.read_exact(&mut [0; 12])).await.unwrap();
            } else {
                drop(peer);
            }
            assert_eq!(soon(writing).await.unwrap().is_ok(), is_read);
            assert!(soon(reading).await.unwrap().is_ok());
        }
    }

    /// Says whether nobody serves this connection.
    async fn is_refused(mut stream: UnixStream) -> bool {
        soon(stream.read(&mut [0])).await.is_ok_and(|read| read == 0)
    }

    #[tokio::test]
    async fn connections_count_before_they_speak_and_after() {
        let folder = tempfile::tempdir().unwrap();
        let bridge = Bridge::start(folder.path(), "b");
        let half = limits::CONNECTIONS / 2;
        let mut clients = Vec::new();
        for _ in 0..half {
            clients.push(soon(connect(bridge.stream().await)).await.unwrap());
        }
        let mut mute = Vec::new();
        for _ in half..limits::CONNECTIONS {
            mute.push(bridge.stream().await);
        }
        assert!(is_refused(bridge.stream().await).await);
        assert!(soon(clients[0].list(None)).await.is_ok());
        mute.pop();
        // The place is free once the server has seen it.
        let again = async { while connect(bridge.stream().await).await.is_err() {} };
        soon(again).await;
    }
}
