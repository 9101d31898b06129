//! A second copy of what was read from a pipe and has not gone on yet, kept by the kernel. What goes on as it came is
//! moved from here to the other pipe, page by page, instead of being copied once more.
//!
//! Only in a flood, and only from pipe to pipe on Linux. The bridge reads and holds every byte as ever, so that a shadow
//! can be dropped at any time: it is, as soon as it is not known to be the same as what the bridge holds. Only a writer
//! that lends the pipe its own pages (`vmsplice`) and changes them later could change what goes on; it would fool itself.

use std::io;

use super::stdio::{Reader, Writer};

/// What was read from one pipe, and is to go to another.
pub(super) struct Shadow {
    pipe: pipe::Pipe,
    /// How many bytes there are.
    held: usize,
    /// How many of them, at the end, are still to be read by the bridge.
    ahead: usize,
    /// How many of them, at the front, are the front of the outbox.
    passing: usize,
}

impl Shadow {
    /// Begins a shadow of what will be read. `unfinished` was read before, and has not gone on. `None` where that is too
    /// long, or one of the two is no pipe.
    pub(super) fn begin(reader: &Reader, writer: &Writer, unfinished: &[u8]) -> Option<Self> {
        let pipe = pipe::Pipe::between(reader, writer, unfinished).ok()?;
        Some(Shadow { pipe, held: unfinished.len(), ahead: 0, passing: 0 })
    }

    /// Takes over what can be read. Returns how many bytes the bridge is to read next, if they are here as well.
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

    /// Records that so many bytes go on as they came, and how many the bridge still holds. Returns whether the shadow is
    /// still the same as what the bridge holds.
    pub(super) fn passes(&mut self, passed: usize, unfinished: usize) -> bool {
        self.passing = passed;
        passed + unfinished + self.ahead == self.held
    }

    /// Moves the front of the outbox on. Returns how many bytes; none where the writer takes none now, and an error where
    /// it has to be written.
    pub(super) fn pass(&mut self, writer: &Writer) -> io::Result<usize> {
        let moved = self.pipe.move_to(writer, self.passing)?;
        self.passing -= moved;
        self.held -= moved;
        Ok(moved)
    }

    /// Returns whether the front of the outbox is here.
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

    use super::{Reader, Writer};
    use crate::limits;

    /// The pipe that holds the copy.
    pub(super) struct Pipe {
        reader: OwnedFd,
        writer: OwnedFd,
    }

    impl Pipe {
        /// Makes the pipe, with these bytes in it.
        pub(super) fn between(reader: &Reader, writer: &Writer, bytes: &[u8]) -> io::Result<Self> {
            fcntl_getpipe_size(fd(reader.fd())?)?;
            fcntl_getpipe_size(fd(writer.fd())?)?;
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

        /// Copies what can be read, without reading it.
        pub(super) fn copy_from(&self, reader: &Reader, room: usize) -> io::Result<usize> {
            Ok(tee(fd(reader.fd())?, &self.writer, room, SpliceFlags::NONBLOCK)?)
        }

        /// Moves bytes on.
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

    use super::{Reader, Writer};

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
