//! One connection to Copilot's server: messages framed by `Content-Length`, calls and their results, and notifications.
//!
//! Requests from Copilot are left to the clients that registered for them. This client registers for nothing, and
//! replies to nothing: an error could settle a request that is meant for another client.

use std::{
    collections::{BTreeMap, VecDeque},
    io,
    time::Duration,
};

use askbridge_core::{
    dialect::copilot::{CopilotEvent, Voice, read_event},
    question::Said,
};
use futures::{SinkExt, StreamExt};
use memchr::memmem;
use serde::Deserialize;
use serde_json::{Value as Json, json, value::RawValue};
use thiserror::Error;
use tokio::{
    net::TcpStream,
    sync::{mpsc, oneshot},
    task::AbortHandle,
    time::timeout,
};
use tokio_util::{
    bytes::{Buf, BufMut, BytesMut},
    codec::{Decoder, Encoder, Framed},
};

use crate::limits;

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum CallError {
    /// Copilot returned an error.
    #[error("{0}")]
    Refused(String),
    /// The connection broke, or Copilot did not reply in time.
    #[error("{0}")]
    Lost(String),
}

type Result<T, E = CallError> = std::result::Result<T, E>;

/// A notification of Copilot.
#[derive(Debug)]
pub(super) enum Notification {
    /// An event of a session.
    Event(String, CopilotEvent),
    /// The session that the terminal shows.
    Foreground(String),
    /// The agent says or does something.
    Said(Said<'static>),
}

struct Call {
    method: &'static str,
    params: Json,
    told: oneshot::Sender<Result<String>>,
}

/// Calls over one connection. Dropping the link closes the connection.
#[derive(Debug)]
pub(super) struct Link {
    calls: mpsc::Sender<Call>,
    task: AbortHandle,
}

impl Drop for Link {
    fn drop(&mut self) {
        // The task may wait for room in the channel of notifications, and would not notice the end of the link.
        self.task.abort();
    }
}

impl Link {
    /// Returns a link over this connection, and the channel of Copilot's notifications, which ends with the
    /// connection.
    pub(super) fn over(stream: TcpStream) -> (Self, mpsc::Receiver<Notification>) {
        let (calls, called) = mpsc::channel(limits::ATTACH_CALLS);
        let (tell, heard) = mpsc::channel(limits::ATTACH_CALLS);
        let task = tokio::spawn(async move {
            if let Err(error) = serve(Framed::new(stream, Frames::default()), called, tell).await {
                tracing::debug!(%error, "the connection to Copilot ended");
            }
        });
        (Link { calls, task: task.abort_handle() }, heard)
    }

    /// Calls a method, and returns its result as JSON.
    pub(super) async fn call(&self, method: &'static str, params: Json) -> Result<String> {
        self.call_within(limits::ATTACH_CALL, method, params).await
    }

    /// Calls a method with this timeout, and returns its result as JSON.
    pub(super) async fn call_within(
        &self,
        most: Duration,
        method: &'static str,
        params: Json,
    ) -> Result<String> {
        let (told, result) = oneshot::channel();
        let lost = |why: &str| CallError::Lost(format!("{method}: {why}"));
        let calling = async {
            let call = Call { method, params, told };
            self.calls.send(call).await.map_err(|_| lost("the connection has ended"))?;
            result.await.map_err(|_| lost("the connection has ended"))?
        };
        timeout(most, calling).await.map_err(|_| lost("no reply in time"))?
    }
}

/// A message of Copilot's: a response, or a notification. Requests have both an ID and a method.
#[derive(Deserialize)]
struct LinkMessage<'a> {
    id: Option<Json>,
    method: Option<String>,
    #[serde(borrow)]
    params: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
    error: Option<Failure>,
}

