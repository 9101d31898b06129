//! One connection to Copilot's server: messages framed by `Content-Length`, calls and their results, and notifications.
//!
//! Requests from Copilot are left to the clients that registered for them. This client registers for nothing, and
//! replies to nothing: an error could settle a request that is meant for another client.

use std::{collections::BTreeMap, io, time::Duration};

use askbridge_core::dialect::copilot::{CopilotEvent, read_event};
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
    loop {
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
            message = stream.next() => {
                let Some(message) = message else { return Ok(()) };
                let message = message?;
                let Ok(message) = serde_json::from_slice::<LinkMessage<'_>>(&message) else { continue };
                match &message {
                    LinkMessage { id: Some(id), method: None, .. } => {
                        if let Some(told) = id.as_u64().and_then(|id| waiting.remove(&id)) {
                            // Ignore the error: the caller has given up.
                            told.send(result(message)).unwrap_or_default();
                        }
                    }
                    LinkMessage { id: None, method: Some(method), params: Some(params), .. } => {
                        // The channel may be full: waiting stops the reads, so that no event is lost.
                        if let Some(heard) = notification(method, params.get())
                            && tell.send(heard).await.is_err()
                        {
                            return Ok(());
                        }
                    }
                    // Requests of Copilot are not for this client.
                    _ => {}
                }
            }
        }
    }
}

fn result(message: LinkMessage<'_>) -> Result<String> {
    match message.error {
        Some(Failure { code, message }) => Err(CallError::Refused(format!("{code} {message}"))),
        None => Ok(message.result.map(|result| result.get().to_owned()).unwrap_or_default()),
    }
}

fn notification(method: &str, params: &str) -> Option<Notification> {
    match method {
        "session.event" => {
            let SessionEvent { session_id, event } = serde_json::from_str(params).ok()?;
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
