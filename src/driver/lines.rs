//! The two ends of a direction: where its bytes are read and cut, and where they are queued and written.

use std::{
    collections::VecDeque,
    future::poll_fn,
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::{Buf, Bytes};
use memchr::memchr;
use tokio::io::AsyncWrite;
use tokio_util::io::poll_read_buf;

use super::stdio::{Reader, Writer};
use crate::{control::traffic::Count, limits, wire::frame::Splitter};

/// How many pieces are written at once.
const SLICES: usize = 64;

/// Where a direction's bytes come from.
pub(super) struct Source {
    reader: Reader,
    /// What was read, to be cut.
    pub splitter: Splitter,
    /// How many reads in a row were those of a flood.
    full: u32,
    /// How many bytes were read.
    bytes: u64,
}

impl Source {
    pub(super) fn new(reader: Reader) -> Self {
        Source { reader, splitter: Splitter::default(), full: 0, bytes: 0 }
    }

    /// Reads once. Returns how many bytes; none at the end. Nothing is lost if the future is dropped.
    pub(super) async fn read(&mut self) -> io::Result<usize> {
        let read = poll_fn(|cx| poll_read_buf(Pin::new(&mut *self.reader.io), cx, self.splitter.space()));
        let length = read.await?;
        self.full = if length < limits::FLOOD_READ { 0 } else { self.full.saturating_add(1) };
        self.bytes += length as u64;
        Ok(length)
    }

    /// Says how much was read.
    pub(super) fn report(&self, count: &Count) {
        count.set(self.splitter.lines(), self.bytes);
    }

    /// Returns how many bytes can be read without waiting for a writer.
    pub(super) fn waiting(&self) -> u64 {
        self.reader.waiting()
    }

    /// Lets more wait on both sides of us where the reads cannot keep up.
    pub(super) fn widen_if_flooded(&self, sink: &Sink) {
        if self.full == limits::FLOOD {
            self.reader.widen();
            sink.writer.as_ref().inspect(|writer| writer.widen());
        }
    }
}

/// Where a direction's bytes go. Keeps our own lines out of the middle of other lines (I2).
pub(super) struct Sink {
    writer: Option<Writer>,
    queue: VecDeque<Bytes>,
    /// Lines of our own that wait for the end of the line that is going through.
    own: VecDeque<Bytes>,
    /// Bytes of our own lines since the queue was last empty.
    own_bytes: usize,
    mid_line: bool,
    /// Whether the writer is closed behind the queue.
    ends: bool,
    /// Whether something was written that a buffering writer may still hold.
    unflushed: bool,
    /// Whether the writer broke, or nobody reads what it writes.
    abandoned: bool,
}

impl Sink {
    pub(super) fn new(writer: Writer) -> Self {
        Sink {
            writer: Some(writer),
            queue: VecDeque::new(),
            own: VecDeque::new(),
            own_bytes: 0,
            mid_line: false,
            ends: false,
            unflushed: false,
            abandoned: false,
        }
    }

    /// Says whether all that could be written has been.
    pub(super) fn is_idle(&self) -> bool {
        self.writer.is_none() || (self.queue.is_empty() && !self.unflushed && !self.ends)
    }

    /// Returns how many bytes of our own lines have piled up.
    pub(super) fn own_bytes(&self) -> usize {
        self.own_bytes
    }

    /// Says whether all that was queued has arrived in the writer.
    pub(super) fn has_arrived(&self) -> bool {
        !self.abandoned && self.queue.is_empty() && !self.unflushed && self.own_bytes == 0
    }

    /// Says whether something of what was queued is lost.
    pub(super) fn is_abandoned(&self) -> bool {
        self.abandoned
    }

    /// Queues bytes of the other peer: whole lines, or a part of one.
    pub(super) fn forward(&mut self, mut bytes: Bytes) {
        if self.refuses() || bytes.is_empty() {
            return;
        }
        if self.mid_line && !self.own.is_empty() {
            let Some(end) = memchr(b'\n', &bytes) else { return self.queue.push_back(bytes) };
            self.queue.push_back(bytes.split_to(end + 1));
            self.queue.append(&mut self.own);
            self.mid_line = false;
        }
        if let Some(last) = bytes.last() {
            self.mid_line = *last != b'\n';
            self.queue.push_back(bytes);
        }
    }

    /// Queues a line of our own.
    pub(super) fn send(&mut self, line: Bytes) {
        if self.refuses() {
            return;
        }
        self.own_bytes += line.len();
        if self.mid_line {
            return self.own.push_back(line);
        }
        // A line that is sent in the place of an unterminated one is unterminated as well.
        self.mid_line = !line.ends_with(b"\n");
        self.queue.push_back(line);
    }

    /// Closes the writer once the queue is written. Nothing more is taken.
    pub(super) fn end(&mut self) {
        if self.refuses() {
            return;
        }
        if self.mid_line && !self.own.is_empty() {
            // The line that was going through will not end any more.
            self.queue.push_back(Bytes::from_static(b"\n"));
            self.queue.append(&mut self.own);
        }
        self.ends = true;
    }

    /// Drops the writer and what is queued: nobody reads it.
    pub(super) fn abandon(&mut self) {
        self.writer = None;
        self.abandoned = true;
        self.queue.clear();
        self.own.clear();
        self.own_bytes = 0;
    }

    /// Writes until the queue is empty. Nothing is lost or written twice if the future is dropped.
    pub(super) async fn drain(&mut self) -> io::Result<()> {
        poll_fn(|cx| self.poll_drain(cx)).await
    }

    fn refuses(&self) -> bool {
        self.writer.is_none() || self.ends
    }

    /// The same, for who polls by itself.
    pub(super) fn poll_drain(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Some(writer) = &mut self.writer else { return Poll::Ready(Ok(())) };
        let mut io = Pin::new(&mut *writer.io);
        while !self.queue.is_empty() {
            let written = ready!(poll_write(io.as_mut(), cx, &self.queue))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            advance(&mut self.queue, written);
            self.unflushed = true;
        }
        ready!(io.as_mut().poll_flush(cx))?;
        self.unflushed = false;
        // Those that wait for the end of a line have not left.
        self.own_bytes = self.own.iter().map(Bytes::len).sum();
        if self.ends {
            ready!(io.poll_shutdown(cx))?;
            self.writer = None;
        }
        Poll::Ready(Ok(()))
    }
}

fn poll_write(
    io: Pin<&mut (dyn AsyncWrite + Unpin)>,
    cx: &mut Context<'_>,
    queue: &VecDeque<Bytes>,
) -> Poll<io::Result<usize>> {
    if let [only] = queue.as_slices().0
        && queue.len() == 1
    {
        return io.poll_write(cx, only);
    }
    let mut slices = [IoSlice::new(&[]); SLICES];
    let mut count = 0;
    for (slice, bytes) in slices.iter_mut().zip(queue) {
        *slice = IoSlice::new(bytes);
        count += 1;
    }
    io.poll_write_vectored(cx, &slices[..count])
}

fn advance(queue: &mut VecDeque<Bytes>, mut written: usize) {
    while let Some(first) = queue.front_mut() {
        if written < first.len() {
            return first.advance(written);
        }
        written -= first.len();
        queue.pop_front();
    }
}

#[cfg(test)]
mod tests {
    use tokio::{io::AsyncReadExt, net::unix::pipe};

    use super::*;

    /// What is written when this is done to a sink, and it ends.
    async fn written(does: impl FnOnce(&mut Sink)) -> String {
        let (writer, mut reader) = pipe::pipe().unwrap();
        let mut sink = Sink::new(Writer::own(writer).unwrap());
        does(&mut sink);
        sink.end();
        sink.drain().await.unwrap();
        assert!(sink.is_idle());
        let mut text = String::new();
        reader.read_to_string(&mut text).await.unwrap();
        text
    }

    fn forward(sink: &mut Sink, text: &'static str) {
        sink.forward(Bytes::from_static(text.as_bytes()));
    }

    fn send(sink: &mut Sink, text: &'static str) {
        sink.send(Bytes::from_static(text.as_bytes()));
    }

    #[tokio::test]
    async fn our_own_line_waits_for_the_end_of_a_line_and_goes_before_the_next() {
        let text = written(|sink| {
            forward(sink, "be");
            send(sink, "OWN\n");
            forward(sink, "gun");
            forward(sink, "\nnext\n");
            send(sink, "AND\n");
        });
        assert_eq!(text.await, "begun\nOWN\nnext\nAND\n");
    }

    #[tokio::test]
    async fn our_own_lines_stand_alone_behind_a_line_that_never_ends() {
        let text = written(|sink| {
            forward(sink, "half");
            send(sink, "ONE\n");
            send(sink, "TWO\n");
        });
        assert_eq!(text.await, "half\nONE\nTWO\n");
    }

    #[tokio::test]
    async fn our_own_line_stands_alone_behind_one_of_ours_that_has_no_terminator() {
        let text = written(|sink| {
            send(sink, "REWRITTEN");
            send(sink, "OWN\n");
        });
        assert_eq!(text.await, "REWRITTEN\nOWN\n");
    }

    #[tokio::test]
    async fn more_pieces_than_are_written_at_once_all_arrive_in_order() {
        let text = written(|sink| {
            for _ in 0..(3 * SLICES) {
                forward(sink, "x\n");
                send(sink, "y\n");
            }
        });
        assert_eq!(text.await, "x\ny\n".repeat(3 * SLICES));
    }

    #[tokio::test]
    async fn our_own_lines_count_until_they_have_left() {
        let (writer, mut reader) = pipe::pipe().unwrap();
        let mut sink = Sink::new(Writer::own(writer).unwrap());
        for _ in 0..3 {
            forward(&mut sink, "a line that trickles");
            send(&mut sink, "OWN\n");
            sink.drain().await.unwrap();
        }
        assert_eq!(sink.own_bytes(), 3 * "OWN\n".len());
        forward(&mut sink, "\n");
        sink.drain().await.unwrap();
        assert_eq!(sink.own_bytes(), 0);
        drop(sink);
        let mut text = String::new();
        reader.read_to_string(&mut text).await.unwrap();
        assert_eq!(text, format!("{}\n{}", "a line that trickles".repeat(3), "OWN\n".repeat(3)));
    }

    #[tokio::test]
    async fn nothing_is_kept_for_a_writer_that_is_gone() {
        let (writer, reader) = pipe::pipe().unwrap();
        let mut sink = Sink::new(Writer::own(writer).unwrap());
        drop(reader);
        forward(&mut sink, "lost\n");
        assert!(sink.drain().await.is_err());
        sink.abandon();
        send(&mut sink, "lost as well\n");
        assert!(sink.is_idle() && sink.own_bytes() == 0);
    }
}
