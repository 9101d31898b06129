//! One connection to an inbox: which calls run at once, and what waits for the other end to read.
//! How lines or messages come over the connection is left to `socket` and to `serve`.

use std::{future::Future, io, sync::Arc};

use askbridge_core::desk::Refusal;
use futures::{
    StreamExt,
    stream::{FuturesUnordered, SelectAll, unfold},
};
use jsonrpsee::{
    ConnectionId, MethodResponse,
    core::server::MethodCallback,
    types::{
        ErrorCode, ErrorObject, ErrorObjectOwned, Id, Params, Request,
        error::{OVERSIZED_REQUEST_CODE, reject_too_big_request},
    },
};
use serde_json::value::RawValue;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, mpsc},
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use super::{
    connection::{CallRoom, Connection, error},
    methods::Methods,
    protocol::method,
};
use crate::limits;

/// A request as it came, and the room that it takes among those that are longer than most.
#[derive(Debug)]
pub struct Incoming {
    /// One call or a batch, as JSON.
    pub text: String,
    /// Room that is given back once the calls are done.
    pub room: Option<OwnedSemaphorePermit>,
}

/// Where requests come from.
pub trait Requests: Send {
    /// Returns the next request, or `None` at the end. Dropping the future loses nothing.
    fn next(&mut self) -> impl Future<Output = Option<io::Result<Incoming>>> + Send;

    /// Stops accepting requests. Those already received are still answered.
    fn close(&mut self);
}

/// Where replies and notifications go.
pub trait Replies: Send {
    /// Sends one message, and waits until the connection has taken it.
    fn send(&mut self, text: String) -> impl Future<Output = io::Result<()>> + Send;
}

/// The result of one request.
struct FinishedRequest {
    reply: Option<String>,
    changes: Option<mpsc::Receiver<Box<RawValue>>>,
    /// Given back once the reply is sent.
    _room: CallRoom,
}

/// Serves a connection until it ends or fails, or until it is told to stop and the last replies and changes are sent:
/// those to requests that arrived before are among them.
///
/// At most 32 of its calls are in flight, beside those that wait for a person or an agent. While a reply is sent,
/// nothing is read and no other reply is made: a connection that is not read holds one reply, whatever it sends (I6).
/// Else it is read on soon, however many of its calls wait, so that its end is noticed: what it asked is withdrawn
/// then.
pub async fn serve(
    methods: &Methods,
    requests: &mut impl Requests,
    replies: &mut impl Replies,
    stop: CancellationToken,
) -> io::Result<()> {
    let (module, connection) = methods.for_connection();
    let places = Arc::new(Semaphore::new(limits::CALLS_PER_CONNECTION));
    let mut calls = FuturesUnordered::new();
    let mut changes = SelectAll::new();
    let (mut stopped, mut at_end) = (false, false);
    while !(at_end && calls.is_empty() && changes.is_empty()) {
        tokio::select! {
            biased;
            Some(done) = calls.next(), if !calls.is_empty() => {
                let FinishedRequest { reply, changes: followed, _room: room } = done;
                if let Some(reply) = reply {
                    replies.send(reply).await?;
                }
                connection.written();
                drop(room);
                changes.extend(followed.map(stream_of));
            }
            // The last subscription ends with `None`. As a pattern, that would leave no branch to wait for after a
            // stop.
            message = changes.next(), if !changes.is_empty() => if let Some(message) = message {
                replies.send(message).await?;
                connection.change_is_over();
            },
            () = stop.cancelled(), if !stopped => {
                stopped = true;
                requests.close();
            }
            request = next(&places, requests), if !at_end => match request {
                Some((request, place)) => calls.push(run(methods, &module, request?, place)),
                None if stopped => at_end = true,
                None => return finish(calls, replies).await,
            },
        }
    }
    Ok(())
}

/// Returns the next request once there is a place for its call. Dropping the future loses nothing.
async fn next(
    places: &Arc<Semaphore>,
    requests: &mut impl Requests,
) -> Option<(io::Result<Incoming>, Option<OwnedSemaphorePermit>)> {
    // It fails for a closed semaphore only, and this one is never closed.
    let place = Arc::clone(places).acquire_owned().await.ok();
    Some((requests.next().await?, place))
}

