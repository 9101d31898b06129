//! The connection to the client, a wrapper of that of `rmcp`. It bounds the requests in flight, and notifies waiters
//! when the agent has an answer or does not want it any more. The meaning of the lines is left to `rmcp`.

use std::{
    collections::HashMap,
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rmcp::{
    RoleServer,
    model::{ClientNotification, ClientRequest, GetMeta, JsonRpcMessage, ProtocolVersion, RequestId},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::{Transport, async_rw::AsyncRwTransport},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::{OwnedSemaphorePermit, Semaphore, watch},
};

use super::{one_line::OneLine, tickets::Waiter};
use crate::limits;

/// The requests that have no reply yet, shared by the connection and the calls. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(super) struct InFlight {
    requests: Arc<Mutex<HashMap<RequestId, PendingRequest>>>,
    /// Whether stdin has ended.
    is_over: watch::Sender<bool>,
}

/// A request without a reply.
#[derive(Debug)]
struct PendingRequest {
    /// The request's share of the bound on requests in flight.
    room: OwnedSemaphorePermit,
    /// The waiter to notify when this reply has been written, and how.
    about: Option<(Waiter, fn(Waiter))>,
}

impl InFlight {
    /// Records that the reply to this request has the answer or the ticket of the waiter. `arrived` is called once the
    /// agent has the reply. A cancelled request gets no reply, so its waiter is cancelled at once.
    pub(super) fn reply_is_about(&self, id: &RequestId, waiter: Waiter, arrived: fn(Waiter)) {
        match self.lock().get_mut(id) {
            Some(request) => request.about = Some((waiter, arrived)),
            None => waiter.cancelled(),
        }
    }

    /// Waits until stdin has ended.
    pub(super) async fn over(&self) {
        // Ignore the error: `wait_for` fails only without a sender, and `self` holds it.
        drop(self.is_over.subscribe().wait_for(|is_over| *is_over).await);
    }

    /// Forgets every request whose reply is not being written yet. No call waits from now on. `rmcp` may still write
    /// such a reply, for at most the 5 s that it takes to end; this process ends before, as a rule.
    pub(super) fn end(&self) {
        self.is_over.send_replace(true);
        self.lock().clear();
    }

    fn add(&self, id: RequestId, room: OwnedSemaphorePermit) {
        self.lock().insert(id, PendingRequest { room, about: None });
    }

    fn remove(&self, id: &RequestId) -> Option<PendingRequest> {
        self.lock().remove(id)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RequestId, PendingRequest>> {
        // No code panics while it holds the lock, so its data is consistent.
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The connection to the client.
pub(super) struct ClientConnection<R: AsyncRead, W: AsyncWrite + Unpin> {
    lines: AsyncRwTransport<RoleServer, R, OneLine<W>>,
    in_flight: InFlight,
    room: Arc<Semaphore>,
    /// Whether the client has sent the request with which `rmcp` begins to serve it.
    has_begun: bool,
}

impl<R, W> ClientConnection<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(super) fn new(reader: R, writer: W, in_flight: InFlight) -> Self {
        let lines = AsyncRwTransport::new_server(reader, OneLine::new(writer));
        let lines = lines.with_max_line_length(limits::mcp::MESSAGE);
        let room = Arc::new(Semaphore::new(limits::mcp::REQUESTS));
        ClientConnection { lines, in_flight, room, has_begun: false }
    }

    /// Records a request or a cancellation, and returns the message unchanged.
    fn look_at(
        &self,
        message: RxJsonRpcMessage<RoleServer>,
        room: OwnedSemaphorePermit,
    ) -> RxJsonRpcMessage<RoleServer> {
        match &message {
            JsonRpcMessage::Request(request) => self.in_flight.add(request.id.clone(), room),
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) = &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                    // opencode cancels a request after it took the reply: no reply is in flight then.
                    && let Some(request) = self.in_flight.remove(id)
                    && let Some((waiter, _)) = request.about
                {
                    waiter.cancelled();
                }
            }
            _ => {}
        }
        message
    }
}

