//! The agent's stdin, which takes as much as it has room for, or breaks.

use std::{
    fs::File,
    io,
    os::fd::{AsFd, BorrowedFd},
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

use tokio::io::AsyncWrite;

/// The agent's end of its stdin.
#[derive(Debug, Default)]
pub(super) struct Pipe {
    pub(super) room: usize,
    pub(super) broken: bool,
    pub(super) got: Vec<u8>,
}

/// Our end of it.
pub(super) struct Stdin {
    pub(super) pipe: Arc<Mutex<Pipe>>,
    /// A descriptor to show.
    pub(super) null: File,
}

impl AsFd for Stdin {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.null.as_fd()
    }
}

impl AsyncWrite for Stdin {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let mut pipe = self.pipe.lock().unwrap();
        let count = bytes.len().min(pipe.room);
        match (pipe.broken, count) {
            (true, _) => Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
            (false, 0) => Poll::Pending,
            (false, _) => {
                pipe.room -= count;
                pipe.got.extend(&bytes[..count]);
                Poll::Ready(Ok(count))
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}
