//! The ends of a stream to a peer: where its bytes are read, and where an outbox is written.
//! What the bytes mean, and when they are read, is left to the bridge.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll, ready},
};

use bytes::BytesMut;
use tokio::io::AsyncWrite;
use tokio_util::io::poll_read_buf;

use super::stdio::{Reader, Writer};
use crate::{
    engine::{Bridge, Peer, Protocol},
    limits,
    wire::outbox::Outbox,
};

/// How many pieces are written at once.
const SLICES: usize = 64;

/// Where a peer's bytes are read.
pub(super) struct Source {
    reader: Reader,
    /// How many reads in a row were those of a flood.
    full: u32,
    /// How many bytes were read.
    pub bytes: u64,
}

impl Source {
    pub(super) fn new(reader: Reader) -> Self {
        Source { reader, full: 0, bytes: 0 }
    }

    /// Reads once. Returns how many bytes; none at the end.
    pub(super) fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        space: &mut BytesMut,
    ) -> Poll<io::Result<usize>> {
        let length = ready!(poll_read_buf(Pin::new(&mut *self.reader.io), cx, space))?;
        self.full = if length < limits::FLOOD_READ { 0 } else { self.full.saturating_add(1) };
        self.bytes += length as u64;
        Poll::Ready(Ok(length))
    }

    /// Returns how many bytes can be read without waiting for a writer.
    pub(super) fn waiting(&self) -> u64 {
        self.reader.waiting()
    }

    /// Lets more wait on both sides of the bridge where the reads cannot keep up.
    pub(super) fn widen_if_flooded(&self, target: &Target) {
        if self.full == limits::FLOOD {
            self.reader.widen();
            target.0.as_ref().inspect(|writer| writer.widen());
        }
    }
}

/// Where a peer's outbox is written, until it is closed.
pub(super) struct Target(Option<Writer>);

impl Target {
    pub(super) fn new(writer: Writer) -> Self {
        Target(Some(writer))
    }

    /// Writes the outbox of this peer until it is idle. Ready with an error once the peer reads no more; the writer
    /// is closed then.
    pub(super) fn poll_drain<P: Protocol>(
        &mut self,
        cx: &mut Context<'_>,
        bridge: &mut Bridge<P>,
        peer: Peer,
    ) -> Poll<io::Result<()>> {
        let drained = self.poll_write_all(cx, bridge, peer);
        if matches!(drained, Poll::Ready(Err(_))) {
            self.0 = None;
        }
        drained
    }

    fn poll_write_all<P: Protocol>(
        &mut self,
        cx: &mut Context<'_>,
        bridge: &mut Bridge<P>,
        peer: Peer,
    ) -> Poll<io::Result<()>> {
        let Some(writer) = &mut self.0 else { return Poll::Ready(Ok(())) };
        let mut io = Pin::new(&mut *writer.io);
        while !bridge.outbox(peer).is_empty() {
            let written = ready!(poll_write(io.as_mut(), cx, bridge.outbox(peer)))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            bridge.wrote(peer, written);
        }
        ready!(io.as_mut().poll_flush(cx))?;
        bridge.flushed(peer);
        if bridge.outbox(peer).is_ending() {
            ready!(io.poll_shutdown(cx))?;
            self.0 = None;
            bridge.closed(peer);
        }
        Poll::Ready(Ok(()))
    }
}

fn poll_write(
    io: Pin<&mut (dyn AsyncWrite + Unpin)>,
    cx: &mut Context<'_>,
    outbox: &Outbox,
) -> Poll<io::Result<usize>> {
    let mut chunks = outbox.chunks();
    if chunks.len() == 1
        && let Some(only) = chunks.next()
    {
        return io.poll_write(cx, only);
    }
    let mut slices = [IoSlice::new(&[]); SLICES];
    let mut count = 0;
    for (slice, bytes) in slices.iter_mut().zip(chunks) {
        *slice = IoSlice::new(bytes);
        count += 1;
    }
    io.poll_write_vectored(cx, &slices[..count])
}

#[cfg(test)]
mod tests {
    use std::{future::poll_fn, time::Duration};

    use tokio::{io::AsyncReadExt, net::unix::pipe};

    use super::*;
    use crate::acp::{Bridge, Config};

    #[tokio::test]
    async fn more_pieces_than_are_written_at_once_all_arrive_in_order() {
        let (writer, mut reader) = pipe::pipe().unwrap();
        let mut target = Target::new(Writer::own(writer).unwrap());
        let mut bridge = Bridge::new(Config::default());
        // Each batch is intercepted by itself, and so is queued as a piece of its own.
        let line = "{\"id\":1,\"method\":\"session/close\"}\n";
        for _ in 0..3 * SLICES {
            bridge.receive(Peer::Client, line.as_bytes(), Duration::ZERO);
        }
        assert!(bridge.outbox(Peer::Agent).chunks().len() > SLICES);
        bridge.ended(Peer::Client, Duration::ZERO);
        poll_fn(|cx| target.poll_drain(cx, &mut bridge, Peer::Agent)).await.unwrap();
        assert!(bridge.outbox(Peer::Agent).is_idle());
        let mut text = String::new();
        reader.read_to_string(&mut text).await.unwrap();
        assert_eq!(text, line.repeat(3 * SLICES));
    }

    #[tokio::test]
    async fn writer_that_broke_is_an_error_once() {
        let (writer, reader) = pipe::pipe().unwrap();
        let mut target = Target::new(Writer::own(writer).unwrap());
        let mut bridge = Bridge::new(Config::default());
        drop(reader);
        bridge.receive(Peer::Client, b"lost\n", Duration::ZERO);
        assert!(poll_fn(|cx| target.poll_drain(cx, &mut bridge, Peer::Agent)).await.is_err());
        bridge.broke(Peer::Agent, Duration::ZERO);
        bridge.receive(Peer::Client, b"lost as well\n", Duration::ZERO);
        assert!(bridge.outbox(Peer::Agent).is_idle() && bridge.outbox(Peer::Agent).is_abandoned());
        assert!(poll_fn(|cx| target.poll_drain(cx, &mut bridge, Peer::Agent)).await.is_ok());
    }
}
