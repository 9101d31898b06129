//! The control protocol over HTTP: one call or a batch in a POST, or a WebSocket at the same path.

use std::{convert::Infallible, io, sync::Arc};

use askbridge_control::{
    inbox::Inbox,
    rpc::{
        caller::Caller,
        deferrals::Deferrals,
        methods::Methods,
        session::{self, Incoming, Replies, Requests},
    },
};
use askbridge_core::{
    desk::{Refusal, refusal::Detail},
    question::Responder,
};
use axum::{
    Extension, Router,
    body::{Body, Bytes},
    extract::{
        FromRequestParts, Request, State,
        ws::{Message, WebSocket, WebSocketUpgrade},
    },
    http::{HeaderMap, HeaderValue, StatusCode, header::ALLOW},
    response::{IntoResponse, Response},
    routing::get,
};
use futures::{
    SinkExt, StreamExt,
    future::poll_fn,
    stream::{SplitSink, SplitStream},
};
use jsonrpsee::types::ErrorObjectOwned;
use serde_json::value::RawValue;
use tokio::{
    sync::{Mutex, Semaphore},
    time::{Instant, MissedTickBehavior, interval_at, sleep, timeout, timeout_at},
};
use tokio_util::sync::CancellationToken;

use super::{
    app::App,
    body,
    problem::Problem,
    rules, stream,
    visitors::{Rate, Visitor},
};
use crate::{
    limits,
    page::sign_in::{PageRequest, SUBPROTOCOL},
};

/// The name and the code of the error for a subscription by POST.
pub const NEEDS_WEBSOCKET: (&str, i32) = ("needs_websocket", 426);

/// The shared state of the handlers.
#[derive(Debug)]
pub(super) struct Rpc {
    over_http: Methods,
    over_websocket: Methods,
    over_page: Methods,
    deferrals: Deferrals,
    rate: Arc<Rate>,
    websockets: Arc<Semaphore>,
    stop: CancellationToken,
}

impl Rpc {
    /// Serves the methods of this inbox. `rate` counts their calls together with all other requests.
    pub(super) fn new<I: Inbox>(
        inbox: I,
        deferrals: Deferrals,
        rate: Arc<Rate>,
        stop: CancellationToken,
    ) -> Self {
        let methods = |responder| Methods::with_undo(inbox.clone(), Caller::Of(responder), deferrals.clone());
        let over_page = methods(Responder::Page);
        // Only the page has them: its user alone decides in advance.
        let over_page = match rules::methods(inbox.clone()) {
            Ok(more) => over_page.and(more),
            Err(_) => over_page,
        };
        let methods = methods(Responder::Rpc);
        Rpc {
            over_http: methods.clone().of_one_request(&needs_websocket()),
            over_websocket: methods,
            over_page,
            rate,
            deferrals,
            websockets: Arc::new(Semaphore::new(limits::WEBSOCKETS)),
            stop,
        }
    }
}

fn needs_websocket() -> ErrorObjectOwned {
    let (name, code) = NEEDS_WEBSOCKET;
    let message = "this method needs a WebSocket, at the same path";
    ErrorObjectOwned::owned(code, message, Some(Detail { name: name.to_owned(), ..Detail::default() }))
}

/// The path of the control protocol.
pub(super) const RPC: &str = "/rpc";

/// Returns the route.
pub(super) fn routes<I: Inbox>(rpc: Rpc) -> Router<App<I>> {
    let handlers = get(by_websocket::<I>).post(by_post);
    Router::new().route(RPC, handlers.layer(Extension(Arc::new(rpc))))
}

async fn by_post(
    Extension(rpc): Extension<Arc<Rpc>>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Problem> {
    body::check_json(&headers)?;
    let text = String::from_utf8_lossy(&body).into_owned();
    // `text` is a copy: free the memory for bodies before the call, which may wait for a person.
    drop(body);
    // The guard has counted the request already, as one.
    if !rpc.rate.allows_all(calls(&text) - 1) {
        return Ok(stream::json_of(session::refusal(&text, Refusal::TooManyRequests).into()));
    }
    let calling = async move {
        let reply = session::call(&rpc.over_http, Incoming { text, room: None }).await;
        Ok::<_, Infallible>(match reply {
            Some(reply) => stream::json_of(Body::from(Bytes::from_owner(reply))),
            None => StatusCode::NO_CONTENT.into_response(),
        })
    };
    // A person may take long to answer, and an agent to read an answer.
    stream::when_ready(calling).await.map_err(|never| match never {})
}

/// Returns how many requests a message counts for. A malformed message counts for one.
fn calls(text: &str) -> u32 {
    let calls = serde_json::from_str::<Vec<&RawValue>>(text).map_or(1, |calls| calls.len());
    u32::try_from(calls.clamp(1, limits::BATCH)).unwrap_or(1)
}

async fn by_websocket<I: Inbox>(
    State(app): State<App<I>>,
    Extension(rpc): Extension<Arc<Rpc>>,
    request: Request,
) -> Result<Response, Problem> {
    let (mut parts, _) = request.into_parts();
    let visitor = parts.extensions.get::<Arc<Visitor>>().cloned();
    let is_page = parts.extensions.get::<PageRequest>().is_some();
    let Ok(upgrade) = WebSocketUpgrade::from_request_parts(&mut parts, &()).await else {
        let mut response = Problem::new(
            StatusCode::METHOD_NOT_ALLOWED,
            "method_not_allowed",
            "send a POST, or the headers that open a WebSocket",
        )
        .into_response();
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("POST"));
        return Ok(response);
    };
    let place = Arc::clone(&rpc.websockets).try_acquire_owned().map_err(|_| {
        let detail = format!("there are {} WebSockets already, which is the limit", limits::WEBSOCKETS);
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "too_many_subscribers", detail)
    })?;
    let upgrade = upgrade
        .max_message_size(limits::REQUEST)
        .max_frame_size(limits::REQUEST)
        .read_buffer_size(limits::SHORT_REQUEST)
        // Each reply is flushed before the next is made, so buffering would gain nothing.
        .write_buffer_size(0)
        .protocols([SUBPROTOCOL]);
    Ok(upgrade.on_upgrade(async move |socket| {
        let methods = if is_page { &rpc.over_page } else { &rpc.over_websocket };
        serve(&rpc, methods, &app.inbox, socket).await;
        // The permits are held until here, so that an open WebSocket counts as a connection and against the limit.
        drop((visitor, place));
    }))
}

