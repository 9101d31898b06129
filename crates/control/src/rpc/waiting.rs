//! Waits for bytes without a buffer: most connections are silent most of the time, and a process has thousands.

use std::{
    future::poll_fn,
    io,
    mem::MaybeUninit,
    pin::Pin,
    task::{Poll, ready},
};

use bytes::BytesMut;
use tokio::io::{AsyncRead, ReadBuf};

/// Reads up to `N` bytes into an empty buffer, which gets its memory once there are some. Returns how many bytes were read.
/// Cancel safe.
///
/// # Errors
/// Those of the stream.
pub async fn read_waiting<const N: usize>(
    mut reader: impl AsyncRead + Unpin,
    buffer: &mut BytesMut,
) -> io::Result<usize> {
    poll_fn(|context| {
        let mut bytes = [MaybeUninit::uninit(); N];
        let mut read = ReadBuf::uninit(&mut bytes);
        ready!(Pin::new(&mut reader).poll_read(context, &mut read))?;
        buffer.extend_from_slice(read.filled());
        Poll::Ready(Ok(read.filled().len()))
    })
    .await
}
