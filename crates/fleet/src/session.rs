//! A session: a stream of bytes in both directions over two subjects of the broker. The messages of each direction are
//! numbered, so that a lost one is noticed, and at most [`limit::WINDOW`] of them are on their way.
//! Opening and finding sessions is left to `gateway.rs` and `persons.rs`.

use std::{
    collections::VecDeque,
    io,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use askbridge_control::rpc::{session::refusal, waiting::read_waiting};
use askbridge_core::desk::Refusal;
use askbridge_os::terminal::printable_line;
use async_nats::{Client, HeaderMap, Message, StatusCode, Subject};
use bytes::{Bytes, BytesMut};
use futures::{StreamExt, channel::mpsc};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, split},
    sync::Semaphore,
    time::timeout,
};

use super::place::REPLIES;
use crate::limits as limit;

/// The header with the number of a message.
pub(super) const NUMBER: &str = "Askbridge-Number";
/// The header with the number of messages that were received before.
const SEEN: &str = "Askbridge-Seen";
/// The header with the letters of a machine's process, where it says that there is no such session.
pub(super) const PROCESS: &str = "Askbridge-Process";
/// The header with the reason for the end of a session.
const END: &str = "Askbridge-End";

/// The messages of the other end. The queue has memory for those that wait alone, since a person has thousands of sessions.
pub(super) type Incoming = mpsc::Receiver<Message>;

/// Returns a queue of messages that are not read yet, which has room for [`limit::UNREAD`].
pub(super) fn queue() -> (mpsc::Sender<Message>, Incoming) {
    // Each sender has room for one more, and there is one.
    mpsc::channel(limit::UNREAD - 1)
}

/// What a message of a session is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Bytes, and their place in the stream.
    Bytes(u64),
    /// A note of how many messages the other end has received.
    Seen(u64),
    /// The end, and why.
    End(String),
    /// The broker's word that nobody got the message of this number.
    Undelivered(u64),
}

/// What is said of a machine that nobody listens for.
const SILENT: &str = "it does not listen at the broker: it has ended, or is cut off";

/// Returns what a message is. `None` for one that no askbridge sends.
pub(super) fn kind(message: &Message) -> Option<Kind> {
    if message.status == Some(StatusCode::NO_RESPONDERS) {
        return message.subject.rsplit_once('.')?.1.parse().ok().map(Kind::Undelivered);
    }
    let headers = message.headers.as_ref()?;
    let number = |name: &str| headers.get(name)?.as_str().parse().ok();
    if let Some(why) = headers.get(END) {
        return Some(Kind::End(why.as_str().to_owned()));
    }
    number(NUMBER).map(Kind::Bytes).or_else(|| number(SEEN).map(Kind::Seen))
}

/// Returns the subject of the replies in a session.
pub(super) fn replies(session: &str) -> Subject {
    format!("{session}.{REPLIES}").into()
}

/// Tells the other end of a session that there is none, or none any more.
pub(super) async fn refuse(client: &Client, subject: Subject, why: &str) {
    refuse_as(client, subject, why, None).await;
}

/// The same, as this process of a machine.
pub(super) async fn refuse_as(client: &Client, subject: Subject, why: &str, process: Option<&str>) {
    let mut headers = HeaderMap::new();
    // The client panics on a header of several lines.
    headers.insert(END, &*printable_line(why));
    if let Some(process) = process {
        headers.insert(PROCESS, process);
    }
    // Without a connection, the other end learns it from the broker: ignore the error.
    drop(client.publish_with_headers(subject, headers, Bytes::new()).await);
}

/// One end of a session.
pub(super) struct Session {
    pub client: Client,
    /// Where this end publishes.
    pub subject: Subject,
    /// What the subjects of the session begin with, if the other end has to be told.
    pub name: Option<String>,
    /// The calls that may turn out to be undelivered.
    calls: Mutex<VecDeque<(u64, Bytes)>>,
    /// Number of messages that were sent.
    sent: AtomicU64,
    /// Permits for messages that may be on their way.
    window: Semaphore,
}

impl Session {
    pub(super) fn new(client: Client, subject: Subject, name: Option<String>) -> Self {
        let window = Semaphore::new(limit::WINDOW);
        Session { client, subject, name, calls: Mutex::default(), sent: AtomicU64::new(0), window }
    }

    /// Carries bytes between this stream and the other end, whose messages are `incoming`, until one of them ends.
    /// Returns why.
    pub(super) async fn carry(&self, stream: impl AsyncRead + AsyncWrite, incoming: Incoming) -> String {
        let (reader, writer) = split(stream);
        let why = tokio::select! {
            why = self.send_all(reader) => why,
            why = self.receive_all(writer, incoming) => match why {
                // It knows.
                Ok(why) => return why,
                Err(why) => why,
            },
        };
        refuse(&self.client, self.subject.clone(), &why).await;
        why
    }

