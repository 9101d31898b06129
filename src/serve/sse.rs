//! Server-sent events, written as the connection takes them.

use std::{convert::Infallible, iter};

use axum::{
    body::{Body, Bytes},
    http::header::CONTENT_TYPE,
    response::{IntoResponse, Response},
};
use futures::{Stream, StreamExt, stream};
use serde::Serialize;
use tokio::time::timeout;

use super::window::{Windows, fair, joined};
use crate::limits;

/// One event.
pub(super) struct SseMessage {
    head: String,
    data: Windows,
}

impl SseMessage {
    /// Returns an event without a name. JSON has no line breaks, so the data is one line.
    pub(super) fn new(data: impl Serialize + Send + 'static) -> Self {
        SseMessage { head: "data: ".to_owned(), data: Windows::new(data) }
    }

    /// Adds the event's ID, with which a client that reconnects says where it was.
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

/// Returns a response of these events, with a comment now and then while there are none.
pub(super) fn respond(messages: impl Stream<Item = SseMessage> + Send + 'static) -> Response {
    let pieces = stream::unfold(Box::pin(messages), async |mut messages| {
        let pieces = match timeout(limits::KEEP_ALIVE, messages.next()).await {
            Ok(message) => stream::iter(message?.pieces()).boxed(),
            Err(_) => stream::iter([Bytes::from_static(b":\n\n")]).boxed(),
        };
        Some((pieces, messages))
    });
    let body = Body::from_stream(fair(pieces.flatten()).map(Ok::<_, Infallible>));
    ([(CONTENT_TYPE, "text/event-stream")], body).into_response()
}

#[cfg(test)]
mod tests {
    use std::{future::poll_fn, pin::Pin};

    use axum::body::{HttpBody, to_bytes};
    use serde_json::json;
    use tokio::time::Instant;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_stream_without_events_has_comments() {
        let start = Instant::now();
        let mut body = respond(stream::pending()).into_body();
        for times in 1..=3 {
            let comment = poll_fn(|cx| Pin::new(&mut body).poll_frame(cx));
            let comment = timeout(limits::WAIT, comment).await.unwrap().unwrap().unwrap();
            assert_eq!(comment.into_data().unwrap(), ":\n\n");
            assert_eq!(start.elapsed(), limits::KEEP_ALIVE * times);
        }
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