/// Replies to the calls that are done at once. A caller that is gone does not wait for the others: they are dropped,
/// and what they asked is withdrawn.
async fn finish(
    mut calls: FuturesUnordered<impl Future<Output = FinishedRequest>>,
    replies: &mut impl Replies,
) -> io::Result<()> {
    let rest = async {
        while let Some(done) = calls.next().await {
            if let Some(reply) = done.reply {
                replies.send(reply).await?;
            }
        }
        Ok(())
    };
    timeout(limits::LAST_REPLIES, rest).await.unwrap_or(Ok(()))
}

fn stream_of(receiver: mpsc::Receiver<Box<RawValue>>) -> impl futures::Stream<Item = String> + Unpin {
    let messages = unfold(receiver, async |mut receiver| {
        let message = receiver.recv().await?;
        Some((text(message), receiver))
    });
    Box::pin(messages)
}

/// A reply to a request over HTTP, and the room that it takes until it is dropped.
#[derive(Debug)]
pub struct HeldReply {
    text: String,
    _connection: Connection,
}

impl AsRef<[u8]> for HeldReply {
    fn as_ref(&self) -> &[u8] {
        self.text.as_bytes()
    }
}

/// Runs one call or a batch over a connection that lives for it alone, such as a request over HTTP. `None` if
/// nothing is to be said.
pub async fn call(methods: &Methods, incoming: Incoming) -> Option<HeldReply> {
    let (module, connection) = methods.for_connection();
    let text = run(methods, &module, incoming, None).await.reply?;
    Some(HeldReply { text, _connection: connection })
}

async fn run(
    methods: &Methods,
    module: &jsonrpsee::Methods,
    incoming: Incoming,
    place: Option<OwnedSemaphorePermit>,
) -> FinishedRequest {
    let Incoming { text, room } = incoming;
    let Some(call) = methods.budgets.call() else {
        let refusal = failure(id_of(&text), error(Refusal::TooManyRequests));
        return FinishedRequest {
            reply: Some(refusal),
            changes: None,
            _room: CallRoom::new(room.into_iter().chain(place)),
        };
    };
    let room = CallRoom::new([Some(call), room, place].into_iter().flatten());
    let (reply, changes) = match text.trim_start().starts_with('[') {
        true => (batch(module, &text).await, None),
        false => match begin(module, &text, &room) {
            Some(call) => {
                // The call may wait for long, and has given back the room of its text then.
                drop(text);
                (Some(self::text(call.await.into_json())), None)
            }
            None => other(module, &text).await,
        },
    };
    FinishedRequest { reply, changes, _room: room }
}

/// Begins to call a method. What it returns holds nothing of the text. `None` for a subscription, and for what is no
/// call of a known method.
fn begin(
    module: &jsonrpsee::Methods,
    text: &str,
    room: &CallRoom,
) -> Option<impl Future<Output = MethodResponse> + use<>> {
    let Request { id, method, params, .. } = serde_json::from_str(text).ok()?;
    let MethodCallback::Async(callback) = module.method(&method)? else { return None };
    let params = Params::new(params.as_ref().map(|params| params.get())).into_owned();
    let mut extensions = std::mem::take(module.clone().extensions_mut());
    extensions.insert(room.clone());
    Some(callback(id.into_owned(), params, ConnectionId(0), usize::MAX, extensions))
}

