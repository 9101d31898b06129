//! The client of the control protocol: calls to an inbox's socket, and subscriptions to its changes.
//!
//! Once a reply says that the call succeeded, its content is read leniently: a bridge of another version must not make
//! an answer that the agent received look lost (I11).

use std::{io, sync::Arc};

use askbridge_core::{
    desk::{QuestionId, Record, Refusal, Submission, refusal::Detail},
    question::{Provenance, input::AnswerInput},
};
use jsonrpsee::{
    core::{
        client::{
            Client as RpcClient, ClientBuilder, ClientT, Error, ReceivedMessage, Subscription,
            SubscriptionClientT, TransportReceiverT, TransportSenderT,
        },
        params::ObjectParams,
    },
    types::ErrorObjectOwned,
};
use serde::Serialize;
use serde_json::value::RawValue;
use thiserror::Error as ThisError;
use tokio::{
    io::AsyncWriteExt,
    net::{
        UnixStream,
        unix::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::Semaphore,
    task::spawn_blocking,
};

use super::{
    protocol::{CallReply, Delta, Listing, OutlineListing, ReadableList, method},
    socket::LineReader,
};
use crate::{inbox::status::BridgeStatus, limits};

/// Why a bridge could not be greeted.
#[derive(Debug, ThisError)]
pub enum ConnectError {
    /// It speaks a protocol before version 1.
    #[error("the bridge speaks an older protocol: restart the agent that it wraps")]
    OlderProtocol,
    /// It has too many connections or calls now.
    #[error("the bridge is too busy: try again later")]
    Busy,
    /// Its reply was no greeting.
    #[error("the process on this socket is not an askbridge bridge")]
    NotABridge,
    /// The connection failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// Why a call failed.
#[derive(Clone, Debug, ThisError, PartialEq)]
pub enum CallError {
    /// The bridge refused it.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The connection ended before the reply: it is not known whether the call was carried out.
    #[error("the bridge is gone")]
    Gone,
}

impl From<CallError> for Refusal {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Refused(refusal) => refusal,
            CallError::Gone => Refusal::Unavailable,
        }
    }
}

/// A connection to a bridge's inbox.
#[derive(Debug)]
pub struct Client {
    client: RpcClient,
    greeting: BridgeStatus,
}

/// A connection for one call at a time, without subscriptions.
struct Line {
    reader: LineReader<OwnedReadHalf>,
    writer: OwnedWriteHalf,
}

impl Line {
    /// Greets the bridge at the other end, without a timeout.
    async fn greet(stream: UnixStream) -> Result<(Self, BridgeStatus), ConnectError> {
        let (reader, writer) = stream.into_split();
        let mut line = Line { reader: LineReader::new(reader, limits::MESSAGE), writer };
        let reply = line.call(method::STATUS).await?;
        // A bridge of the older protocol takes our line for an HTTP request.
        if reply.starts_with("HTTP/") {
            return Err(ConnectError::OlderProtocol);
        }
        let mut greeting: Vec<BridgeStatus> = read_result(&reply)?;
        let greeting = greeting.pop().ok_or(ConnectError::NotABridge)?;
        Ok((line, greeting))
    }

    /// Calls a method without parameters, and returns the reply.
    async fn call(&mut self, method: &str) -> Result<String, ConnectError> {
        // A failed write is reported only if nothing can be read either.
        let call = format!("{{\"jsonrpc\":\"2.0\",\"id\":\"hello\",\"method\":\"{method}\"}}\n");
        let written = self.writer.write_all(call.as_bytes()).await;
        // A bridge that is too busy sends a refusal and closes the connection without reading, which can fail the
        // write.
        match self.reader.next().await {
            Some(Ok(reply)) => Ok(reply),
            Some(Err(error)) => Err(error.into()),
            None => Err(written.err().map_or(ConnectError::NotABridge, ConnectError::Io)),
        }
    }
}

