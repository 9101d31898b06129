//! The ends of a stream to a peer: `Source` reads bytes, `Target` writes an outbox. What the bytes mean, and when to
//! read, is left to the bridge.
//!
//! In a flood from pipe to pipe on Linux, a `Shadow` keeps a second copy of the input in the kernel, and whole pages
//! move from there to the other pipe instead of being copied again. The bridge still reads and holds every byte, so a
//! shadow can be dropped as soon as it may differ from what the bridge holds. Only a writer that lends the pipe its own
//! pages (`vmsplice`) and changes them later could change the forwarded bytes, and it would deceive only itself.

use std::{
    io::{self, IoSlice},
    pin::Pin,
    task::{Context, Poll, ready},
};

use askbridge_core::{
    engine::{Bridge, Peer, Protocol},
    wire::outbox::Outbox,
};
use bytes::{BufMut, BytesMut};
use tokio::io::AsyncWrite;
use tokio_util::io::poll_read_buf;

use super::stdio::{Reader, Writer};
use crate::limits;

/// How many pieces one vectored write has at most.
const SLICES: usize = 64;

/// Reads the bytes of a peer.
pub(super) struct Source {
    reader: Reader,
    /// How many reads in a row were as long as those of a flood.
    full: u32,
    /// In a flood, a copy of the bytes that were not forwarded yet.
    shadow: Option<Shadow>,
    /// How many bytes were read.
    pub bytes: u64,
}

impl Source {
    pub(super) fn new(reader: Reader) -> Self {
        Source { reader, full: 0, shadow: None, bytes: 0 }
    }

    /// Reads once. Returns the number of bytes, which is 0 at the end of the stream.
    pub(super) fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        space: &mut BytesMut,
    ) -> Poll<io::Result<usize>> {
        let ahead = self.shadow.as_mut().and_then(|shadow| shadow.take(&self.reader, limits::WIDE_READ));
        let io = Pin::new(&mut *self.reader.io);
        // Without bytes in the shadow, a read takes no more than usual. A longer one would leave little in the pipe,
        // and the next read would look like the end of the flood.
        let most = ahead.unwrap_or(limits::READ);
        // The read needs `limit`, since the buffer may have more room than was reserved.
        space.reserve(most);
        let length = ready!(poll_read_buf(io, cx, &mut space.limit(most)))?;
        if let Some(shadow) = self.shadow.as_mut().filter(|_| ahead.is_some()) {
            shadow.read(length);
        }
        self.full = if length < limits::FLOOD_READ { 0 } else { self.full.saturating_add(1) };
        self.bytes += length as u64;
        Poll::Ready(Ok(length))
    }

    /// Returns how many bytes can be read without waiting for a writer.
    pub(super) fn waiting(&self) -> u64 {
        self.reader.waiting()
    }

    /// Records how the bridge used the last read. `passed` is the number of bytes that are forwarded unchanged, if they
    /// are all that was queued since, and `unfinished` is what the bridge still holds. If the reads cannot keep up with
    /// the writer, this enlarges the pipes on both sides and begins a shadow, so that unchanged bytes are no longer
    /// copied.
    pub(super) fn looked_at(&mut self, target: &Target, passed: Option<usize>, unfinished: &[u8]) {
        // The count passes this value once in a flood, so the system calls are made once as well.
        if self.full == limits::FLOOD {
            self.reader.widen(limits::WIDE_READ);
            target.0.as_ref().inspect(|writer| writer.widen(limits::WIDE_PIPE));
        }
        let Some((writer, passed)) = target.0.as_ref().zip(passed) else { return self.forget() };
        if let Some(shadow) = &mut self.shadow {
            if !shadow.passes(passed, unfinished.len()) {
                self.forget();
            }
        } else if self.full >= limits::FLOOD {
            self.shadow = Shadow::begin(&self.reader, writer, unfinished);
        }
    }

    /// Drops the shadow. The count of long reads starts again, so that only another flood begins a new one.
    fn forget(&mut self) {
        if self.shadow.take().is_some() {
            self.full = 0;
        }
    }
}

/// Writes the outbox of a peer, until the stream is closed.
pub(super) struct Target(Option<Writer>);

