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
    method,
    on_machine::OnMachine,
    protocol::{Listing, OutlineListing, ReadableList},
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

    /// Makes the connection that of one of the machines that the other end holds, greets that machine, and asks how it is
    /// connected, all in one round trip.
    pub(super) async fn select(
        &mut self,
        machine: &MachineName,
    ) -> Result<(Vec<BridgeStatus>, MachineReport), ConnectError> {
        // The name has no character that JSON escapes.
        let params = format!(",\"params\":{{\"name\":\"{machine}\"}}");
        let calls = [(method::SELECT, params.as_str()), (method::STATUS, ""), (method::REPORT, "")];
        let [selected, statuses, report] = self.calls(calls).await?;
        read_result::<()>(&selected)?;
        Ok((read_result(&statuses)?, read_result(&report)?))
    }

    /// Greets the bridge at the other end, however long it takes to answer.
    pub(super) async fn greet_bridge(&mut self) -> Result<BridgeStatus, ConnectError> {
        self.greet().await?.pop().ok_or(ConnectError::NotABridge)
    }

    /// Calls a method without parameters, and returns the reply.
    async fn call(&mut self, method: &str) -> Result<String, ConnectError> {
        self.calls([(method, "")]).await.map(|[reply]| reply)
    }

    /// Calls these methods at once, each with further members of its request, and returns their replies in this order: the
    /// other end may send them in another one.
    async fn calls<const N: usize>(&mut self, calls: [(&str, &str); N]) -> Result<[String; N], ConnectError> {
        let request = |(method, members)| {
            format!("{{\"jsonrpc\":\"2.0\",\"id\":\"{method}\",\"method\":\"{method}\"{members}}}\n")
        };
        // A failed write is reported only if nothing can be read either.
        let written = self.writer.write_all(calls.map(request).concat().as_bytes()).await;
        let mut replies = [const { None }; N];
        while let Some(next) = replies.iter().position(Option::is_none) {
            // A bridge that is too busy sends a refusal and closes the connection without reading, which can fail the
            // write.
            let reply = match self.reader.next().await {
                Some(reply) => reply?,
                None => return Err(written.err().map_or(ConnectError::NotABridge, ConnectError::Io)),
            };
            let is_to = |called: &str| calls.iter().position(|(method, _)| *method == called);
            let index = match N {
                1 => next,
                // What replies to no call is a refusal of the connection, or no reply at all.
                _ => match called(&reply).and_then(|called| is_to(&called)) {
                    Some(index) => index,
                    None => return Err(read_result::<()>(&reply).err().unwrap_or(ConnectError::NotABridge)),
                },
            };
            replies[index] = Some(reply);
        }
        Ok(replies.map(Option::unwrap_or_default))
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

/// Returns the ID of the call to which this replies.
fn called(reply: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Reply {
        id: String,
    }

    serde_json::from_str(reply).ok().map(|Reply { id }| id)
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
    let (statuses, report) = line.select(machine).await?;
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

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncBufReadExt, BufReader};

    use super::*;
    use crate::rpc::played::soon;

    /// Selects a machine at a process that replies so.
    async fn selected(replies: &str) -> Result<(usize, bool), ConnectError> {
        let (near, far) = UnixStream::pair().expect("sockets");
        let mut line = Line::new(near);
        let (reader, mut writer) = far.into_split();
        let replying = async {
            let mut requests = BufReader::new(reader).lines();
            for _ in 0..3 {
                assert!(requests.next_line().await.expect("a request").is_some());
            }
            writer.write_all(replies.as_bytes()).await.expect("they are read");
            drop(writer);
        };
        let machine = "b".parse().expect("a name");
        let (selected, ()) = tokio::join!(soon(line.select(&machine)), replying);
        selected.map(|(statuses, report)| (statuses.len(), report.connected_at.is_some()))
    }

    const SELECTED: &str = r#"{"jsonrpc":"2.0","id":"machine_select","result":null}"#;
    const STATUSES: &str = r#"{"jsonrpc":"2.0","id":"bridge_status","result":[]}"#;
    const REPORT: &str =
        r#"{"jsonrpc":"2.0","id":"machine_report","result":{"connectedAt":"2026-01-01T00:00:00Z"}}"#;

    #[tokio::test]
    async fn replies_are_told_apart_by_their_calls() {
        for replies in
            [[SELECTED, STATUSES, REPORT], [SELECTED, REPORT, STATUSES], [REPORT, STATUSES, SELECTED]]
        {
            let selected = selected(&(replies.join("\n") + "\n")).await;
            assert!(matches!(selected, Ok((0, true))), "{replies:?}: {selected:?}");
        }
    }

    #[tokio::test]
    async fn a_refusal_is_told_at_once() {
        let busy = crate::rpc::session::too_busy();
        assert!(matches!(selected(&format!("{busy}\n")).await, Err(ConnectError::Busy)));
        let unknown = SELECTED.replace(r#""result":null"#, r#""error":{"code":1,"message":"m"}"#);
        for replies in [format!("{unknown}\n{STATUSES}\n{REPORT}\n"), format!("{SELECTED}\n{STATUSES}\n")] {
            let refused = selected(&replies).await;
            assert!(matches!(refused, Err(ConnectError::NotABridge)), "{replies}: {refused:?}");
        }
    }
}
