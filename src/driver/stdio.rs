//! Our stdin and stdout, whatever they are.
//! A FIFO and a socket are read and written without blocking; a file and a terminal cannot be, and go through
//! the runtime's threads.

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

/// Where bytes come from.
pub(super) type Reader = Port<dyn AsyncRead + Unpin>;
/// Where bytes go.
pub(super) type Writer = Port<dyn AsyncWrite + Unpin>;

/// One end of a stream, with what is to be put back when it is closed.
pub(super) struct Port<T: ?Sized> {
    /// The stream. It is closed before the flags are put back.
    pub io: Box<T>,
    _flags: Option<Flags>,
}

impl Port<dyn AsyncRead + Unpin> {
    /// Reads from something that nobody else has.
    pub(super) fn owned(io: impl AsyncRead + Unpin + 'static) -> Self {
        Port { io: Box::new(io), _flags: None }
    }
}

impl Port<dyn AsyncWrite + Unpin> {
    /// Writes to something that nobody else has.
    pub(super) fn owned(io: impl AsyncWrite + Unpin + 'static) -> Self {
        Port { io: Box::new(io), _flags: None }
    }
}

/// The flags of a stream that others may share, as they were. A shell's next command would not expect its
/// stdin to be non-blocking.
struct Flags {
    fd: OwnedFd,
    flags: OFlags,
}

impl Flags {
    fn of(fd: BorrowedFd<'_>) -> io::Result<Self> {
        Ok(Flags { flags: fcntl_getfl(fd)?, fd: fd.try_clone_to_owned()? })
    }
}

impl Drop for Flags {
    fn drop(&mut self) {
        // The other end may be gone; then nobody is left who cares.
        fcntl_setfl(&self.fd, self.flags).ok();
    }
}

/// Takes our stdin and stdout. `/dev/null` stands in their place, so that closing what is returned closes them,
/// and nothing that is printed by mistake reaches the client (I5).
pub(super) fn take() -> io::Result<(Reader, Writer)> {
    let null = std::fs::File::options().read(true).write(true).open("/dev/null")?;
    let stdin = io::stdin().as_fd().try_clone_to_owned()?;
    let stdout = io::stdout().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdin(&null)?;
    rustix::stdio::dup2_stdout(&null)?;
    Ok((reader(stdin)?, writer(stdout)?))
}

fn reader(fd: OwnedFd) -> io::Result<Reader> {
    let flags = Flags::of(fd.as_fd())?;
    Ok(match kind(&fd)? {
        FileType::Fifo => Port { io: Box::new(pipe::Receiver::from_owned_fd(fd)?), _flags: Some(flags) },
        FileType::Socket => Port { io: Box::new(socket(fd)?), _flags: Some(flags) },
        _ => Reader::owned(file(fd)),
    })
}

fn writer(fd: OwnedFd) -> io::Result<Writer> {
    let flags = Flags::of(fd.as_fd())?;
    Ok(match kind(&fd)? {
        FileType::Fifo => Port { io: Box::new(pipe::Sender::from_owned_fd(fd)?), _flags: Some(flags) },
        FileType::Socket => Port { io: Box::new(socket(fd)?), _flags: Some(flags) },
        _ => Writer::owned(file(fd)),
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
    file.set_max_buf_size(limits::READ);
    file
}
