//! The connection to the client, around that of `rmcp`: bounds the requests in flight, and tells when the agent has an
//! answer and when it does not want one any more. What the lines mean is left to `rmcp`.

use std::{
    collections::HashMap,
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rmcp::{
    RoleServer,
    model::{ClientNotification, JsonRpcMessage, RequestId},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::{Transport, async_rw::AsyncRwTransport},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::{OwnedSemaphorePermit, Semaphore, watch},
};

use super::tickets::Waiter;
use crate::limits;

/// The requests that have no reply yet, shared by the connection and the calls. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(super) struct InFlight {
    requests: Arc<Mutex<HashMap<RequestId, Request>>>,
    /// Whether stdin has ended.
    is_over: watch::Sender<bool>,
}

/// A request without a reply.
#[derive(Debug)]
struct Request {
    /// The room that it takes.
    room: OwnedSemaphorePermit,
    /// The question whose answer the reply has.
    answers: Option<Waiter>,
}

impl InFlight {
    /// Records that the reply to this request has the answer that the waiter waited for. A request that was cancelled
    /// gets no reply.
    pub(super) fn reply_has_answer(&self, id: &RequestId, waiter: Waiter) {
        match self.lock().get_mut(id) {
            Some(request) => request.answers = Some(waiter),
            None => waiter.cancelled(),
        }
    }

    /// Waits until stdin has ended.
    pub(super) async fn over(&self) {
        // It fails only without a sender, which is here.
        drop(self.is_over.subscribe().wait_for(|is_over| *is_over).await);
    }

    /// Forgets every request, once no reply is written any more. No call waits from now on.
    pub(super) fn end(&self) {
        self.is_over.send_replace(true);
        self.lock().clear();
    }

    fn add(&self, id: RequestId, room: OwnedSemaphorePermit) {
        self.lock().insert(id, Request { room, answers: None });
    }

    fn remove(&self, id: &RequestId) -> Option<Request> {
        self.lock().remove(id)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RequestId, Request>> {
        // Nothing that holds it can leave it half changed.
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The connection to the client.
pub(super) struct Connection<R: AsyncRead, W: AsyncWrite> {
    lines: AsyncRwTransport<RoleServer, R, W>,
    in_flight: InFlight,
    room: Arc<Semaphore>,
}

impl<R, W> Connection<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    pub(super) fn new(reader: R, writer: W, in_flight: InFlight) -> Self {
        let lines = AsyncRwTransport::new_server(reader, writer);
        let lines = lines.with_max_line_length(limits::MCP_MESSAGE);
        Connection { lines, in_flight, room: Arc::new(Semaphore::new(limits::MCP_REQUESTS)) }
    }

    /// Looks at a message, and returns it as it is.
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
                    // opencode cancels a request after it took the reply: then there is none in flight.
                    && let Some(request) = self.in_flight.remove(id)
                    && let Some(waiter) = request.answers
                {
                    waiter.cancelled();
                }
            }
            _ => {}
        }
        message
    }
}

impl<R, W> Transport<RoleServer> for Connection<R, W>
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
        let request = replies_to.and_then(|id| self.in_flight.remove(id));
        let sent = self.lines.send(message);
        async move {
            let sent = sent.await;
            if let Some(Request { room, answers }) = request {
                drop(room);
                // I9: the responder is told once the agent has the answer.
                if sent.is_ok()
                    && let Some(waiter) = answers
                {
                    waiter.delivered();
                }
            }
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        // Back-pressure: a client that sends requests and reads no replies is not read.
        let room = Arc::clone(&self.room).acquire_owned().await.ok()?;
        let received = self.lines.receive().await;
        if received.is_none() {
            self.in_flight.is_over.send_replace(true);
        }
        received.map(|message| self.look_at(message, room))
    }

    async fn close(&mut self) -> io::Result<()> {
        self.lines.close().await
    }
}
