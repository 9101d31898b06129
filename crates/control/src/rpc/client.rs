//! The client of the control protocol: calls to an inbox's socket, and subscriptions to its changes.
//!
//! Once a reply says that the call succeeded, its content is read leniently: a bridge of another version must not make
//! an answer that the agent received look lost (I11).

use std::{io, sync::Arc};

use askbridge_core::{
    desk::{IdPrefix, LostQuestion, MachineName, QuestionId, Record, Refusal, Submission},
    question::{Context, Provenance, Question, image::from_base64, input::AnswerInput},
    wire,
};
use jsonrpsee::core::{
    client::{
        Client as RpcClient, ClientBuilder, ClientT, Error, ReceivedMessage, Subscription,
        SubscriptionClientT, SubscriptionCloseReason, TransportReceiverT, TransportSenderT,
    },
    params::ObjectParams,
};
use serde::Serialize;
use serde_json::value::RawValue;
use thiserror::Error as ThisError;
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt},
    net::UnixStream,
};

pub use super::line::{
    ConnectError, Depth, read_machine_list, read_machine_once, read_machines_once, read_once,
};
use super::{
    history::{HistoryListing, HistoryParams},
    line::{Line, ReadHalf, WriteHalf, why},
    lookup::ImagePiece,
    method,
    on_machine::OnMachine,
    protocol::{CallReply, Delta, Listing, LostListing},
    socket::LineReader,
};
use crate::{
    inbox::{
        BridgeStatus, PastQuestions,
        report::{MachineListing, MachineReport},
    },
    limits,
};

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

/// A connection to a bridge's inbox, or to that of another machine.
#[derive(Debug)]
pub struct Client {
    client: RpcClient,
    /// A holder of a long connection takes it: each heartbeat replaces the list of bridges.
    pub(crate) greeting: Vec<BridgeStatus>,
    /// The name of the other machine, which is put before the IDs that it sends, and removed from those sent to it.
    machine: Option<MachineName>,
}

/// What the first line of `askbridge dial` begins with: the version of the protocol and of the program follow.
pub const DIAL: &str = "askbridge-dial ";

/// Reads lines of the other end until one says that it is an `askbridge dial`, and greets it. The other lines are of a
/// shell that greets its user; `skips` returns whether one more may be skipped.
pub async fn connect_dial(
    stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
    mut skips: impl FnMut(&str) -> bool,
) -> Result<(Client, String), ConnectError> {
    let mut line = Line::over(stream);
    let version = loop {
        let text = match line.reader.next().await.ok_or(ConnectError::NotABridge)? {
            // A greeting in another encoding is skipped as well.
            Err(error) if error.kind() == io::ErrorKind::InvalidData => String::new(),
            text => text?,
        };
        // A shell may write something before the greeting on the same line, such as a window title.
        match text.trim_end().rsplit_once(DIAL).and_then(|(_, rest)| rest.split_once(' ')) {
            Some((_, version)) => break version.to_owned(),
            None if skips(&text) => {}
            None => return Err(ConnectError::NotABridge),
        }
    };
    let greeting = line.greet().await?;
    Ok((Client::over(line, greeting, None), version))
}

impl Client {
    pub(super) fn over(line: Line, greeting: Vec<BridgeStatus>, machine: Option<MachineName>) -> Self {
        let client = ClientBuilder::default()
            .request_timeout(limits::WAIT)
            .max_buffer_capacity_per_subscription(limits::MESSAGES)
            .build_with_tokio(Sender(line.writer), Receiver(line.reader));
        Client { client, greeting, machine }
    }

    /// Greets the bridge at the other end, without a timeout.
    pub async fn connect(stream: UnixStream) -> Result<Self, ConnectError> {
        let mut line = Line::new(stream);
        let greeting = line.greet_bridge().await?;
        Ok(Self::over(line, vec![greeting], None))
    }

    /// Greets the process that holds the connection to another machine, and returns how that is connected now. The IDs of
    /// its questions begin with the machine's name from here on.
    pub async fn connect_machine(
        stream: UnixStream,
        machine: MachineName,
    ) -> Result<(Self, MachineReport), ConnectError> {
        let mut line = Line::new(stream);
        let (greeting, report) = line.select(&machine).await?;
        Ok((Self::over(line, greeting.on(&machine), Some(machine)), report))
    }

    /// Greets the process that holds the connections to other machines, for the questions of all of them.
    pub async fn connect_machines(stream: UnixStream) -> Result<Self, ConnectError> {
        let mut line = Line::to_machines(stream);
        let greeting = line.greet().await?;
        Ok(Self::over(line, greeting, None))
    }

    /// Returns how the bridges described themselves when they were greeted: one of them, or all of a machine.
    pub fn greeting(&self) -> &[BridgeStatus] {
        &self.greeting
    }

