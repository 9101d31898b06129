//! One call over HTTP, as a task: it sends the message, follows redirects at the same origin, and reads the response into
//! messages. It decides nothing else.

use std::{sync::Arc, time::Duration};

use axum::{
    body::{Body, BodyDataStream},
    http::{
        HeaderMap, Response, StatusCode,
        header::{CONTENT_TYPE, LOCATION},
    },
};
use bytes::{Bytes, BytesMut};
use futures::StreamExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc::Sender, oneshot};

use super::{
    address::ServerAddress,
    call::{Call, CallId, Cursor, End, Event, Head},
    client::{HttpClient, cause},
};
use crate::{events::EventReader, limits::mcp_http as limits};

/// Number of redirects that one call follows.
const REDIRECTS: usize = 5;

/// An event, and the share of the bound on long messages that its message takes.
pub(super) type Reported = (Event, Option<OwnedSemaphorePermit>);

/// What a call needs. Cheap to clone.
#[derive(Clone)]
pub(super) struct Talker {
    pub(super) client: HttpClient,
    pub(super) server: ServerAddress,
    pub(super) events: Sender<Reported>,
    /// The right to hold a long message.
    pub(super) long: Arc<Semaphore>,
}

impl Talker {
    /// Makes a call, and reports how it ends.
    pub(super) async fn talk(self, id: CallId, call: Call) {
        let end = self.response(id, &call).await;
        self.report(Event::Ended(id, end), None).await;
    }

    async fn report(&self, event: Event, long: Option<OwnedSemaphorePermit>) {
        // Without a receiver, the relay has ended, and this task with it.
        drop(self.events.send((event, long)).await);
    }

    async fn response(&self, id: CallId, call: &Call) -> End {
        let mut to = self.server.clone();
        for _ in 0..=REDIRECTS {
            let response = match self.send(id, &to, call).await {
                Ok(response) => response,
                Err(end) => return end,
            };
            let Some(location) = location(&response) else { return self.read(id, response).await };
            match self.server.redirected(&location) {
                Ok(next) => to = next,
                Err(other) => return End::Elsewhere(other.map(|address| address.to_string())),
            }
        }
        End::Broken("it redirects again and again".to_owned())
    }

    /// Sends the message, and reports once it was written.
    async fn send(&self, id: CallId, to: &ServerAddress, call: &Call) -> Result<Response<Body>, End> {
        let (sent, mut written) = oneshot::channel();
        let sending = self.client.send(to, call, sent);
        tokio::pin!(sending);
        tokio::select! {
            biased;
            response = &mut sending => return response,
            _ = &mut written => self.report(Event::Sent(id), None).await,
        }
        sending.await
    }

    /// Reads a response.
    async fn read(&self, id: CallId, response: Response<Body>) -> End {
        let (parts, body) = response.into_parts();
        let is_stream = is_stream(&parts.headers);
        let status = parts.status.as_u16();
        let session = parts.headers.get("mcp-session-id").filter(|session| is_visible(session.as_bytes()));
        let head = Head { status, session: session.cloned(), is_stream };
        self.report(Event::Head(id, head), None).await;
        let body = body.into_data_stream();
        let read = match parts.status.is_success() {
            true if is_stream => self.stream(id, body).await,
            true => self.whole(id, body, limits::MESSAGE).await,
            false => self.whole(id, body, limits::REFUSAL).await,
        };
        read.err().unwrap_or(End::Complete)
    }

    /// Reads a body that is one message.
    async fn whole(&self, id: CallId, mut body: BodyDataStream, most: usize) -> Result<(), End> {
        let (mut held, mut long) = (BytesMut::new(), None);
        while let Some(bytes) = next(&mut body).await? {
            if held.len() + bytes.len() > most {
                return Err(End::TooLong);
            }
            self.make_room(&mut long, held.len() + bytes.len()).await;
            held.extend_from_slice(&bytes);
        }
        if !held.trim_ascii().is_empty() {
            self.report(Event::Message(id, held.freeze()), long).await;
        }
        Ok(())
    }

    /// Reads a stream of events.
    async fn stream(&self, id: CallId, mut body: BodyDataStream) -> Result<(), End> {
        let (mut reader, mut long) = (EventReader::new(limits::MESSAGE), None);
        while let Some(mut bytes) = next(&mut body).await? {
            self.make_room(&mut long, reader.held() + bytes.len()).await;
            while let Some(event) = reader.read(&mut bytes) {
                if event.is_cut {
                    return Err(End::TooLong);
                }
                let retry = event.retry.map(Duration::from_millis);
                let own = event.id.filter(|id| id.len() <= limits::ID);
                if own.is_some() || retry.is_some() {
                    self.report(Event::Cursor(id, Cursor { id: own, retry }), None).await;
                }
                // Other names are of other protocols.
                let is_message = event.name.is_empty() || event.name == b"message";
                if let Some(data) = event.data.filter(|data| is_message && !data.trim_ascii().is_empty()) {
                    self.report(Event::Message(id, data), long.take()).await;
                }
            }
        }
        Ok(())
    }

    /// Waits until a message of this length may be held.
    async fn make_room(&self, long: &mut Option<OwnedSemaphorePermit>, length: usize) {
        if length > limits::SMALL_MESSAGE && long.is_none() {
            // The semaphore is never closed.
            *long = Arc::clone(&self.long).acquire_owned().await.ok();
        }
    }
}

/// Returns the next bytes of a body.
async fn next(body: &mut BodyDataStream) -> Result<Option<Bytes>, End> {
    match body.next().await {
        None => Ok(None),
        Some(Ok(bytes)) => Ok(Some(bytes)),
        Some(Err(error)) => Err(End::Broken(cause(&error))),
    }
}

/// Returns where a response redirects a call to, unless the call must become another one.
fn location(response: &Response<Body>) -> Option<String> {
    let redirects = matches!(
        response.status(),
        StatusCode::MOVED_PERMANENTLY
            | StatusCode::FOUND
            | StatusCode::TEMPORARY_REDIRECT
            | StatusCode::PERMANENT_REDIRECT
    );
    let location = response.headers().get(LOCATION).filter(|_| redirects)?;
    Some(String::from_utf8_lossy(location.as_bytes()).into_owned())
}

fn is_stream(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.trim_ascii().to_ascii_lowercase().starts_with("text/event-stream")
}

/// Returns whether these bytes may be the ID of a session.
fn is_visible(id: &[u8]) -> bool {
    !id.is_empty() && id.len() <= limits::ID && id.iter().all(u8::is_ascii_graphic)
}