#[derive(Deserialize)]
struct Failure {
    code: i64,
    #[serde(default)]
    message: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct SessionEvent<'a> {
    session_id: String,
    #[serde(borrow)]
    event: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Lifecycle {
    session_id: String,
    #[serde(rename = "type")]
    kind: String,
}

async fn serve(
    mut stream: Framed<TcpStream, Frames>,
    mut calls: mpsc::Receiver<Call>,
    tell: mpsc::Sender<Notification>,
) -> io::Result<()> {
    let (mut waiting, mut last) = (BTreeMap::new(), 0_u64);
    let (mut ahead, mut voice) = (ReadAhead::default(), Voice::default());
    loop {
        // Whoever takes the notifications may be waiting for a response, which is behind more of them.
        let is_awaited = waiting.values().any(|told: &oneshot::Sender<_>| !told.is_closed());
        tokio::select! {
            call = calls.recv() => {
                let Some(Call { method, params, told }) = call else { return Ok(()) };
                // Calls whose callers have given up would stay in the map if Copilot never replies.
                waiting.retain(|_, told: &mut oneshot::Sender<Result<String>>| !told.is_closed());
                last += 1;
                waiting.insert(last, told);
                let request = json!({ "jsonrpc": "2.0", "id": last, "method": method, "params": params });
                stream.send(request.to_string().into_bytes()).await?;
            }
            // Otherwise a full channel stops the reads, so that no event is lost.
            message = stream.next(), if is_awaited || ahead.is_empty() => {
                let Some(message) = message else { return Ok(()) };
                let text = message?;
                let Ok(message) = serde_json::from_slice::<LinkMessage<'_>>(&text) else { continue };
                match &message {
                    LinkMessage { id: Some(id), method: None, .. } => {
                        if let Some(told) = id.as_u64().and_then(|id| waiting.remove(&id)) {
                            // Ignore the error: the caller has given up.
                            told.send(result(message)).unwrap_or_default();
                        }
                    }
                    LinkMessage { id: None, method: Some(method), params: Some(params), .. } => {
                        if let Some(heard) = notification(method, params.get(), &mut voice) {
                            ahead.push(heard, text.len())?;
                        }
                    }
                    // Requests of Copilot are not for this client.
                    _ => {}
                }
            }
            room = tell.reserve(), if !ahead.is_empty() => match (room, ahead.pop()) {
                (Ok(room), Some(heard)) => room.send(heard),
                _ => return Ok(()),
            },
        }
    }
}

/// The notifications for which the channel has no room yet, each with the length of its message.
#[derive(Default)]
struct ReadAhead {
    notifications: VecDeque<(Notification, usize)>,
    bytes: usize,
}

impl ReadAhead {
    fn is_empty(&self) -> bool {
        self.notifications.is_empty()
    }

    fn push(&mut self, heard: Notification, length: usize) -> io::Result<()> {
        // The first one always has a place: no call need wait for it.
        if !self.is_empty() && self.bytes + length > limits::COPILOT_AHEAD {
            // What led to a question is worth less than the connection.
            if matches!(heard, Notification::Said(_)) {
                return Ok(());
            }
            return Err(invalid("too many notifications came before a response"));
        }
        self.bytes += length;
        self.notifications.push_back((heard, length));
        Ok(())
    }

    fn pop(&mut self) -> Option<Notification> {
        let (heard, length) = self.notifications.pop_front()?;
        self.bytes -= length;
        Some(heard)
    }
}

fn result(message: LinkMessage<'_>) -> Result<String> {
    match message.error {
        Some(Failure { code, message }) => Err(CallError::Refused(format!("{code} {message}"))),
        None => Ok(message.result.map(|result| result.get().to_owned()).unwrap_or_default()),
    }
}

fn notification(method: &str, params: &str, voice: &mut Voice) -> Option<Notification> {
    match method {
        "session.event" => {
            let SessionEvent { session_id, event } = serde_json::from_str(params).ok()?;
            if let Some(said) = voice.said(&session_id, event.get()) {
                return Some(Notification::Said(said));
            }
            Some(Notification::Event(session_id, read_event(event.get()))).filter(|heard| {
                // Most events are texts of the model, which would fill the channel.
                !matches!(heard, Notification::Event(_, CopilotEvent::Other))
            })
        }
        "session.lifecycle" => {
            let Lifecycle { session_id, kind } = serde_json::from_str(params).ok()?;
            (kind == "session.foreground").then_some(Notification::Foreground(session_id))
        }
        _ => None,
    }
}

/// The codec: messages behind a head that has their length.
#[derive(Debug, Default)]
pub(super) struct Frames {
    /// The length of the message whose head was read.
    length: Option<usize>,
}

/// The end of the head.
const END: &[u8] = b"\r\n\r\n";

impl Decoder for Frames {
    type Item = BytesMut;
    type Error = io::Error;

    fn decode(&mut self, bytes: &mut BytesMut) -> io::Result<Option<BytesMut>> {
        let length = match self.length {
            Some(length) => length,
            None => {
                let Some(end) = memmem::find(bytes, END) else {
                    // A peer that never ends a head must not fill the memory.
                    return match bytes.len() > limits::COPILOT_HEAD {
                        true => Err(invalid("the head of a message is too long")),
                        false => Ok(None),
                    };
                };
                let length = length(&bytes[..end])?;
                bytes.advance(end + END.len());
                *self.length.insert(length)
            }
        };
        if bytes.len() < length {
            return Ok(None);
        }
        self.length = None;
        Ok(Some(bytes.split_to(length)))
    }
}

impl Encoder<Vec<u8>> for Frames {
    type Error = io::Error;

