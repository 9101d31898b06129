//! A stream of server-sent events, of which only the data is read.

use axum::body::{Body, BodyDataStream, Bytes};
use bytes::BytesMut;
use futures::StreamExt;
use memchr::memchr;
use tokio::time::timeout;

use crate::limits;

/// The events of a response.
pub(super) struct Events {
    body: BodyDataStream,
    /// What was read and is no whole line yet.
    rest: BytesMut,
    lines: Lines,
}

impl Events {
    pub(super) fn new(body: Body) -> Self {
        Events { body: body.into_data_stream(), rest: BytesMut::new(), lines: Lines::default() }
    }

    /// Returns the data of the next event. `None` where the stream has ended, broke off, or is silent for too long.
    /// Dropping the future loses nothing.
    pub(super) async fn next(&mut self) -> Option<Vec<u8>> {
        loop {
            while let Some(end) = memchr(b'\n', &self.rest) {
                let line = self.rest.split_to(end + 1);
                if let Some(data) = self.lines.take(&line) {
                    return Some(data);
                }
            }
            let read = timeout(limits::OPENCODE_SILENCE, self.body.next()).await;
            let bytes: Bytes = read.ok()??.ok()?;
            self.rest.extend_from_slice(&bytes);
            if self.rest.len() > limits::OPENCODE_REPLY && memchr(b'\n', &self.rest).is_none() {
                // The beginning of a line that is too long: what follows belongs to an event that is skipped.
                self.rest.clear();
                self.lines.skip();
            }
        }
    }
}

/// The lines of one event.
#[derive(Default)]
struct Lines {
    data: Vec<u8>,
    has_data: bool,
    is_skipped: bool,
}

impl Lines {
    /// Takes a line, and returns the data if the event ends with it.
    fn take(&mut self, line: &[u8]) -> Option<Vec<u8>> {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.is_empty() {
            let Lines { data, has_data, is_skipped } = std::mem::take(self);
            return (has_data && !is_skipped).then_some(data);
        }
        let data = line.strip_prefix(b"data:")?;
        if self.data.len() + data.len() > limits::OPENCODE_REPLY {
            self.skip();
        }
        if !self.is_skipped {
            if self.has_data {
                self.data.push(b'\n');
            }
            self.has_data = true;
            self.data.extend_from_slice(data.strip_prefix(b" ").unwrap_or(data));
        }
        None
    }

    /// Skips the event that has begun.
    fn skip(&mut self) {
        *self = Lines { is_skipped: true, ..Lines::default() };
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures::stream;

    use super::*;

    async fn read(chunks: Vec<Vec<u8>>) -> Vec<String> {
        let body = Body::from_stream(stream::iter(chunks.into_iter().map(Ok::<_, Infallible>)));
        let (mut events, mut read) = (Events::new(body), Vec::new());
        while let Some(data) = events.next().await {
            read.push(String::from_utf8(data).expect("text"));
        }
        read
    }

    #[tokio::test]
    async fn events_are_read_however_they_are_cut() {
        let text = b": hello\r\n\r\nid: 1\ndata: {\"a\":1}\n\nevent: x\ndata:one\ndata: two\r\n\r\n\ndata: unfinished";
        for size in 1..text.len() {
            let chunks = text.chunks(size).map(<[u8]>::to_vec).collect();
            assert_eq!(read(chunks).await, ["{\"a\":1}", "one\ntwo"], "in pieces of {size}");
        }
    }

    #[tokio::test]
    async fn an_event_that_is_too_long_is_skipped_alone() {
        let long = vec![b'x'; limits::OPENCODE_REPLY / 2];
        let mut chunks = vec![b"data: ".to_vec()];
        chunks.extend([long.clone(), long.clone(), long.clone(), b"\n\ndata: next\n\n".to_vec()]);
        assert_eq!(read(chunks).await, ["next"]);
        // As one event of several lines, too.
        let line = [b"data: ".to_vec(), long, b"\n".to_vec()].concat();
        let chunks = vec![line.clone(), line.clone(), line, b"\ndata: next\n\n".to_vec()];
        assert_eq!(read(chunks).await, ["next"]);
    }
}
