//! Responses that are serialized only as fast as the client reads them: JSON, and server-sent events. For a client that
//! does not read, the server holds one window of the response, not all of it (I6).
//! The content of a response is left to the handlers.

use std::{convert::Infallible, error::Error, io, iter};

use askbridge_core::wire::line;
use axum::{
    BoxError,
    body::{Body, Bytes},
    http::header::CONTENT_TYPE,
    response::{IntoResponse, Response},
};
use bytes::BytesMut;
use futures::{Stream, StreamExt, TryStreamExt, stream};
use serde::Serialize;
use serde_json::ser::Formatter;
use tokio::{task::yield_now, time::timeout};

use crate::limits::{self, REPLY_WINDOW};

/// Shorter pieces are joined up to this length.
const JOINED: usize = 16 * 1024;

/// A value that is serialized again for each window, which skips the bytes of the windows before it. Nearly all values
/// fit into the first window.
pub(super) struct Windows {
    value: Box<dyn Json>,
    written: usize,
    is_done: bool,
}

impl Windows {
    /// Creates the windows of a value. Its JSON must be the same each time that it is serialized.
    pub(super) fn new(value: impl Serialize + Send + 'static) -> Self {
        Windows { value: Box::new(value), written: 0, is_done: false }
    }
}

impl Iterator for Windows {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        if self.is_done {
            return None;
        }
        // The buffer is not allocated at its full size, because most values are far smaller.
        let mut window = Window { skip: self.written, bytes: Vec::new() };
        let is_complete = self.value.write(&mut window);
        self.written += window.bytes.len();
        // A value that fails to serialize ends here. Otherwise it would yield empty windows for ever.
        self.is_done = is_complete || window.bytes.is_empty();
        Some(window.bytes.into())
    }
}

trait Json: Send {
    /// Serializes the value. Returns whether its rest fitted into the window.
    fn write(&self, window: &mut Window) -> bool;
}

impl<T: Serialize + Send> Json for T {
    fn write(&self, window: &mut Window) -> bool {
        self.serialize(&mut serde_json::Serializer::with_formatter(window, OneLine)).is_ok()
    }
}

/// Compact JSON without the characters at which some readers end a line.
struct OneLine;

impl Formatter for OneLine {
    fn write_string_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        writer.write_all(line::escaped(fragment).as_bytes())
    }

    fn write_raw_fragment<W: ?Sized + io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        writer.write_all(line::escaped(fragment).as_bytes())
    }
}

/// Skips the first `skip` bytes, then takes bytes up to the size of a window.
struct Window {
    skip: usize,
    bytes: Vec<u8>,
}