    fn encode(&mut self, message: Vec<u8>, bytes: &mut BytesMut) -> io::Result<()> {
        bytes.put_slice(format!("Content-Length: {}\r\n\r\n", message.len()).as_bytes());
        bytes.put_slice(&message);
        Ok(())
    }
}

fn length(head: &[u8]) -> io::Result<usize> {
    let head = std::str::from_utf8(head).map_err(|_| invalid("the head of a message is not text"))?;
    let lines = head.split("\r\n").filter_map(|line| line.split_once(':'));
    let mut lengths = lines.filter(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let length = lengths.next().and_then(|(_, length)| length.trim().parse().ok());
    let length = length.ok_or_else(|| invalid("the head of a message has no length"))?;
    if length > limits::COPILOT_MESSAGE {
        return Err(invalid("a message is too long"));
    }
    Ok(length)
}

fn invalid(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

#[cfg(test)]
mod tests {
    use askbridge_control::rpc::played::soon;
    use tokio::net::TcpListener;

    use super::*;
    use crate::limits;

    fn decode(text: &[u8], size: usize) -> io::Result<Vec<String>> {
        let (mut frames, mut bytes, mut messages) = (Frames::default(), BytesMut::new(), Vec::new());
        for piece in text.chunks(size) {
            bytes.put_slice(piece);
            while let Some(message) = frames.decode(&mut bytes)? {
                messages.push(String::from_utf8(message.to_vec()).expect("text"));
            }
        }
        Ok(messages)
    }

    #[test]
    fn messages_are_read_however_they_are_cut() {
        let text = b"Content-Length: 2\r\n\r\n{}content-type: x\r\ncontent-length:3\r\n\r\n[1]Content-Length: 0\r\n\r\n";
        for size in 1..text.len() {
            assert_eq!(decode(text, size).expect("messages"), ["{}", "[1]", ""], "in pieces of {size}");
        }
    }

    /// Returns a link to a Copilot that waits for `calls` calls, sends these notifications, and responds to the calls.
    async fn played(calls: u64, notifications: Vec<String>) -> (Link, mpsc::Receiver<Notification>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        tokio::spawn(async move {
            let (stream, _) = listener.accept().await?;
            let mut stream = Framed::new(stream, Frames::default());
            for _ in 0..calls {
                stream.next().await;
            }
            for session in notifications {
                let params = json!({ "type": "session.foreground", "sessionId": session });
                let text = json!({ "method": "session.lifecycle", "params": params }).to_string();
                stream.send(text.into_bytes()).await?;
            }
            for id in 1..=calls {
                stream.send(json!({ "id": id, "result": id }).to_string().into_bytes()).await?;
            }
            // The connection stays open until the link ends.
            stream.next().await;
            io::Result::Ok(())
        });
        Link::over(TcpStream::connect(address).await.expect("a connection"))
    }

    async fn sessions(heard: &mut mpsc::Receiver<Notification>, count: usize) -> Vec<String> {
        let mut sessions = Vec::new();
        while sessions.len() < count {
            match soon(heard.recv()).await {
                Some(Notification::Foreground(session)) => sessions.push(session),
                other => panic!("{other:?} after {sessions:?}"),
            }
        }
        sessions
    }

    #[tokio::test]
    async fn a_response_is_read_though_nobody_takes_the_notifications_before_it() {
        let sent: Vec<_> = (0..3 * limits::ATTACH_CALLS).map(|number| number.to_string()).collect();
        let (link, mut heard) = played(1, sent.clone()).await;
        assert_eq!(link.call("session.resume", json!({})).await, Ok("1".to_owned()));
        assert_eq!(sessions(&mut heard, sent.len()).await, sent);
    }

    /// Short notifications that fill the channel, and so many of a length that not all can be read ahead.
    fn flood() -> Vec<String> {
        let long = |number| format!("{number}{}", "x".repeat(limits::COPILOT_AHEAD / 8));
        (0..limits::ATTACH_CALLS).map(|number| number.to_string()).chain((0..9).map(long)).collect()
    }

    #[tokio::test]
    async fn a_flood_before_a_response_ends_the_connection() {
        let (link, _heard) = played(1, flood()).await;
        let lost = link.call("session.resume", json!({})).await.expect_err("the connection ends");
        assert_eq!(lost, CallError::Lost("session.resume: the connection has ended".to_owned()));
    }

    #[tokio::test]
    async fn without_a_call_the_reads_wait_and_no_notification_is_lost() {
        let (_link, mut heard) = played(0, flood()).await;
        assert!(sessions(&mut heard, flood().len()).await == flood(), "all of them, in their order");
    }

    #[test]
    fn a_message_is_written_with_its_length() {
        let mut bytes = BytesMut::new();
        Frames::default().encode(b"{\"a\":1}".to_vec(), &mut bytes).expect("room");
        assert_eq!(&bytes[..], b"Content-Length: 7\r\n\r\n{\"a\":1}");
    }

    #[test]
    fn heads_without_a_length_or_beyond_the_limits_are_refused() {
        let long = format!("Content-Length: {}\r\n\r\n", limits::COPILOT_MESSAGE + 1);
        let endless = vec![b'x'; limits::COPILOT_HEAD + 1];
        for text in
            [&b"HTTP/1.1 200 OK\r\n\r\n"[..], b"Content-Length: -1\r\n\r\n", long.as_bytes(), &endless]
        {
            assert!(decode(text, 64).is_err(), "{:?}", String::from_utf8_lossy(text));
        }
    }
}