    /// Opens a session: the other end hears of it.
    pub(super) async fn open(&self) -> Result<(), String> {
        self.send(Bytes::new()).await.map_err(|error| error.to_string())
    }

    async fn send_all(&self, mut reader: impl AsyncRead + Unpin) -> String {
        let mut room = limit::SHORT;
        loop {
            // A session mostly waits, and a message may be kept for long, so that neither holds a buffer for the longest.
            let mut bytes = BytesMut::new();
            let read = match room {
                limit::SHORT => read_waiting::<{ limit::SHORT }>(&mut reader, &mut bytes).await,
                _ => {
                    bytes.reserve(room);
                    // The buffer may have more room than that, but the other end ends a session with a larger message.
                    (&mut reader).take(room as u64).read_buf(&mut bytes).await
                }
            };
            room = if bytes.len() < room { limit::SHORT } else { limit::CHUNK };
            let sent = match read {
                Ok(0) => return "it is not needed any more".to_owned(),
                Ok(_) => self.send(bytes.freeze()).await,
                Err(error) => Err(error),
            };
            if let Err(error) = sent {
                return error.to_string();
            }
        }
    }

    async fn send(&self, bytes: Bytes) -> io::Result<()> {
        // The semaphore is never closed, so `acquire` cannot fail. `seen` gives the permit back.
        if let Ok(permit) = self.window.acquire().await {
            permit.forget();
        }
        let number = self.sent.fetch_add(1, Ordering::Relaxed);
        if self.name.is_some() {
            let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
            // The other end has got every message before those of the window, so none of them can be undelivered.
            calls.truncate(limit::WINDOW - 1);
            // Without the rest of its buffer.
            calls.push_front((number, Bytes::copy_from_slice(&bytes)));
        }
        let mut headers = HeaderMap::new();
        headers.insert(NUMBER, number.to_string());
        self.publish(headers, number, bytes).await
    }

    async fn publish(&self, headers: HeaderMap, number: u64, bytes: Bytes) -> io::Result<()> {
        let subject = self.subject.clone();
        match &self.name {
            // If no gateway listens, the broker says so on the reply subject, whose last part tells which message was
            // not delivered.
            Some(name) => {
                let reply = format!("{name}.{number}");
                self.client.publish_with_reply_and_headers(subject, reply, headers, bytes).await
            }
            None => self.client.publish_with_headers(subject, headers, bytes).await,
        }
        .map_err(io::Error::other)
    }

    /// Returns a reply to the call that was sent in an undelivered message, if the message is a whole line.
    fn undelivered(&self, number: u64) -> Option<String> {
        let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, bytes) = calls.iter().find(|(of, _)| *of == number)?;
        let line = std::str::from_utf8(bytes).ok()?.strip_suffix('\n').filter(|line| !line.contains('\n'))?;
        Some(refusal(line, Refusal::Unreached(SILENT.to_owned())) + "\n")
    }

    /// Returns why it ended: `Ok` if the other end says so, `Err` if it has to be told.
    async fn receive_all(
        &self,
        mut writer: impl AsyncWrite + Unpin,
        mut incoming: Incoming,
    ) -> Result<String, String> {
        let (mut received, mut told, mut seen) = (0, 0, 0);
        loop {
            let message = match timeout(limit::SILENCE, incoming.next()).await {
                Ok(Some(message)) => message,
                Ok(None) => return Err("it sends more than is allowed, or the broker is gone".to_owned()),
                Err(_) => return Err("it is silent".to_owned()),
            };
            match kind(&message) {
                Some(Kind::Bytes(number)) if number == received => received += 1,
                Some(Kind::Bytes(_)) => return Err("a message was lost".to_owned()),
                // A peer that confirms more than was sent would widen the window without limit (I6).
                Some(Kind::Seen(count)) if count >= seen && count <= self.sent.load(Ordering::Relaxed) => {
                    self.window.add_permits(usize::try_from(count - seen).unwrap_or_default());
                    seen = count;
                    continue;
                }
                Some(Kind::End(why)) => return Ok(why),
                Some(Kind::Undelivered(number)) => {
                    if let Some(reply) = self.undelivered(number) {
                        writer.write_all(reply.as_bytes()).await.map_err(|error| error.to_string())?;
                        // The session ends here, whether or not this reply arrives.
                        drop(writer.flush().await);
                    }
                    return Ok(SILENT.to_owned());
                }
                Some(Kind::Seen(_)) | None => return Err("a message is not of this protocol".to_owned()),
            }
            // Without a reader, this end is about to end.
            writer.write_all(&message.payload).await.map_err(|error| error.to_string())?;
            if received - told >= limit::SEEN {
                told = received;
                let mut headers = HeaderMap::new();
                headers.insert(SEEN, received.to_string());
                let number = self.sent.load(Ordering::Relaxed);
                self.publish(headers, number, Bytes::new()).await.map_err(|error| error.to_string())?;
            }
        }
    }
}