/// Reads the result of a call from its reply.
fn read_result<T: serde::de::DeserializeOwned>(reply: &str) -> Result<T, ConnectError> {
    /// The response to a call.
    #[derive(serde::Deserialize)]
    struct Response<T> {
        result: T,
    }

    /// The response to a call that was refused.
    #[derive(serde::Deserialize)]
    struct Refused {
        error: ErrorObjectOwned,
    }

    match serde_json::from_str::<Response<T>>(reply) {
        Ok(response) => Ok(response.result),
        Err(_) => Err(match serde_json::from_str::<Refused>(reply).map(|refused| why(&refused.error)) {
            Ok(Refusal::TooManyRequests) => ConnectError::Busy,
            _ => ConnectError::NotABridge,
        }),
    }
}

/// Bounds how many listings are parsed at once, since more threads than cores gain nothing.
static READERS: Semaphore = Semaphore::const_new(limits::READERS);

/// How much of each question is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Only what a list shows.
    Outline,
    /// The whole record.
    Whole,
}

/// Greets the bridge at the other end, reads its open questions once, and closes the connection. This is much faster
/// than a subscription.
pub async fn read_once(
    stream: UnixStream,
    depth: Depth,
) -> Result<(BridgeStatus, ReadableList<Record>), ConnectError> {
    let (mut line, status) = Line::greet(stream).await?;
    if status.protocol == 0 {
        return Err(ConnectError::OlderProtocol);
    }
    let list = match depth {
        Depth::Outline => method::OUTLINE,
        Depth::Whole => method::LIST,
    };
    let reply = line.call(list).await?;
    // Parsed on another thread, so that several listings are parsed at once. The semaphore is never closed, so
    // `acquire` cannot fail.
    let _turn = READERS.acquire().await;
    let questions = spawn_blocking(move || match depth {
        Depth::Outline => read_result::<OutlineListing>(&reply).map(OutlineListing::into_records),
        Depth::Whole => read_result::<Listing>(&reply).map(|listing| listing.questions),
    });
    Ok((status, questions.await.map_err(|_| ConnectError::NotABridge)??))
}

impl Client {
    /// Greets the bridge at the other end, without a timeout.
    pub async fn connect(stream: UnixStream) -> Result<Self, ConnectError> {
        let (Line { reader, writer }, greeting) = Line::greet(stream).await?;
        // As good as no timeout, since a call may wait for an agent or a person. The default would be a minute.
        let client = ClientBuilder::default()
            .request_timeout(limits::WAIT)
            .max_buffer_capacity_per_subscription(limits::MESSAGES)
            .build_with_tokio(Sender(writer), Receiver(reader));
        Ok(Client { client, greeting })
    }

    /// Returns how the bridge described itself when it was greeted.
    pub fn greeting(&self) -> &BridgeStatus {
        &self.greeting
    }

    /// Returns whether the connection is still open, as far as is known.
    pub fn is_connected(&self) -> bool {
        self.client.is_connected()
    }

    /// Asks the bridge to describe itself again. A stopped bridge does not reply.
    pub async fn status(&self) -> Result<BridgeStatus, CallError> {
        let statuses: CallReply<Vec<BridgeStatus>> = self.call(method::STATUS, ObjectParams::new()).await?;
        statuses.value.and_then(|mut statuses| statuses.pop()).ok_or(CallError::Gone)
    }

    /// Reports to the bridge that a person is looking at the questions now.
    pub async fn watch(&self) -> Result<(), CallError> {
        self.call::<()>(method::WATCH, ObjectParams::new()).await.map(drop)
    }

    /// Returns one question, by its ID or a prefix of it.
    pub async fn get(&self, typed: &str) -> Result<CallReply<Record>, CallError> {
        self.call(method::GET, params([("id", json(&typed))])).await
    }

    /// Returns the questions that were settled last and that the bridge still remembers, latest first.
    pub async fn settled(&self, limit: usize) -> Result<Vec<Arc<Record>>, CallError> {
        let listing: CallReply<Listing> =
            self.call(method::SETTLED, params([("limit", json(&limit))])).await?;
        Ok(listing.value.map(|listing| listing.questions.items).unwrap_or_default())
    }

