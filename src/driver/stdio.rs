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

/// One end of a stream.
pub(super) struct Port<T: ?Sized> {
    /// The stream. It is closed before the spare puts its flags back.
    pub io: Box<T>,
    spare: Option<Spare>,
}

/// A second descriptor of the same stream.
struct Spare {
    fd: OwnedFd,
    /// The flags as they were. Others may share the stream: a shell's next command would not expect its stdin to
    /// be non-blocking.
    flags: Option<OFlags>,
}

impl<T: ?Sized> Port<T> {
    /// Returns how many bytes are in the pipe; none where that is not known.
    pub(super) fn waiting(&self) -> u64 {
        self.spare.as_ref().and_then(|spare| rustix::io::ioctl_fionread(&spare.fd).ok()).unwrap_or(0)
    }

    /// Lets more wait in the pipe, if it is one. Only for a flood: a user's pipes share one budget, and what is
    /// over it makes all new ones small.
    pub(super) fn widen(&self) {
        #[cfg(target_os = "linux")]
        if let Some(spare) = &self.spare {
            // Where it is not allowed, or this is no pipe, it stays as it is.
            rustix::pipe::fcntl_setpipe_size(&spare.fd, limits::WIDE_PIPE).ok();
        }
    }
}

impl Reader {
    /// Reads from a pipe that nobody else has.
    pub(super) fn own(io: impl AsyncRead + AsFd + Unpin + 'static) -> io::Result<Self> {
        let fd = io.as_fd().try_clone_to_owned()?;
        Ok(Port { io: Box::new(io), spare: Some(Spare { fd, flags: None }) })
    }

    fn file(fd: OwnedFd) -> Self {
        Port { io: Box::new(file(fd)), spare: None }
    }
}

impl Writer {
    /// Writes to a pipe that nobody else has.
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
            // The other end may be gone; then nobody is left who cares.
            fcntl_setfl(&self.fd, flags).ok();
        }
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
    let stderr = io::stderr().as_fd().try_clone_to_owned()?;
    let one_socket = kind(&stdin)? == FileType::Socket && identity(&stdin)? == identity(&stdout)?;
    // What is non-blocking is so for all that share it, and stderr is written as one that blocks.
    let shared = |fd: &OwnedFd| Ok::<_, io::Error>(identity(fd)? == identity(&stderr)?);
    let reader = if shared(&stdin)? { Reader::file(stdin) } else { reader(stdin)? };
    let mut writer = if shared(&stdout)? { Writer::file(stdout) } else { writer(stdout)? };
    if one_socket && let Some(spare) = &mut writer.spare {
        // The flags are of both: the reader has seen them as they were, and puts them back when both are done.
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
    file.set_max_buf_size(limits::READ);
    file
}