    /// Returns whether the connection is still open, as far as is known.
    pub fn is_connected(&self) -> bool {
        self.client.is_connected()
    }

    /// Asks the bridges of a machine to describe themselves again. A stopped bridge does not reply.
    pub async fn statuses(&self) -> Result<Vec<BridgeStatus>, CallError> {
        let statuses = self.call::<Vec<BridgeStatus>>(method::STATUS, ObjectParams::new()).await?;
        let mut statuses = self.here(statuses.value.ok_or(CallError::Gone)?);
        // They are kept for as long as the connection.
        statuses.shrink_to_fit();
        Ok(statuses)
    }

    /// Asks how a machine is connected. If the caller knows the report of this revision, the reply comes with the next
    /// revision.
    pub async fn report(&self, known: Option<u64>) -> Result<MachineReport, CallError> {
        let report: CallReply<MachineReport> =
            self.call(method::REPORT, params([("known", json(&known))])).await?;
        report.value.ok_or(CallError::Gone)
    }

    /// Asks which other machines the process at the other end holds the connections to. If the caller knows the listing of
    /// this revision, the reply comes with the next revision.
    pub async fn machine_list(&self, known: Option<u64>) -> Result<MachineListing, CallError> {
        let listing = self.call(method::MACHINES, params([("known", json(&known))])).await?;
        listing.value.ok_or(CallError::Gone)
    }

    /// Reports to the bridge that a person is looking at the questions now.
    pub async fn watch(&self) -> Result<(), CallError> {
        self.call::<()>(method::WATCH, ObjectParams::new()).await.map(drop)
    }

    /// Returns one question, by its ID or a prefix of it.
    pub async fn get(&self, typed: &IdPrefix) -> Result<CallReply<Record>, CallError> {
        self.record(method::GET, params([("id", json(&self.there(typed).to_string()))])).await
    }

    /// Returns what led to a question. It is empty if that is not known.
    pub async fn context(&self, id: &QuestionId) -> Result<Context, CallError> {
        let id = self.there(&IdPrefix::from(id));
        let context: CallReply<Context> =
            self.call(method::CONTEXT, params([("id", json(&id.to_string()))])).await?;
        Ok(context.value.unwrap_or_default())
    }

    /// Returns the data of an image of a question. The images are numbered from 1.
    ///
    /// # Errors
    /// `NotFound` if there is no such image, or not any more.
    pub async fn image(&self, id: &QuestionId, number: usize) -> Result<Vec<u8>, CallError> {
        let id = self.there(&IdPrefix::from(id)).to_string();
        let mut data: Vec<u8> = Vec::new();
        loop {
            let named = [("id", json(&id)), ("image", json(&number)), ("from", json(&data.len()))];
            let reply: CallReply<ImagePiece> = self.call(method::IMAGE, params(named)).await?;
            let piece = reply.value.ok_or(CallError::Gone)?;
            let more = from_base64(&piece.data).filter(|more| !more.is_empty()).ok_or(CallError::Gone)?;
            data.extend(more);
            match data.len() {
                length if length > limits::IMAGE => return Err(CallError::Gone),
                length if length >= piece.bytes => return Ok(data),
                _ => {}
            }
        }
    }

    /// Returns the questions that were settled last and that the bridge still remembers, latest first.
    pub async fn settled(&self, limit: usize) -> Result<Vec<Arc<Record>>, CallError> {
        let listing: CallReply<Listing> =
            self.call(method::SETTLED, params([("limit", json(&limit))])).await?;
        Ok(self.here(listing.value.map(|listing| listing.questions).unwrap_or_default()).items)
    }

    /// Returns the questions that were lost with their bridges, the latest first.
    pub async fn lost(&self) -> Result<Vec<LostQuestion>, CallError> {
        let listing: CallReply<LostListing> = self.call(method::LOST, ObjectParams::new()).await?;
        Ok(self.here(listing.value.map(|listing| listing.questions).unwrap_or_default()))
    }

    /// Returns questions of the past, the latest first.
    pub async fn past(&self, params: &HistoryParams) -> Result<PastQuestions, CallError> {
        let mut object = ObjectParams::new();
        for (name, value) in
            serde_json::to_value(params).ok().iter().filter_map(|value| value.as_object()).flatten()
        {
            object.insert(name, value).unwrap_or_default();
        }
        let listing: CallReply<HistoryListing> = self.call(method::HISTORY, object).await?;
        Ok(match listing.value {
            Some(HistoryListing { questions, missing, .. }) => {
                PastQuestions { questions: self.here(questions), missing }
            }
            None => PastQuestions::default(),
        })
    }

