//! A writer of lines of JSON that escapes the characters at which some readers end a line, although JSON allows them in a
//! text. `rmcp` writes the lines itself.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use askbridge_core::wire::line;
use tokio::io::AsyncWrite;

/// Escapes what is written through it.
#[derive(Debug)]
pub(super) struct OneLine<W> {
    inner: W,
    /// The beginning of a character whose rest was not written yet.
    begun: Vec<u8>,
    /// What the inner writer has not taken yet.
    waiting: Vec<u8>,
}

impl<W: AsyncWrite + Unpin> OneLine<W> {
    pub(super) fn new(inner: W) -> Self {
        OneLine { inner, begun: Vec::new(), waiting: Vec::new() }
    }

    /// Takes bytes of a text. A character may be cut at their end.
    fn take(&mut self, bytes: &[u8]) {
        let mut text = std::mem::take(&mut self.begun);
        text.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&text) {
            Ok(_) => text.len(),
            Err(cut) if cut.error_len().is_none() => cut.valid_up_to(),
            // JSON is UTF-8, so this does not happen; such bytes pass as they are.
            Err(_) => return self.waiting.extend_from_slice(&text),
        };
        self.begun = text.split_off(whole);
        self.waiting.extend_from_slice(line::escaped(&String::from_utf8_lossy(&text)).as_bytes());
    }

    fn poll_waiting(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        while !self.waiting.is_empty() {
            match ready!(Pin::new(&mut self.inner).poll_write(context, &self.waiting))? {
                0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                taken => drop(self.waiting.drain(..taken)),
            }
        }
        Poll::Ready(Ok(()))
    }
}

impl<W: AsyncWrite + Unpin> AsyncWrite for OneLine<W> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        // At most one piece waits.
        ready!(self.poll_waiting(context))?;
        self.take(bytes);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_waiting(context))?;
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.poll_waiting(context))?;
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use askbridge_control::rpc::played::soon;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    #[tokio::test]
    async fn the_same_is_read_however_it_is_cut() {
        let text = "{\"a\":\"Größe\u{2028}\u{2029} €\u{85}\"}\n";
        let expected = "{\"a\":\"Größe\\u2028\\u2029 €\\u0085\"}\n";
        for piece in 1..=text.len() {
            // The reader takes less than what is written at once.
            let (writer, mut reader) = duplex(7);
            let mut writer = OneLine::new(writer);
            let writing = async {
                for piece in text.as_bytes().chunks(piece) {
                    writer.write_all(piece).await.unwrap();
                }
                writer.flush().await.unwrap();
                drop(writer);
            };
            let mut read = String::new();
            let (_, got) = soon(async { tokio::join!(writing, reader.read_to_string(&mut read)) }).await;
            got.unwrap();
            assert_eq!(read, expected, "pieces of {piece}");
        }
    }
}