/// Runs the calls of a batch one after the other.
async fn batch(module: &jsonrpsee::Methods, text: &str) -> Option<String> {
    let Ok(calls) = serde_json::from_str::<Vec<Box<RawValue>>>(text) else {
        return Some(failure(Id::Null, ErrorObject::from(ErrorCode::ParseError)));
    };
    if calls.is_empty() {
        return Some(failure(Id::Null, ErrorObject::from(ErrorCode::InvalidRequest)));
    }
    if calls.len() > limits::BATCH {
        let message = format!("a batch has at most {} calls", limits::BATCH);
        return Some(failure(Id::Null, ErrorObject::owned(OVERSIZED_REQUEST_CODE, message, None::<()>)));
    }
    let (mut replies, mut bytes) = (Vec::new(), 0);
    for call in calls {
        let reply = match bytes > limits::BATCH_REPLY {
            true => Some(failure(id_of(call.get()), error(Refusal::TooManyRequests))),
            false => one_of_batch(module, call.get()).await,
        };
        bytes += reply.as_ref().map_or(0, String::len);
        replies.extend(reply);
    }
    (!replies.is_empty()).then(|| format!("[{}]", replies.join(",")))
}

/// Runs a call of a batch. One that waits for a person or an agent would keep back the replies to the others, and the
/// room of the batch.
async fn one_of_batch(module: &jsonrpsee::Methods, text: &str) -> Option<String> {
    match serde_json::from_str::<Request<'_>>(text) {
        Ok(call) if [method::ASK, method::ANSWER, method::REJECT].contains(&&*call.method) => {
            let message = format!("{} cannot be in a batch: call it by itself", call.method);
            let code = ErrorCode::InvalidRequest.code();
            Some(failure(call.id, ErrorObject::owned(code, message, None::<()>)))
        }
        _ => other(module, text).await.0,
    }
}

async fn other(
    module: &jsonrpsee::Methods,
    text: &str,
) -> (Option<String>, Option<mpsc::Receiver<Box<RawValue>>>) {
    match module.raw_json_request(text, 1).await {
        Ok((reply, mut changes)) => {
            // A call that is no subscription has dropped its end.
            let follows = !matches!(changes.try_recv(), Err(mpsc::error::TryRecvError::Disconnected));
            (Some(self::text(reply)), follows.then_some(changes))
        }
        Err(_) => (not_a_call(text), None),
    }
}

/// Says what is wrong with something that is no call with an id. A notification is not replied to: there is none that
/// means something here.
fn not_a_call(text: &str) -> Option<String> {
    let Ok(json) = serde_json::from_str::<serde_json::Value>(text) else {
        return Some(failure(Id::Null, ErrorObject::from(ErrorCode::ParseError)));
    };
    if json.get("method").is_some_and(serde_json::Value::is_string) && json.get("id").is_none() {
        return None;
    }
    Some(failure(id_of(text), ErrorObject::from(ErrorCode::InvalidRequest)))
}

/// Returns the reply to a request that is longer than one may be.
pub fn too_long() -> String {
    failure(Id::Null, reject_too_big_request(u32::try_from(limits::REQUEST).unwrap_or(u32::MAX)))
}

/// Returns the message for a connection that is closed at once, because there are too many.
pub(super) fn too_busy() -> String {
    failure(Id::Null, error(Refusal::TooManyRequests))
}

/// Returns the reply to one call or a batch of which none is run, for this reason.
pub fn refusal(text: &str, refusal: Refusal) -> String {
    let failure = |call: &str| failure(id_of(call), error(refusal.clone()));
    match serde_json::from_str::<Vec<Box<RawValue>>>(text) {
        Ok(calls) => {
            let replies: Vec<_> = calls.iter().take(limits::BATCH).map(|call| failure(call.get())).collect();
            format!("[{}]", replies.join(","))
        }
        Err(_) => failure(text),
    }
}

fn id_of(text: &str) -> Id<'static> {
    /// The parts of a call that is not run.
    #[derive(serde::Deserialize)]
    struct Call<'a> {
        #[serde(borrow)]
        id: Id<'a>,
    }

    serde_json::from_str::<Call<'_>>(text).map_or(Id::Null, |call| call.id.into_owned())
}

fn failure(id: Id<'_>, error: ErrorObjectOwned) -> String {
    let response = jsonrpsee::types::Response::new(jsonrpsee::types::ResponsePayload::<()>::error(error), id);
    // It has texts and numbers only, so that this cannot fail.
    serde_json::to_string(&response).unwrap_or_default()
}

fn text(raw: Box<RawValue>) -> String {
    Box::<str>::from(raw).into()
}