    /// Submits to a question, and waits until its agent has read the answer.
    pub async fn submit(
        &self,
        id: &QuestionId,
        submission: Submission,
        by: Provenance,
    ) -> Result<CallReply<Record>, CallError> {
        // The other machine does not know the name that it has here.
        let own = if self.machine.is_some() { id.own() } else { id.clone() };
        let (id, by) = (("id", json(&own)), ("by", json(&by)));
        match submission {
            Submission::Answer { answer, seen } => {
                let answer = ("answer", json(&AnswerInput::from(answer)));
                self.record(method::ANSWER, params([id, answer, ("seen", json(&seen)), by])).await
            }
            Submission::Reject(reason) => {
                let reason = ("reason", json(&reason));
                self.record(method::REJECT, params([id, reason, by])).await
            }
            Submission::Extend(time) => {
                // The protocol refuses zero.
                let milliseconds = u64::try_from(time.as_millis()).unwrap_or(u64::MAX).max(1);
                self.record(method::EXTEND, params([id, ("milliseconds", json(&milliseconds))])).await
            }
            Submission::Later(time) => {
                let milliseconds = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
                self.record(method::LATER, params([id, ("milliseconds", json(&milliseconds))])).await
            }
        }
    }

    /// Asks a question that no connection holds, or finds the one that was asked under the same key.
    pub async fn keep(&self, question: &Question, key: Option<&str>) -> Result<CallReply<Record>, CallError> {
        self.record(method::KEEP, params([("question", json(question)), ("key", json(&key))])).await
    }

    /// Waits for the outcome of such a question, for [`limits::OUTCOME`] at most, and returns the question as it is then. It
    /// is open if the time is over, or if the inbox ends.
    pub async fn outcome(&self, id: &QuestionId) -> Result<CallReply<Record>, CallError> {
        let milliseconds = u64::try_from(limits::OUTCOME.as_millis()).unwrap_or(u64::MAX);
        self.record(method::OUTCOME, params([("id", json(id)), ("milliseconds", json(&milliseconds))])).await
    }

    /// Subscribes to the changes.
    pub async fn subscribe(&self) -> Result<Changes, CallError> {
        let subscribed = self.client.subscribe(method::SUBSCRIBE, ObjectParams::new(), method::UNSUBSCRIBE);
        Ok(Changes { subscription: subscribed.await.map_err(refused)?, machine: self.machine.clone() })
    }

    /// Returns a question's ID in the form that the other end uses.
    fn there(&self, typed: &IdPrefix) -> IdPrefix {
        if self.machine.is_some() { typed.own() } else { typed.clone() }
    }

    /// Returns the other end's reply, with the names that are used here.
    fn here<T: OnMachine>(&self, said: T) -> T {
        match &self.machine {
            Some(machine) => said.on(machine),
            None => said,
        }
    }

    async fn record(&self, method: &str, params: ObjectParams) -> Result<CallReply<Record>, CallError> {
        let reply = self.call::<Record>(method, params).await;
        let reply = reply.map(|reply| CallReply { value: reply.value.map(|record| self.here(record)) });
        reply.map_err(|error| match error {
            CallError::Refused(refusal) => CallError::Refused(self.here(refusal)),
            CallError::Gone => CallError::Gone,
        })
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
        // The value is JSON already, so that this cannot fail.
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

/// The changes in a bridge's inbox.
#[derive(Debug)]
pub struct Changes {
    subscription: Subscription<Box<RawValue>>,
    machine: Option<MachineName>,
}

impl Changes {
    /// Waits for the next message. Returns `None` once the connection has ended, or after this end read too slowly. In
    /// the latter case, a new subscription begins with a snapshot. A message that cannot be read at all is skipped.
    pub async fn next(&mut self) -> Option<Delta> {
        loop {
            let message = self.subscription.next().await?.ok()?;
            match serde_json::from_str::<Delta>(message.get()) {
                Ok(mut delta) => {
                    if let Some(machine) = &self.machine {
                        delta.questions = delta.questions.on(machine);
                    }
                    return Some(delta);
                }
                Err(error) => tracing::debug!(%error, "a message of a bridge was not understood"),
            }
        }
    }

    /// Returns whether messages were lost, because this end read too slowly.
    pub fn have_lost(&self) -> bool {
        matches!(self.subscription.close_reason(), Some(SubscriptionCloseReason::Lagged))
    }
}

struct Sender(WriteHalf);

impl TransportSenderT for Sender {
    type Error = io::Error;

    async fn send(&mut self, message: String) -> Result<(), io::Error> {
        self.0.write_all(&wire::line::line(message)).await
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.0.shutdown().await
    }
}

struct Receiver(LineReader<ReadHalf>);

impl TransportReceiverT for Receiver {
    type Error = io::Error;

    async fn receive(&mut self) -> Result<ReceivedMessage, io::Error> {
        let line = self.0.next().await.unwrap_or_else(|| Err(io::ErrorKind::UnexpectedEof.into()));
        Ok(ReceivedMessage::Text(line?))
    }
}