impl io::Write for Window {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let skipped = self.skip.min(bytes.len());
        self.skip -= skipped;
        let rest = &bytes[skipped..];
        let taken = rest.len().min(REPLY_WINDOW - self.bytes.len());
        self.bytes.extend_from_slice(&rest[..taken]);
        // The error stops the serialization: the rest belongs to the next window.
        if taken == rest.len() { Ok(bytes.len()) } else { Err(io::ErrorKind::StorageFull.into()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Joins short pieces, so that a reply of many pieces is sent in few chunks.
pub(super) fn joined(mut pieces: impl Iterator<Item = Bytes>) -> impl Iterator<Item = Bytes> {
    iter::from_fn(move || {
        let first = pieces.next()?;
        if first.len() >= JOINED {
            return Some(first);
        }
        let mut bytes = BytesMut::from(&first[..]);
        while bytes.len() < JOINED
            && let Some(piece) = pieces.next()
        {
            bytes.extend_from_slice(&piece);
        }
        Some(bytes.freeze())
    })
}

/// Returns the pieces of a JSON array. Each value is created only when it is written.
pub(super) fn array(mut values: impl Iterator<Item = Windows>) -> impl Iterator<Item = Bytes> {
    let first = values.next().into_iter().flatten();
    let rest = values.flat_map(|value| iter::once(Bytes::from_static(b",")).chain(value));
    iter::once(Bytes::from_static(b"[")).chain(first).chain(rest).chain([Bytes::from_static(b"]")])
}

/// Returns a body of these pieces.
pub(super) fn body(pieces: impl Iterator<Item = Bytes> + Send + 'static) -> Body {
    Body::from_stream(fair(stream::iter(joined(pieces))).map(Ok::<_, Infallible>))
}

/// Yields to other tasks before each piece. Making a piece can take a while, and the writing loop of a client that
/// reads quickly never waits by itself.
pub(super) fn fair(pieces: impl Stream<Item = Bytes> + Send) -> impl Stream<Item = Bytes> + Send {
    stream::unfold(Box::pin(pieces), async |mut pieces| {
        yield_now().await;
        Some((pieces.next().await?, pieces))
    })
}

/// Returns a response with this value.
pub(super) fn json(value: impl Serialize + Send + 'static) -> Response {
    let mut windows = Windows::new(value);
    let first = windows.next().unwrap_or_default();
    // Nearly all values fit into one window, and get a `Content-Length`.
    let body = if windows.is_done { Body::from(first) } else { body(iter::once(first).chain(windows)) };
    json_of(body)
}

/// Returns a response with this body.
pub(super) fn json_of(body: Body) -> Response {
    ([(CONTENT_TYPE, "application/json")], body).into_response()
}

/// Returns a response of JSON that may take long. After [`limits::KEEP_ALIVE`], it begins with spaces, which JSON allows
/// before a value. An error after that can only end the connection.
pub(super) async fn when_ready<E>(
    response: impl Future<Output = Result<Response, E>> + Send + 'static,
) -> Result<Response, E>
where
    E: Error + Send + Sync + 'static,
{
    let mut response = Box::pin(response);
    if let Ok(ready) = timeout(limits::KEEP_ALIVE, &mut response).await {
        return ready;
    }
    let waiting = stream::unfold(Some(response), async |response| {
        let mut response = response?;
        Some(match timeout(limits::KEEP_ALIVE, &mut response).await {
            Err(_) => (stream::iter([Ok(SPACE)]).boxed(), Some(response)),
            Ok(Ok(ready)) => (ready.into_body().into_data_stream().map_err(BoxError::from).boxed(), None),
            Ok(Err(error)) => (stream::iter([Err(error.into())]).boxed(), None),
        })
    });
    let pieces = stream::iter([Ok(SPACE)]).chain(waiting.flatten());
    Ok(json_of(Body::from_stream(pieces)))
}

const SPACE: Bytes = Bytes::from_static(b" ");

/// One event.
pub(super) struct SseMessage {
    head: String,
    data: Windows,
}

impl SseMessage {
    /// Creates an event without a name. Compact JSON has no line breaks, so the data is one line.
    pub(super) fn new(data: impl Serialize + Send + 'static) -> Self {
        SseMessage { head: "data: ".to_owned(), data: Windows::new(data) }
    }

    /// Adds the event's ID, which a client sends when it reconnects.
    #[must_use]
    pub(super) fn id(mut self, id: &str) -> Self {
        self.head.insert_str(0, &format!("id: {id}\n"));
        self
    }

    /// Adds the event's name.
    #[must_use]
    pub(super) fn event(mut self, event: &str) -> Self {
        self.head.insert_str(0, &format!("event: {event}\n"));
        self
    }

    fn pieces(self) -> impl Iterator<Item = Bytes> {
        joined(iter::once(self.head.into()).chain(self.data).chain([Bytes::from_static(b"\n\n")]))
    }
}

/// A comment, which keeps a connection alive. No blank line follows it: that would end a block without data, of which
/// some readers make an empty event with the last ID (httpx-sse 0.4.3).
const COMMENT: &[u8] = b":\n";

/// Returns a response with these events, and with a comment to keep the connection alive while there are none.
pub(super) fn respond(messages: impl Stream<Item = SseMessage> + Send + 'static) -> Response {
    let pieces = stream::unfold(Box::pin(messages), async |mut messages| {
        let pieces = match timeout(limits::KEEP_ALIVE, messages.next()).await {
            Ok(message) => stream::iter(message?.pieces()).boxed(),
            Err(_) => stream::iter([Bytes::from_static(COMMENT)]).boxed(),
        };
        Some((pieces, messages))
    });
    let body = Body::from_stream(fair(pieces.flatten()).map(Ok::<_, Infallible>));
    ([(CONTENT_TYPE, "text/event-stream")], body).into_response()
}

#[cfg(test)]
mod tests {
    use std::{
        future::{pending, poll_fn},
        pin::Pin,
    };

    use axum::body::{HttpBody, to_bytes};
    use serde_json::{Value, json};
    use tokio::time::Instant;

    use super::*;
    use crate::limits;

    fn concat(pieces: impl Iterator<Item = Bytes>) -> Vec<u8> {
        pieces.flat_map(|piece| piece.to_vec()).collect()
    }

    #[test]
    fn windows_are_the_json_of_the_value() {
        for length in [0, 1, REPLY_WINDOW - 3, REPLY_WINDOW - 2, REPLY_WINDOW - 1, 3 * REPLY_WINDOW] {
            let value: Vec<String> = vec!["x\"\u{7}ü".repeat(length / 11), "y".repeat(length)];
            let windows: Vec<_> = Windows::new(value.clone()).collect();
            assert!(windows.iter().all(|window| window.len() <= REPLY_WINDOW));
            assert_eq!(concat(windows.into_iter()), serde_json::to_vec(&value).unwrap());
        }
        assert_eq!(Windows::new("x".repeat(REPLY_WINDOW - 2)).count(), 1, "it fits exactly");
    }

    #[test]
    fn an_array_has_a_comma_between_values() {
        for count in 0..4 {
            let values = (0..count).map(|number| Windows::new(json!({ "n": number })));
            let read: Vec<Value> = serde_json::from_slice(&concat(array(values))).unwrap();
            assert_eq!(read.len(), count);
        }
    }

    #[test]
    fn values_are_made_when_they_are_written() {
        let made = std::cell::Cell::new(0);
        let values = (0..1000).map(|_| {
            made.set(made.get() + 1);
            Windows::new("x".repeat(JOINED))
        });
        let mut pieces = joined(array(values));
        for taken in 1..10 {
            pieces.next();
            assert!(made.get() <= taken + 1, "{} values are made for {taken} pieces", made.get());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_stream_without_events_has_comments() {
        let start = Instant::now();
        let mut body = respond(stream::pending()).into_body();
        for times in 1..=3 {
            let comment = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx));
            let comment = timeout(limits::WAIT, comment).await.unwrap().unwrap().unwrap();
            assert_eq!(comment.into_data().unwrap(), ":\n");
            assert_eq!(start.elapsed(), limits::KEEP_ALIVE * times);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_response_that_takes_long_begins_with_spaces() {
        let start = Instant::now();
        let pass = |times| timeout(limits::KEEP_ALIVE * times / 2, pending::<()>());
        let after = move |times| async move {
            pass(times).await.unwrap_err();
            Ok::<_, io::Error>(super::json(json!({ "a": 1 })))
        };
        for (times, expected) in [(1, r#"{"a":1}"#), (3, r#" {"a":1}"#), (7, r#"   {"a":1}"#)] {
            let response = when_ready(after(times)).await.unwrap();
            assert_eq!(to_bytes(response.into_body(), usize::MAX).await.unwrap(), expected);
        }
        assert_eq!(start.elapsed(), limits::KEEP_ALIVE * 11 / 2);
        let fails = move |times| async move {
            pass(times).await.unwrap_err();
            Err::<Response, _>(io::Error::other("gone"))
        };
        assert_eq!(when_ready(fails(1)).await.unwrap_err().to_string(), "gone");
        let late = when_ready(fails(3)).await.unwrap();
        assert!(to_bytes(late.into_body(), usize::MAX).await.is_err(), "a body without a value is complete");
    }

    #[tokio::test]
    async fn an_event_is_written_with_its_name_and_its_id() {
        let text = "two\nlines".repeat(2 * limits::REPLY_WINDOW / 9);
        let messages = [SseMessage::new(json!(1)), SseMessage::new(json!(text)).id("e-1").event("name")];
        let body = respond(stream::iter(messages)).into_body();
        let written = to_bytes(body, usize::MAX).await.unwrap();
        let expected = format!("data: 1\n\nevent: name\nid: e-1\ndata: {}\n\n", json!(text));
        assert!(written == expected.as_bytes());
    }
}
