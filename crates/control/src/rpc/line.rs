//! A connection that makes one call at a time: it greets the other end, and reads its questions once. Concurrent calls
//! and subscriptions are left to `client.rs`.

use std::io;

use askbridge_core::desk::{MachineName, Record, Refusal, refusal::Detail};
use jsonrpsee::types::ErrorObjectOwned;
use thiserror::Error as ThisError;
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt, split},
    net::UnixStream,
    sync::Semaphore,
    task::spawn_blocking,
};

use super::{
    on_machine::OnMachine,
    protocol::{Listing, OutlineListing, ReadableList, method},
    socket::LineReader,
};
use crate::{
    inbox::{
        BridgeStatus,
        report::{MachineListing, MachineReport},
    },
    limits,
};

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

/// What a connection is read from: a socket, or a stream over a broker.
pub(super) type ReadHalf = Box<dyn AsyncRead + Unpin + Send>;
/// What a connection is written to.
pub(super) type WriteHalf = Box<dyn AsyncWrite + Unpin + Send>;

/// A connection for one call at a time, without subscriptions.
pub(super) struct Line {
    pub(super) reader: LineReader<ReadHalf>,
    pub(super) writer: WriteHalf,
}

impl Line {
    pub(super) fn new(stream: UnixStream) -> Self {
        let (reader, writer) = stream.into_split();
        let reader: ReadHalf = Box::new(reader);
        Line { reader: LineReader::new(reader, limits::MESSAGE), writer: Box::new(writer) }
    }

    /// Returns a connection to the process that holds the connections to other machines, whose lists have the questions of
    /// all of them.
    pub(super) fn to_machines(stream: UnixStream) -> Self {
        let Line { reader, writer } = Line::new(stream);
        Line { reader: reader.with_longest(limits::remote::LISTING), writer }
    }

    /// Returns a connection to another machine, over any stream.
    pub(super) fn over(stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) -> Self {
        let (reader, writer) = split(stream);
        let reader: ReadHalf = Box::new(reader);
        Line { reader: LineReader::new(reader, limits::remote::MESSAGE), writer: Box::new(writer) }
    }

    /// Greets the other end, however long it takes to answer.
    pub(super) async fn greet(&mut self) -> Result<Vec<BridgeStatus>, ConnectError> {
        let reply = self.call(method::STATUS).await?;
        // The peer took our line for a request over HTTP.
        if reply.starts_with("HTTP/") {
            return Err(ConnectError::OlderProtocol);
        }
        read_result(&reply)
    }

    /// Makes the connection that of one of the machines that the other end holds.
    pub(super) async fn select(&mut self, machine: &MachineName) -> Result<(), ConnectError> {
        // The name has no character that JSON escapes.
        let reply =
            self.call_with(method::SELECT, &format!(",\"params\":{{\"name\":\"{machine}\"}}")).await?;
        read_result(&reply)
    }

    /// Greets the bridge at the other end, however long it takes to answer.
    pub(super) async fn greet_bridge(&mut self) -> Result<BridgeStatus, ConnectError> {
        self.greet().await?.pop().ok_or(ConnectError::NotABridge)
    }

    /// Calls a method without parameters, and returns the reply.
    async fn call(&mut self, method: &str) -> Result<String, ConnectError> {
        self.call_with(method, "").await
    }

    /// Calls a method with these further members of the request, and returns the reply.
    async fn call_with(&mut self, method: &str, members: &str) -> Result<String, ConnectError> {
        // A failed write is reported only if nothing can be read either.
        let call = format!("{{\"jsonrpc\":\"2.0\",\"id\":\"hello\",\"method\":\"{method}\"{members}}}\n");
        let written = self.writer.write_all(call.as_bytes()).await;
        // A bridge that is too busy sends a refusal and closes the connection without reading, which can fail the
        // write.
        match self.reader.next().await {
            Some(Ok(reply)) => Ok(reply),
            Some(Err(error)) => Err(error.into()),
            None => Err(written.err().map_or(ConnectError::NotABridge, ConnectError::Io)),
        }
    }

    /// Reads the open questions.
    async fn list(&mut self, depth: Depth) -> Result<ReadableList<Record>, ConnectError> {
        let list = match depth {
            Depth::Outline => method::OUTLINE,
            Depth::Whole => method::LIST,
        };
        let reply = self.call(list).await?;
        // Other bridges are read on other threads meanwhile. A semaphore that is never closed cannot fail.
        let _turn = READERS.acquire().await;
        let questions = spawn_blocking(move || match depth {
            Depth::Outline => read_result::<OutlineListing>(&reply).map(OutlineListing::into_records),
            Depth::Whole => read_result::<Listing>(&reply).map(|listing| listing.questions),
        });
        questions.await.map_err(|_| ConnectError::NotABridge)?
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
            // A busy bridge refuses even the greeting, and yet it is a bridge.
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
    let mut line = Line::new(stream);
    let status = line.greet_bridge().await?;
    if status.protocol == 0 {
        return Err(ConnectError::OlderProtocol);
    }
    Ok((status, line.list(depth).await?))
}

/// Reads the open questions of another machine once, as [`read_once`] does those of a bridge.
pub async fn read_machine_once(
    stream: UnixStream,
    machine: &MachineName,
    depth: Depth,
) -> Result<(Vec<BridgeStatus>, MachineReport, ReadableList<Record>), ConnectError> {
    let mut line = Line::new(stream);
    line.select(machine).await?;
    let statuses = line.greet().await?;
    let report: MachineReport = read_result(&line.call(method::REPORT).await?)?;
    let questions = line.list(depth).await?;
    Ok((statuses.on(machine), report, questions.on(machine)))
}

/// Reads which machines the process at the other end holds, without a greeting: that has the bridges of all of them.
pub async fn read_machine_list(stream: UnixStream) -> Result<MachineListing, ConnectError> {
    read_result(&Line::to_machines(stream).call(method::MACHINES).await?)
}

/// Reads the open questions of all machines that a process holds once, as [`read_once`] does those of a bridge.
pub async fn read_machines_once(
    stream: UnixStream,
    depth: Depth,
) -> Result<(Vec<BridgeStatus>, MachineListing, ReadableList<Record>), ConnectError> {
    let mut line = Line::to_machines(stream);
    let statuses = line.greet().await?;
    let listing = read_result(&line.call(method::MACHINES).await?)?;
    let questions = line.list(depth).await?;
    Ok((statuses, listing, questions))
}

pub(super) fn why(error: &ErrorObjectOwned) -> Refusal {
    let detail = error.data().and_then(|data| serde_json::from_str::<Detail>(data.get()).ok());
    detail.map_or_else(|| Refusal::Other(error.message().to_owned()), Refusal::from)
}
