//! One connection to an inbox: which calls run at the same time, and which replies wait until the peer reads.
//! Reading and writing the messages is left to `socket` and to `serve`.

use std::{future::Future, io, sync::Arc};

use askbridge_core::desk::Refusal;
use futures::{
    StreamExt,
    stream::{FuturesUnordered, SelectAll, unfold},
};
use jsonrpsee::{
    ConnectionId, MethodResponse,
    core::server::MethodCallback,
    types::{ErrorCode, ErrorObject, ErrorObjectOwned, Id, Params, Request, error::OVERSIZED_REQUEST_CODE},
};
use serde_json::value::RawValue;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, mpsc},
    time::timeout,
};
use tokio_util::sync::CancellationToken;

use super::{
    connection::{CallRoom, Connection, error},
    method,
    methods::Methods,
};
use crate::limits;

/// The text of a request, and its room in the budget of long requests.
#[derive(Debug)]
pub struct Incoming {
    /// One call or a batch, as JSON.
    pub text: String,
    /// Room that is given back once the calls are done. `None` for a short request.
    pub room: Option<OwnedSemaphorePermit>,
}

/// The source of a connection's requests.
pub trait Requests: Send {
    /// Returns the next request, or `None` at the end. Cancel safe.
    fn next(&mut self) -> impl Future<Output = Option<io::Result<Incoming>>> + Send;

    /// Stops accepting requests. Those already received are still answered.
    fn close(&mut self);
}

/// The sink for a connection's replies and notifications.
pub trait Replies: Send {
    /// Sends one message, and waits until the connection has taken it.
    fn send(&mut self, text: String) -> impl Future<Output = io::Result<()>> + Send;
}

/// The result of one request.
struct FinishedRequest {
    reply: Option<String>,
    changes: Option<mpsc::Receiver<Box<RawValue>>>,
    /// The room of the call, which is given back once the reply is sent.
    _room: CallRoom,
}

/// Serves a connection until it ends or fails. After `stop`, it ends once the last replies and changes are sent,
/// including the replies to requests that arrived before.
///
/// At most 32 of its calls are in flight, beside those that wait for a person or an agent. While a reply is sent,
/// nothing is read and no other reply is made, so a peer that does not read makes its connection hold only one reply,
/// whatever it sends (I6). At other times the connection is always read, even while many of its calls wait, so that its
/// end is noticed and the questions that it asked are withdrawn.
pub async fn serve(
    methods: &Methods,
    requests: &mut impl Requests,
    replies: &mut impl Replies,
    stop: CancellationToken,
) -> io::Result<()> {
    let (module, connection) = methods.for_connection();
    let _leaving = Leaving(&connection);
    let places = Arc::new(Semaphore::new(limits::CALLS_PER_CONNECTION));
    let mut calls = FuturesUnordered::new();
    let mut changes = SelectAll::new();
    let (mut stopped, mut at_end) = (false, false);
    while !(at_end && calls.is_empty() && changes.is_empty()) {
        tokio::select! {
            // In this order, a peer that sends without a pause delays neither replies nor a stop.
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
            // The end of the last subscription is a `None`. With a `Some` pattern, it would disable this branch, and
            // `select!` panics if no branch is left, as may be after a stop.
            message = changes.next(), if !changes.is_empty() => if let Some(message) = message {
                replies.send(message).await?;
                connection.change_is_over();
            },
            () = stop.cancelled(), if !stopped => {
                stopped = true;
                connection.leave();
                requests.close();
            }
            request = next(&places, requests), if !at_end => match request {
                Some((request, place)) => calls.push(run(methods, &module, request?, place)),
                // `close` has ended the requests, and the peer still waits for the replies to its calls.
                None if stopped => at_end = true,
                None => {
                    connection.leave();
                    return finish(calls, replies).await;
                }
            },
        }
    }
    Ok(())
}

/// Makes the connection leave, in whichever way its session ends.
struct Leaving<'a>(&'a Connection);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.leave();
    }
}

/// Returns the next request once there is a place for its call. Cancel safe.
async fn next(
    places: &Arc<Semaphore>,
    requests: &mut impl Requests,
) -> Option<(io::Result<Incoming>, Option<OwnedSemaphorePermit>)> {
    // The semaphore is never closed, so `acquire_owned` cannot fail.
    let place = Arc::clone(places).acquire_owned().await.ok();
    Some((requests.next().await?, place))
}

