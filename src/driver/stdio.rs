//! The bridge's own stdin and stdout: pipes, sockets, files or terminals. What is read and written is left to `lines`.
//!
//! Pipes and sockets are non-blocking. Files and terminals cannot be, and go through the runtime's blocking threads.

use std::{
    io,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::net::UnixStream as StdUnixStream,
    },
};

use rustix::fs::{FileType, OFlags, fcntl_getfl, fcntl_setfl, fstat};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{UnixStream, unix::pipe},
};

use crate::limits;

/// A stream to read from.
pub(super) type Reader = Port<dyn AsyncRead + Unpin>;
/// A stream to write to.
pub(super) type Writer = Port<dyn AsyncWrite + Unpin>;

/// One end of a stream.
pub(super) struct Port<T: ?Sized> {
    /// The stream. It is declared first, so that it is closed before `spare` restores the flags.
    pub io: Box<T>,
    spare: Option<Spare>,
}

/// A second file descriptor of the same stream.
struct Spare {
    fd: OwnedFd,
    /// The original flags. Other processes may share the stream: a shell's next command would not expect its stdin to
    /// be non-blocking.
    flags: Option<OFlags>,
}

impl<T: ?Sized> Port<T> {
    /// Returns how many bytes wait in the pipe, or 0 if that is not known.
    pub(super) fn waiting(&self) -> u64 {
        self.spare.as_ref().and_then(|spare| rustix::io::ioctl_fionread(&spare.fd).ok()).unwrap_or(0)
    }

    /// Returns the stream's file descriptor, unless it is a file or a terminal.
    pub(super) fn fd(&self) -> Option<BorrowedFd<'_>> {
        self.spare.as_ref().map(|spare| spare.fd.as_fd())
    }

    /// Enlarges the kernel's buffer, if the stream is a pipe. Only for a flood: all pipes of a user share one budget,
    /// and once it is used up, new pipes are small.
    #[cfg_attr(
        not(target_os = "linux"),
        expect(unused_variables, reason = "only Linux has pipes of any size")
    )]
    pub(super) fn widen(&self, capacity: usize) {
        #[cfg(target_os = "linux")]
        if let Some(Spare { fd, .. }) = &self.spare
            && rustix::pipe::fcntl_getpipe_size(fd).is_ok_and(|size| size < capacity)
        {
            // This fails if the user's budget for pipes is used up. The pipe then keeps its size.
            rustix::pipe::fcntl_setpipe_size(fd, capacity).ok();
        }
    }
}

impl Reader {
    /// Reads from a pipe that no other process reads.
    pub(super) fn own(io: impl AsyncRead + AsFd + Unpin + 'static) -> io::Result<Self> {
        let fd = io.as_fd().try_clone_to_owned()?;
        Ok(Port { io: Box::new(io), spare: Some(Spare { fd, flags: None }) })
    }

    fn file(fd: OwnedFd) -> Self {
        Port { io: Box::new(file(fd)), spare: None }
    }
}

impl Writer {
    /// Writes to a pipe that no other process writes.
    pub(super) fn own(io: impl AsyncWrite + AsFd + Unpin + 'static) -> io::Result<Self> {
        let fd = io.as_fd().try_clone_to_owned()?;
        Ok(Port { io: Box::new(io), spare: Some(Spare { fd, flags: None }) })
    }

    fn file(fd: OwnedFd) -> Self {
        Port { io: Box::new(file(fd)), spare: None }
    }
}

impl Spare {
    fn of(fd: BorrowedFd<'_>) -> io::Result<Option<Self>> {
        Ok(Some(Spare { flags: Some(fcntl_getfl(fd)?), fd: fd.try_clone_to_owned()? }))
    }
}

impl Drop for Spare {
    fn drop(&mut self) {
        if let Some(flags) = self.flags {
            // This fails only if the stream is gone, and its flags with it.
            fcntl_setfl(&self.fd, flags).ok();
        }
    }
}

/// Takes over stdin and stdout, and puts `/dev/null` in their place. Closing the returned streams therefore closes
/// stdin and stdout, and a stray print does not reach the client (I5).
pub(super) fn take() -> io::Result<(Reader, Writer)> {
    let null = std::fs::File::options().read(true).write(true).open("/dev/null")?;
    let stdin = io::stdin().as_fd().try_clone_to_owned()?;
    let stdout = io::stdout().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    let stderr = io::stderr().as_fd().try_clone_to_owned()?;
    let one_socket = kind(&stdin)? == FileType::Socket && identity(&stdin)? == identity(&stdout)?;
    // The non-blocking flag belongs to the open file, not to a descriptor. If stderr is the same file, as on a
    // terminal, the flag must stay clear, since stderr is written with blocking writes.
    let shared = |fd: &OwnedFd| Ok::<_, io::Error>(identity(fd)? == identity(&stderr)?);
    let reader = if shared(&stdin)? { Reader::file(stdin) } else { reader(stdin)? };
    let mut writer = if shared(&stdout)? { Writer::file(stdout) } else { writer(stdout)? };
    if one_socket && let Some(spare) = &mut writer.spare {
        // Both descriptors share the flags. The reader saw them first, and restores them once both are closed.
        spare.flags = None;
    }
    Ok((reader, writer))
}

fn identity(fd: &OwnedFd) -> io::Result<impl PartialEq + use<>> {
    let stat = fstat(fd)?;
    Ok((stat.st_dev, stat.st_ino))
}

fn reader(fd: OwnedFd) -> io::Result<Reader> {
    let spare = Spare::of(fd.as_fd())?;
    Ok(match kind(&fd)? {
        FileType::Fifo => Port { io: Box::new(pipe::Receiver::from_owned_fd(fd)?), spare },
        FileType::Socket => Port { io: Box::new(socket(fd)?), spare },
        _ => Reader::file(fd),
    })
}

fn writer(fd: OwnedFd) -> io::Result<Writer> {
    let spare = Spare::of(fd.as_fd())?;
    Ok(match kind(&fd)? {
        FileType::Fifo => Port { io: Box::new(pipe::Sender::from_owned_fd(fd)?), spare },
        FileType::Socket => Port { io: Box::new(socket(fd)?), spare },
        _ => Writer::file(fd),
    })
}

fn kind(fd: &OwnedFd) -> io::Result<FileType> {
    Ok(FileType::from_raw_mode(fstat(fd)?.st_mode))
}

fn socket(fd: OwnedFd) -> io::Result<UnixStream> {
    let stream = StdUnixStream::from(fd);
    stream.set_nonblocking(true)?;
    UnixStream::from_std(stream)
}

fn file(fd: OwnedFd) -> tokio::fs::File {
    let mut file = tokio::fs::File::from_std(fd.into());
    // Tokio's default would let each stream hold 2 MiB (I6).
    file.set_max_buf_size(limits::READ);
    file
}