impl Target {
    pub(super) fn new(writer: Writer) -> Self {
        Target(Some(writer))
    }

    /// Writes the outbox of this peer until it is idle. Once the peer no longer reads, closes the writer and returns
    /// the error. `source` is where unchanged bytes come from.
    pub(super) fn poll_drain<P: Protocol>(
        &mut self,
        cx: &mut Context<'_>,
        bridge: &mut Bridge<P>,
        peer: Peer,
        source: &mut Source,
    ) -> Poll<io::Result<()>> {
        let drained = self.poll_write_all(cx, bridge, peer, &mut source.shadow);
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
        shadow: &mut Option<Shadow>,
    ) -> Poll<io::Result<()>> {
        let Some(writer) = &mut self.0 else { return Poll::Ready(Ok(())) };
        while !bridge.outbox(peer).is_empty() {
            let moved = pass(shadow, writer);
            let written = match moved {
                0 => ready!(poll_write(Pin::new(&mut *writer.io), cx, bridge.outbox(peer)))?,
                _ => moved,
            };
            // A writer that takes no byte would be asked again without end.
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            if moved == 0 {
                // The shadow still has the bytes that were just written, so it no longer matches the outbox.
                shadow.take_if(|shadow| shadow.is_passing());
            }
            bridge.wrote(peer, written);
        }
        // Another thread writes to a file or a terminal. Only a flush shows that the bytes have arrived there.
        let mut io = Pin::new(&mut *writer.io);
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

/// Moves the front of the outbox to the writer within the kernel, if the shadow has it. Returns the number of bytes.
fn pass(shadow: &mut Option<Shadow>, writer: &Writer) -> usize {
    let moved = shadow.as_mut().filter(|shadow| shadow.is_passing()).map(|shadow| shadow.pass(writer));
    // Without the shadow, the caller writes the bytes from the outbox.
    if let Some(Err(_)) = moved {
        *shadow = None;
    }
    moved.and_then(Result::ok).unwrap_or(0)
}

fn poll_write(
    io: Pin<&mut (dyn AsyncWrite + Unpin)>,
    cx: &mut Context<'_>,
    outbox: &Outbox,
) -> Poll<io::Result<usize>> {
    let mut chunks = outbox.chunks();
    // Most writes have one piece, and need no array of slices.
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

/// A copy, in a pipe of its own, of bytes on their way from one pipe to another.
pub(super) struct Shadow {
    pipe: pipe::Pipe,
    /// The number of bytes in the copy.
    held: usize,
    /// How many of them, at the end, the bridge has not read yet.
    ahead: usize,
    /// How many of them, at the front, are also the front of the outbox.
    passing: usize,
}

impl Shadow {
    /// Begins a shadow of future reads. `unfinished` was read before and is not forwarded yet. Returns `None` if
    /// `unfinished` is too long, or if one of the two streams is no pipe.
    pub(super) fn begin(reader: &Reader, writer: &Writer, unfinished: &[u8]) -> Option<Self> {
        let pipe = pipe::Pipe::between(reader, writer, unfinished).ok()?;
        Some(Shadow { pipe, held: unfinished.len(), ahead: 0, passing: 0 })
    }

    /// Copies the bytes that can be read, without reading them. Returns how many bytes the bridge has to read next, if
    /// the shadow has them.
    pub(super) fn take(&mut self, reader: &Reader, room: usize) -> Option<usize> {
        if self.ahead == 0 {
            self.ahead = self.pipe.copy_from(reader, room).ok()?;
            self.held += self.ahead;
        }
        (self.ahead > 0).then_some(self.ahead)
    }

    /// Records that the bridge has read so many bytes.
    pub(super) fn read(&mut self, count: usize) {
        self.ahead -= count;
    }

    /// Records how many bytes are forwarded unchanged, and how many the bridge still holds. Returns whether the shadow
    /// still has the same bytes as the bridge.
    pub(super) fn passes(&mut self, passed: usize, unfinished: usize) -> bool {
        self.passing = passed;
        passed + unfinished + self.ahead == self.held
    }

    /// Moves the front of the outbox to the writer. Returns the number of bytes, which is 0 if the writer has no room
    /// now, or an error if the bytes must be written instead.
    pub(super) fn pass(&mut self, writer: &Writer) -> io::Result<usize> {
        let moved = self.pipe.move_to(writer, self.passing)?;
        self.passing -= moved;
        self.held -= moved;
        Ok(moved)
    }

    /// Returns whether the shadow has the front of the outbox.
    pub(super) fn is_passing(&self) -> bool {
        self.passing > 0
    }
}

#[cfg(target_os = "linux")]
mod pipe {
    use std::{
        io,
        os::fd::{BorrowedFd, OwnedFd},
    };

    use rustix::{
        io::Errno,
        pipe::{
            PIPE_BUF, PipeFlags, SpliceFlags, fcntl_getpipe_size, fcntl_setpipe_size, pipe_with, splice, tee,
        },
    };

    use crate::{
        driver::stdio::{Reader, Writer},
        limits,
    };

    /// The pipe that holds the copy.
    pub(super) struct Pipe {
        reader: OwnedFd,
        writer: OwnedFd,
    }

    impl Pipe {
        /// Makes the pipe, with these bytes in it.
        pub(super) fn between(reader: &Reader, writer: &Writer, bytes: &[u8]) -> io::Result<Self> {
            // These calls fail unless both streams are pipes, which `tee` and `splice` need.
            fcntl_getpipe_size(fd(reader.fd())?)?;
            fcntl_getpipe_size(fd(writer.fd())?)?;
            // Up to this length, a write to a pipe is never partial.
            if bytes.len() > PIPE_BUF {
                return Err(io::ErrorKind::FileTooLarge.into());
            }
            let (reader, writer) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
            fcntl_setpipe_size(&writer, limits::WIDE_PIPE)?;
            if !bytes.is_empty() {
                rustix::io::write(&writer, bytes)?;
            }
            Ok(Pipe { reader, writer })
        }

        /// Copies the bytes that can be read, without reading them.
        pub(super) fn copy_from(&self, reader: &Reader, room: usize) -> io::Result<usize> {
            Ok(tee(fd(reader.fd())?, &self.writer, room, SpliceFlags::NONBLOCK)?)
        }

        /// Moves bytes to the writer.
        pub(super) fn move_to(&self, writer: &Writer, count: usize) -> io::Result<usize> {
            match splice(&self.reader, None, fd(writer.fd())?, None, count, SpliceFlags::NONBLOCK) {
                Err(Errno::AGAIN) => Ok(0),
                moved => Ok(moved?),
            }
        }
    }

    fn fd(fd: Option<BorrowedFd<'_>>) -> io::Result<BorrowedFd<'_>> {
        fd.ok_or_else(|| io::ErrorKind::Unsupported.into())
    }
}

#[cfg(not(target_os = "linux"))]
mod pipe {
    use std::{convert::Infallible, io};

    use crate::driver::stdio::{Reader, Writer};

    /// Other systems do not copy within the kernel.
    pub(super) struct Pipe(Infallible);

    impl Pipe {
        pub(super) fn between(_: &Reader, _: &Writer, _: &[u8]) -> io::Result<Self> {
            Err(io::ErrorKind::Unsupported.into())
        }

        pub(super) fn copy_from(&self, _: &Reader, _: usize) -> io::Result<usize> {
            match self.0 {}
        }

        pub(super) fn move_to(&self, _: &Writer, _: usize) -> io::Result<usize> {
            match self.0 {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs::File,
        future::poll_fn,
        io::{Read as _, Write as _},
        time::Duration,
    };

    use askbridge_core::acp::{Bridge, Config};
    use rustix::pipe::{PipeFlags, pipe_with};
    use tokio::{io::AsyncReadExt, net::unix::pipe, time::timeout};

    use super::*;

    const DEADLINE: Duration = Duration::from_secs(120);

    /// Returns a source that has nothing, and its writer.
    fn silent_source() -> (Source, pipe::Sender) {
        let (writer, reader) = pipe::pipe().unwrap();
        (Source::new(Reader::own(reader).unwrap()), writer)
    }

    #[tokio::test]
    async fn more_pieces_than_are_written_at_once_all_arrive_in_order() {
        let (mut source, _silent) = silent_source();
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
        poll_fn(|cx| target.poll_drain(cx, &mut bridge, Peer::Agent, &mut source)).await.unwrap();
        assert!(bridge.outbox(Peer::Agent).is_idle());
        let mut text = String::new();
        reader.read_to_string(&mut text).await.unwrap();
        assert_eq!(text, line.repeat(3 * SLICES));
    }

    #[tokio::test]
    async fn writer_that_broke_is_an_error_once() {
        let (mut source, _silent) = silent_source();
        let (writer, reader) = pipe::pipe().unwrap();
        let mut target = Target::new(Writer::own(writer).unwrap());
        let mut bridge = Bridge::new(Config::default());
        drop(reader);
        bridge.receive(Peer::Client, b"lost\n", Duration::ZERO);
        assert!(poll_fn(|cx| target.poll_drain(cx, &mut bridge, Peer::Agent, &mut source)).await.is_err());
        bridge.broke(Peer::Agent, Duration::ZERO);
        bridge.receive(Peer::Client, b"lost as well\n", Duration::ZERO);
        assert!(bridge.outbox(Peer::Agent).is_idle() && bridge.outbox(Peer::Agent).is_abandoned());
        assert!(poll_fn(|cx| target.poll_drain(cx, &mut bridge, Peer::Agent, &mut source)).await.is_ok());
    }

    /// Passes these bytes from a client to an agent, in writes of this size. The client fills its pipe before each
    /// read, and the agent reads all there is after each write. Returns what arrived, and how many bytes were not
    /// copied.
    #[cfg(target_os = "linux")]
    fn carry(bytes: &[u8], chunk: usize, mut each: impl FnMut(&mut Bridge)) -> (Vec<u8>, usize) {
        let run = async {
            let (input, mut client) = std_pipe();
            let (mut agent, output) = std_pipe();
            let input = pipe::Receiver::from_owned_fd(input.into()).unwrap();
            let output = pipe::Sender::from_owned_fd(output.into()).unwrap();
            let mut source = Source::new(Reader::own(input).unwrap());
            let mut target = Target::new(Writer::own(output).unwrap());
            let mut bridge = Bridge::new(Config::default());
            let (mut written, mut arrived, mut moved) = (0, Vec::new(), 0);
            while written < bytes.len() {
                let rest = bytes[written..].chunks(chunk);
                written += rest.map_while(|chunk| client.write(chunk).ok()).sum::<usize>();
                while source.reader.waiting() > 0 {
                    let read = poll_fn(|cx| source.poll_read(cx, bridge.space(Peer::Client))).await.unwrap();
                    let passed = bridge.received(Peer::Client, Duration::ZERO);
                    let queued = bridge.outbox(Peer::Agent).queued();
                    each(&mut bridge);
                    let passed = passed.filter(|_| bridge.outbox(Peer::Agent).queued() == queued);
                    source.looked_at(&target, passed, bridge.unfinished(Peer::Client));
                    moved += source.shadow.as_ref().filter(|shadow| shadow.is_passing()).map_or(0, |_| read);
                    drain(&mut target, &mut bridge, &mut source, &mut agent, &mut arrived).await;
                }
            }
            bridge.ended(Peer::Client, Duration::ZERO);
            drain(&mut target, &mut bridge, &mut source, &mut agent, &mut arrived).await;
            (arrived, moved)
        };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async { timeout(DEADLINE, run).await }).expect("all goes on")
    }

    #[cfg(target_os = "linux")]
    fn std_pipe() -> (File, File) {
        let (reader, writer) = pipe_with(PipeFlags::NONBLOCK).unwrap();
        (reader.into(), writer.into())
    }

    #[cfg(target_os = "linux")]
    async fn drain(
        target: &mut Target,
        bridge: &mut Bridge,
        source: &mut Source,
        agent: &mut File,
        arrived: &mut Vec<u8>,
    ) {
        loop {
            let drained = poll_fn(|cx| Poll::Ready(target.poll_drain(cx, bridge, Peer::Agent, source))).await;
            // It ends where nothing more waits, with an error that says so.
            agent.read_to_end(arrived).ok();
            while bridge.poll().is_some() {}
            match drained {
                Poll::Ready(result) => return result.unwrap(),
                Poll::Pending => tokio::task::yield_now().await,
            }
        }
    }

    /// Lines of these lengths, so many bytes of them.
    #[cfg(target_os = "linux")]
    fn lines(lengths: &[usize], count: usize) -> Vec<u8> {
        let line = |length: &usize| {
            let text = "x".repeat(length.saturating_sub(40));
            format!("{{\"jsonrpc\":\"2.0\",\"method\":\"_x\",\"{text}\":0}}\n").into_bytes()
        };
        let mut bytes: Vec<u8> = lengths
            .iter()
            .cycle()
            .map(line)
            .scan(0, |all, line| {
                *all += line.len();
                (*all < count).then_some(line)
            })
            .flatten()
            .collect();
        bytes.extend(b"{\"last\":1}");
        bytes
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_flood_arrives_as_it_came_and_most_of_it_is_not_copied() {
        const FLOOD: usize = 16 << 20;
        for lengths in [&[200][..], &[4096], &[50, 5000, 200, 100_000, 61], &[3 << 20, 40]] {
            let written = lines(lengths, FLOOD);
            for chunk in [200, 64 << 10, 1 << 20] {
                let (read, moved) = carry(&written, chunk, |_| ());
                assert!(read == written, "{lengths:?} in writes of {chunk}");
                assert!(moved > FLOOD / 2, "{moved} of {lengths:?} in writes of {chunk}");
            }
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn images_in_prompts_are_not_copied_in_a_flood() {
        let prompt = |id: usize| {
            let image = "x".repeat(1 << 20);
            format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"session/prompt\",\"params\":{{\"sessionId\":\"s\",\
                 \"prompt\":[{{\"type\":\"image\",\"data\":\"{image}\"}}]}}}}\n"
            )
        };
        let written = (0..16).map(prompt).collect::<String>().into_bytes();
        let (read, moved) = carry(&written, 1 << 20, |_| ());
        assert!(read == written && moved > written.len() / 2, "{moved} of {}", written.len());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_is_looked_at_in_a_flood_keeps_its_place() {
        let looked_at = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"session/close\",\"params\":{}}\n";
        let one = [lines(&[200], 3 << 20), b"\n".to_vec(), looked_at.to_vec()].concat();
        let written = one.repeat(4);
        let (read, moved) = carry(&written, 64 << 10, |_| ());
        assert!(read == written && moved > written.len() / 4, "{moved} of {}", written.len());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn lines_of_the_bridge_come_between_others_in_a_flood() {
        // The bridge refuses it with a line of its own.
        let wrong = concat!(
            r#"{"jsonrpc":"2.0","id":7,"method":"_sandboxagent/session/request_question","params":{}}"#,
            "\n"
        );
        let written = lines(&[200, 3000], 16 << 20);
        let mut reads = 0;
        let (read, moved) = carry(&written, 64 << 10, |bridge| {
            reads += 1;
            if reads % 24 == 0 {
                bridge.receive(Peer::Agent, wrong.as_bytes(), Duration::ZERO);
            }
        });
        let own = |line: &&[u8]| line.starts_with(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"error\"");
        let others: Vec<&[u8]> = read.split(|byte| *byte == b'\n').filter(|line| !own(line)).collect();
        assert!(others == written.split(|byte| *byte == b'\n').collect::<Vec<_>>());
        assert!(read.split(|byte| *byte == b'\n').filter(own).count() > 1 && moved > 0);
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_shadow_is_given_up_where_it_cannot_be_the_same() {
        let (source, _silent) = silent_source();
        let (reader, writer) = pipe_with(PipeFlags::NONBLOCK).unwrap();
        let writer = Writer::own(pipe::Sender::from_owned_fd(writer).unwrap()).unwrap();
        let mut shadow = Shadow::begin(&source.reader, &writer, b"begun").unwrap();
        assert!(shadow.passes(3, 2) && shadow.is_passing());
        assert_eq!(shadow.pass(&writer).unwrap(), 3);
        assert!(!shadow.is_passing() && !shadow.passes(0, 3) && shadow.passes(0, 2));
        drop(reader);
        assert!(shadow.passes(2, 0) && shadow.pass(&writer).is_err());
        assert!(Shadow::begin(&source.reader, &writer, &[0; 5000]).is_none());
    }
}