impl<R, W> Transport<RoleServer> for ClientConnection<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let replies_to = match &message {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            _ => None,
        };
        // The request is removed before the reply is written: a cancellation that arrives from now on is too late.
        let request = replies_to.and_then(|id| self.in_flight.remove(id));
        let sent = self.lines.send(message);
        async move {
            let sent = sent.await;
            if let Some(PendingRequest { room, about }) = request {
                drop(room);
                // I9: the responder is notified once the agent has the answer, or the ticket to fetch it with.
                if sent.is_ok()
                    && let Some((waiter, arrived)) = about
                {
                    arrived(waiter);
                }
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        // Back-pressure: a client that sends requests and reads no replies is not read.
        let room = Arc::clone(&self.room).acquire_owned().await.ok()?;
        // Cancel safe: nothing is awaited once a message was received.
        loop {
            let Some(message) = self.lines.receive().await else {
                // `send` would change nothing while there is no receiver.
                self.in_flight.is_over.send_replace(true);
                return None;
            };
            self.has_begun |= begins(&message);
            if self.has_begun || matches!(message, JsonRpcMessage::Request(_)) {
                return Some(self.look_at(message, room));
            }
            // A client may cancel a request by which it probes the protocol, such as `server/discover`. Before `rmcp`
            // serves a client, it takes any message that is not a request for the end of the connection.
            tracing::debug!("a message before the first request was skipped");
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        self.lines.close().await
    }
}

/// Returns whether `rmcp` begins to serve the client with this message. It replies to every earlier request, and
/// continues to wait.
fn begins(message: &RxJsonRpcMessage<RoleServer>) -> bool {
    let JsonRpcMessage::Request(request) = message else { return false };
    match &request.request {
        ClientRequest::InitializeRequest(_) => true,
        ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => false,
        request => {
            let meta = request.get_meta();
            let version = meta.protocol_version();
            version.is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version))
                && meta.missing_required_keys(&ProtocolVersion::NO_INITIALIZE).is_empty()
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{future::pending, time::Duration};

    use askbridge_core::desk::Refusal;
    use serde_json::json;

    use crate::{
        limits,
        mcp::{
            McpOptions,
            client::WITHOUT_PROGRESS,
            stage::{TestClient, answer},
        },
    };

    #[tokio::test(start_paused = true)]
    async fn ticket_that_was_not_written_does_not_let_the_answer_pass_for_accepted() {
        let mut client = TestClient::initialized(McpOptions::default(), "test").await;
        let id = client.ask(1, None).await;
        // The client does not read, and the ticket is longer than what waits in the pipe.
        let reads = pending::<()>();
        tokio::time::timeout(WITHOUT_PROGRESS + Duration::from_secs(1), reads)
            .await
            .expect_err("it does not read");
        let inbox = client.inbox();
        let mut told = Box::pin(answer(&inbox, &id, "SQLite"));
        let early = tokio::time::timeout(2 * limits::mcp::FETCH, &mut told).await;
        assert!(early.is_err(), "told before the agent has the ticket: {early:?}");
        // The client reads nothing any more.
        client.end().await;
        assert_eq!(told.await, Err(Refusal::Unavailable));
    }

    #[tokio::test(start_paused = true)]
    async fn call_beyond_the_limit_gets_a_ticket_that_counts_once_it_is_written() {
        let mut client = TestClient::initialized(McpOptions::default(), "test").await;
        let id = client.ask(1, None).await;
        for call in 2..=limits::mcp::WAITING as u64 + 1 {
            client.call(call, "wait_for_answer", json!({ "ticket": id.to_string() }), None).await;
        }
        let reply = client.reply().await;
        assert_eq!(reply["result"]["structuredContent"]["status"], "waiting", "{reply}");
        let inbox = client.inbox();
        let (told, reply) = tokio::join!(answer(&inbox, &id, "SQLite"), client.reply());
        assert_eq!((told, &reply["result"]["structuredContent"]["status"]), (Ok(()), &json!("answered")));
    }
}