/// Replies to the calls that are done within [`limits::LAST_REPLIES`], after the peer has closed its end. The other
/// calls are dropped, which withdraws the questions that they asked.
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

/// Runs one call or a batch on a connection of its own, such as a request over HTTP. Returns `None` if there is no
/// reply.
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
                // The call may wait for long, and gives the room of the text back when it does.
                drop(text);
                (Some(self::text(call.await.into_json())), None)
            }
            None => other(module, &text).await,
        },
    };
    FinishedRequest { reply, changes, _room: room }
}

/// Begins to call a method. The future does not borrow the text. Returns `None` for a subscription, and for a text that
/// is no call of a known method.
fn begin(
    module: &jsonrpsee::Methods,
    text: &str,
    room: &CallRoom,
) -> Option<impl Future<Output = MethodResponse> + use<>> {
    let Request { id, method, params, .. } = serde_json::from_str(text).ok()?;
    let MethodCallback::Async(callback) = module.method(&method)? else { return None };
    let params = Params::new(params.as_ref().map(|params| params.get())).into_owned();
    // Even reading the extensions takes a mutable module, hence the clone.
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
        // The replies of a batch are sent as one, so their size has to be bounded here.
        let reply = match bytes > limits::BATCH_REPLY {
            true => Some(failure(id_of(call.get()), error(Refusal::TooManyRequests))),
            false => one_of_batch(module, call.get()).await,
        };
        bytes += reply.as_ref().map_or(0, String::len);
        replies.extend(reply);
    }
    (!replies.is_empty()).then(|| format!("[{}]", replies.join(",")))
}

/// Runs a call of a batch. Refuses a call that waits for a person or an agent, since it would delay the replies to the
/// others and hold the room of the batch.
async fn one_of_batch(module: &jsonrpsee::Methods, text: &str) -> Option<String> {
    match serde_json::from_str::<Request<'_>>(text) {
        Ok(call)
            if [method::ASK, method::ANSWER, method::REJECT, method::DEFERRED].contains(&&*call.method) =>
        {
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
            // Only a subscription keeps its sender; any other call has dropped it by now.
            let follows = !matches!(changes.try_recv(), Err(mpsc::error::TryRecvError::Disconnected));
            (Some(self::text(reply)), follows.then_some(changes))
        }
        Err(_) => (not_a_call(text), None),
    }
}

/// Returns the error reply for a text that is no call with an ID. A notification gets no reply, and has no effect,
/// since the protocol has none.
fn not_a_call(text: &str) -> Option<String> {
    let Ok(json) = serde_json::from_str::<serde_json::Value>(text) else {
        return Some(failure(Id::Null, ErrorObject::from(ErrorCode::ParseError)));
    };
    if json.get("method").is_some_and(serde_json::Value::is_string) && json.get("id").is_none() {
        return None;
    }
    Some(failure(id_of(text), ErrorObject::from(ErrorCode::InvalidRequest)))
}

/// Returns the message for a connection that is closed at once, because there are too many.
pub(super) fn too_busy() -> String {
    failure(Id::Null, error(Refusal::TooManyRequests))
}

/// Returns the reply that refuses one call, or every call of a batch, for this reason.
pub fn refusal(text: &str, refusal: Refusal) -> String {
    let failure = |call: &str| failure(id_of(call), error(refusal.clone()));
    match serde_json::from_str::<Vec<Box<RawValue>>>(text) {
        Ok(calls) => {
            // A reply is longer than the shortest call, so the number of replies needs a limit of its own.
            let replies: Vec<_> = calls.iter().take(limits::BATCH).map(|call| failure(call.get())).collect();
            format!("[{}]", replies.join(","))
        }
        Err(_) => failure(text),
    }
}

/// Returns the reply to a call that has done what it asks for, and has no result.
pub(super) fn accepted(text: &str) -> String {
    let payload = jsonrpsee::types::ResponsePayload::success(());
    let response = jsonrpsee::types::Response::new(payload, id_of(text));
    // As in `failure`.
    serde_json::to_string(&response).unwrap_or_default()
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
    // The response has only texts and numbers, so this cannot fail.
    serde_json::to_string(&response).unwrap_or_default()
}

fn text(raw: Box<RawValue>) -> String {
    Box::<str>::from(raw).into()
}
