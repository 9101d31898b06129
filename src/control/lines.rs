//! JSON-RPC over a stream of bytes: one message a line, as ACP has it on stdio.

use std::io::{self, ErrorKind};

use bytes::BytesMut;
use memchr::memchr;
use rustix::net::{Shutdown, shutdown};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{UnixStream, unix::OwnedReadHalf},
    sync::OwnedSemaphorePermit,
    time::{Instant, timeout_at},
};

use super::{
    budget::Budgets,
    session::{Incoming, Replies, Requests},
};
use crate::limits;

/// Bytes that are read at once.
const READ: usize = 4096;

/// The lines that a peer sends.
#[derive(Debug)]
pub struct LineReader<R> {
    reader: R,
    buffer: BytesMut,
    /// How many bytes of the buffer were searched for the end of a line.
    searched: usize,
    longest: usize,
}

impl<R: AsyncRead + Unpin + Send> LineReader<R> {
    /// Reads lines of up to so many bytes.
    pub fn new(reader: R, longest: usize) -> Self {
        LineReader { reader, buffer: BytesMut::new(), searched: 0, longest }
    }

    /// Returns the next line, without its end, or `None` at the end of the stream. Dropping the future loses nothing.
    ///
    /// # Errors
    /// Those of the stream; `InvalidData` for a line that is too long or no UTF-8.
    pub async fn next(&mut self) -> Option<io::Result<String>> {
        loop {
            match self.take() {
                Some(line) => return Some(line),
                None if self.buffer.len() > self.longest => return Some(Err(too_long())),
                None => {}
            }
            match self.read().await {
                Ok(0) if self.buffer.is_empty() => return None,
                Ok(0) => return Some(Err(ErrorKind::UnexpectedEof.into())),
                Ok(_) => {}
                Err(error) => return Some(Err(error)),
            }
        }
    }

    async fn read(&mut self) -> io::Result<usize> {
        self.buffer.reserve(READ);
        self.reader.read_buf(&mut self.buffer).await
    }

    /// Returns a line that is there as a whole.
    fn take(&mut self) -> Option<io::Result<String>> {
        let Some(end) = memchr(b'\n', &self.buffer[self.searched..]) else {
            self.searched = self.buffer.len();
            return None;
        };
        let mut line = self.buffer.split_to(self.searched + end + 1);
        self.searched = 0;
        if line.len() > self.longest {
            return Some(Err(too_long()));
        }
        if self.buffer.is_empty() {
            // After a long line the buffer is large; it is not kept.
            self.buffer = BytesMut::new();
        }
        line.truncate(line.len() - 1);
        Some(String::from_utf8(line.to_vec()).map_err(|error| io::Error::new(ErrorKind::InvalidData, error)))
    }
}

fn too_long() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, "a line is longer than a message may be")
}

/// The requests of a peer that may be hostile: one that is longer than most takes room that all connections share,
/// and has to come to its end soon.
#[derive(Debug)]
pub(super) struct RequestLines {
    lines: LineReader<OwnedReadHalf>,
    budgets: Budgets,
    long: Option<(OwnedSemaphorePermit, Instant)>,
}

impl RequestLines {
    pub(super) fn new(reader: OwnedReadHalf, budgets: Budgets) -> Self {
        RequestLines { lines: LineReader::new(reader, limits::REQUEST), budgets, long: None }
    }
}

impl Requests for RequestLines {
    async fn next(&mut self) -> Option<io::Result<Incoming>> {
        loop {
            if let Some(line) = self.lines.take() {
                let room = self.long.take().map(|(room, _)| room);
                return Some(line.map(|text| Incoming { text, room }));
            }
            let length = self.lines.buffer.len();
            if length > limits::REQUEST {
                return Some(Err(too_long()));
            }
            if length > limits::SHORT_REQUEST && self.long.is_none() {
                let Some(room) = self.budgets.request().await else {
                    return Some(Err(ErrorKind::TimedOut.into()));
                };
                self.long = Some((room, Instant::now() + limits::BODY));
            }
            let read = match &self.long {
                Some((_, deadline)) => timeout_at(*deadline, self.lines.read()).await,
                None => Ok(self.lines.read().await),
            };
            match read {
                Ok(Ok(0)) => return None,
                Ok(Ok(_)) => {}
                Ok(Err(error)) => return Some(Err(error)),
                Err(_) => return Some(Err(ErrorKind::TimedOut.into())),
            }
        }
    }

    /// What is written from now on fails, so that the responder knows that it was not read.
    fn close(&mut self) {
        let stream: &UnixStream = self.lines.reader.as_ref();
        if let Err(error) = shutdown(stream, Shutdown::Read) {
            tracing::debug!(%error, "the other end of a connection is gone");
        }
    }
}

/// Where messages are written, each as a line.
#[derive(Debug)]
pub struct LineWriter<W>(pub W);

impl<W: AsyncWrite + Unpin + Send> Replies for LineWriter<W> {
    async fn send(&mut self, mut text: String) -> io::Result<()> {
        text.push('\n');
        self.0.write_all(text.as_bytes()).await?;
        self.0.flush().await
    }
}