async fn serve(rpc: &Rpc, methods: &Methods, inbox: &impl Inbox, socket: WebSocket) {
    let (sink, stream) = socket.split();
    let sink = Arc::new(Mutex::new(sink));
    let mut requests = Messages {
        stream,
        sink: Arc::clone(&sink),
        rate: Arc::clone(&rpc.rate),
        deadline: Instant::now() + limits::PONG,
        refusal: None,
        is_flushed: true,
        is_closed: false,
    };
    let mut replies = SharedSink(Arc::clone(&sink));
    let served = tokio::select! {
        served = session::serve(methods, &mut requests, &mut replies, rpc.stop.clone()) => served,
        failed = ping(&sink) => failed,
        () = stopped(rpc, inbox) => Ok(()),
    };
    if let Err(error) = served {
        tracing::debug!(%error, "a WebSocket failed");
    }
    // Do not wait long for a client that does not read.
    drop(timeout(limits::LAST_REPLIES, async { sink.lock().await.close().await }).await);
}

/// Waits until the server stops, the accepted answers are in the journal, and the last replies and changes had time to
/// be sent.
async fn stopped(rpc: &Rpc, inbox: &impl Inbox) {
    rpc.stop.cancelled().await;
    rpc.deferrals.flush().await;
    inbox.kept().await;
    sleep(limits::LAST_REPLIES / 2).await;
}

/// Pings the client, to detect that it is gone. Returns when a ping fails.
async fn ping(sink: &Mutex<SplitSink<WebSocket, Message>>) -> io::Result<()> {
    let mut pings = interval_at(Instant::now() + limits::PING, limits::PING);
    // Pings wait while a long reply is written. Missed pings are skipped.
    pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        pings.tick().await;
        sink.lock().await.send(Message::Ping(Bytes::new())).await.map_err(io::Error::other)?;
    }
}

/// The sink for replies, shared with the pings.
struct SharedSink(Arc<Mutex<SplitSink<WebSocket, Message>>>);

impl Replies for SharedSink {
    async fn send(&mut self, text: String) -> io::Result<()> {
        // A client may take as long as this to read one message.
        let sent = timeout(limits::PONG, async { self.0.lock().await.send(Message::text(text)).await });
        sent.await?.map_err(io::Error::other)
    }
}

/// The messages of a client. Refuses a message that exceeds the rate.
struct Messages {
    stream: SplitStream<WebSocket>,
    sink: Arc<Mutex<SplitSink<WebSocket, Message>>>,
    rate: Arc<Rate>,
    /// When the client counts as gone, unless it sends something before, such as a pong.
    deadline: Instant,
    /// A refusal that has not been written yet.
    refusal: Option<String>,
    is_flushed: bool,
    is_closed: bool,
}

impl Requests for Messages {
    fn close(&mut self) {
        self.is_closed = true;
    }

    async fn next(&mut self) -> Option<io::Result<Incoming>> {
        loop {
            if self.is_closed {
                return None;
            }
            if let Err(error) = self.refuse().await {
                return Some(Err(error));
            }
            // `timeout_at` polls the stream before the deadline. So requests that arrived while too many calls were in
            // flight still count as a sign of life.
            let message = timeout_at(self.deadline, self.stream.next()).await;
            self.deadline = Instant::now() + limits::PONG;
            let text = match message {
                Ok(Some(Ok(Message::Text(text)))) => text.as_str().to_owned(),
                Ok(Some(Ok(Message::Binary(bytes)))) => String::from_utf8_lossy(&bytes).into_owned(),
                Ok(Some(Ok(Message::Ping(_) | Message::Pong(_)))) => continue,
                Ok(Some(Ok(Message::Close(_))) | None) => return None,
                Ok(Some(Err(error))) => return Some(Err(io::Error::other(error))),
                Err(_) => return Some(Err(io::ErrorKind::TimedOut.into())),
            };
            if self.rate.allows_all(calls(&text)) {
                return Some(Ok(Incoming { text, room: None }));
            }
            self.refusal = Some(session::refusal(&text, Refusal::TooManyRequests));
        }
    }
}

impl Messages {
    /// Writes the refusal. Cancel safe.
    async fn refuse(&mut self) -> io::Result<()> {
        if self.refusal.is_none() && self.is_flushed {
            return Ok(());
        }
        let mut sink = self.sink.lock().await;
        if self.refusal.is_some() {
            // `send` would take the refusal before the sink is ready, and lose it if the future were dropped.
            poll_fn(|cx| sink.poll_ready_unpin(cx)).await.map_err(io::Error::other)?;
            let refusal = self.refusal.take().map(Message::text);
            self.is_flushed = false;
            refusal.map_or(Ok(()), |refusal| sink.start_send_unpin(refusal)).map_err(io::Error::other)?;
        }
        sink.flush().await.map_err(io::Error::other)?;
        self.is_flushed = true;
        Ok(())
    }
}