    /// Submits to a question, and waits until its agent has read the answer.
    pub async fn submit(
        &self,
        id: &QuestionId,
        submission: Submission,
        by: Provenance,
    ) -> Result<CallReply<Record>, CallError> {
        let (id, by) = (("id", json(id)), ("by", json(&by)));
        match submission {
            Submission::Answer(answer) => {
                let answer = ("answer", json(&AnswerInput::from(answer)));
                self.call(method::ANSWER, params([id, answer, by])).await
            }
            Submission::Reject(reason) => {
                let reason = ("reason", json(&reason));
                self.call(method::REJECT, params([id, reason, by])).await
            }
            Submission::Extend(time) => {
                // The protocol refuses zero.
                let milliseconds = u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1);
                self.call(method::EXTEND, params([id, ("milliseconds", json(&milliseconds))])).await
            }
        }
    }

    /// Subscribes to the changes.
    pub async fn subscribe(&self) -> Result<Changes, CallError> {
        let subscribed = self.client.subscribe(method::SUBSCRIBE, ObjectParams::new(), method::UNSUBSCRIBE);
        Ok(Changes(subscribed.await.map_err(refused)?))
    }

    async fn call<T: serde::de::DeserializeOwned>(
        &self,
        method: &str,
        params: ObjectParams,
    ) -> Result<CallReply<T>, CallError> {
        let result: Box<RawValue> = self.client.request(method, params).await.map_err(refused)?;
        Ok(CallReply::read(&result))
    }
}

fn params<const N: usize>(members: [(&str, Box<RawValue>); N]) -> ObjectParams {
    let mut params = ObjectParams::new();
    for (name, value) in members {
        // It is JSON already, so that this cannot fail.
        params.insert(name, value).unwrap_or_default();
    }
    params
}

fn json(value: &impl Serialize) -> Box<RawValue> {
    // Our own types have string keys and finite numbers, so that this cannot fail.
    serde_json::value::to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

/// Returns why a call failed. Any error reply counts as a refusal, even one that only another version knows, since the
/// call was not carried out.
fn refused(error: Error) -> CallError {
    match error {
        Error::Call(error) => CallError::Refused(why(&error)),
        _ => CallError::Gone,
    }
}

fn why(error: &ErrorObjectOwned) -> Refusal {
    let detail = error.data().and_then(|data| serde_json::from_str::<Detail>(data.get()).ok());
    detail.map_or_else(|| Refusal::Other(error.message().to_owned()), Refusal::from)
}

/// The changes in a bridge's inbox.
#[derive(Debug)]
pub struct Changes(Subscription<Box<RawValue>>);

impl Changes {
    /// Waits for the next message. Returns `None` once the connection has ended, or after this end read too slowly. In
    /// the latter case, a new subscription begins with a snapshot. A message that cannot be read at all is skipped.
    pub async fn next(&mut self) -> Option<Delta> {
        loop {
            let message = self.0.next().await?.ok()?;
            match serde_json::from_str(message.get()) {
                Ok(delta) => return Some(delta),
                Err(error) => tracing::debug!(%error, "a message of a bridge was not understood"),
            }
        }
    }
}

struct Sender(OwnedWriteHalf);

impl TransportSenderT for Sender {
    type Error = io::Error;

    async fn send(&mut self, mut message: String) -> Result<(), io::Error> {
        message.push('\n');
        self.0.write_all(message.as_bytes()).await
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.0.shutdown().await
    }
}

struct Receiver(LineReader<OwnedReadHalf>);

impl TransportReceiverT for Receiver {
    type Error = io::Error;

    async fn receive(&mut self) -> Result<ReceivedMessage, io::Error> {
        let line = self.0.next().await.unwrap_or_else(|| Err(io::ErrorKind::UnexpectedEof.into()));
        Ok(ReceivedMessage::Text(line?))
    }
}
