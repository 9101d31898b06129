//! The lines that the host writes. One that is too long is not held: only its beginning is.

use std::io;

use bytes::{Bytes, BytesMut};
use memchr::memchr;
use tokio::io::{AsyncRead, AsyncReadExt};

use crate::limits::mcp_http as limits;

/// A line of the host, without its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum HostLine {
    Whole(Bytes),
    /// The beginning of a line that is too long.
    Beginning(Bytes),
}

/// Reads lines.
#[derive(Debug)]
pub(super) struct Lines<R> {
    reader: R,
    buffer: BytesMut,
    /// How many bytes were searched for the end of the line.
    searched: usize,
    /// Whether the rest of the line is dropped.
    is_dropping: bool,
    most: usize,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(reader: R, most: usize) -> Self {
        Lines { reader, buffer: BytesMut::new(), searched: 0, is_dropping: false, most }
    }

    /// Returns the next line, or `None` at the end. Cancel safe.
    ///
    /// # Errors
    /// Returns why the rest cannot be read.
    pub(super) async fn next(&mut self) -> io::Result<Option<HostLine>> {
        loop {
            if let Some(line) = self.cut() {
                return Ok(Some(line));
            }
            // A long line leaves a large buffer behind, which is not kept.
            if self.buffer.is_empty() {
                self.buffer = BytesMut::with_capacity(limits::BEGINNING);
            }
            if self.reader.read_buf(&mut self.buffer).await? == 0 {
                let is_rest = self.is_dropping || self.buffer.is_empty();
                let rest = self.buffer.split().freeze();
                self.searched = 0;
                return Ok((!is_rest).then_some(HostLine::Whole(rest)));
            }
        }
    }

    fn cut(&mut self) -> Option<HostLine> {
        loop {
            let Some(end) = memchr(b'\n', &self.buffer[self.searched..]).map(|at| self.searched + at) else {
                self.searched = self.buffer.len();
                break;
            };
            let line = self.buffer.split_to(end + 1).freeze();
            self.searched = 0;
            if !std::mem::take(&mut self.is_dropping) {
                return Some(HostLine::Whole(line.slice(..end)));
            }
        }
        if self.is_dropping {
            self.buffer.clear();
            self.searched = 0;
        } else if self.buffer.len() > self.most {
            let beginning = Bytes::copy_from_slice(&self.buffer[..limits::BEGINNING.min(self.most)]);
            self.buffer = BytesMut::new();
            (self.searched, self.is_dropping) = (0, true);
            return Some(HostLine::Beginning(beginning));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(most: usize, text: &[u8], piece: usize) -> Vec<(bool, String)> {
        let mut reader = tokio_util::io::StreamReader::new(futures::stream::iter(
            text.chunks(piece).map(|chunk| io::Result::Ok(Bytes::copy_from_slice(chunk))),
        ));
        let (mut lines, mut read) = (Lines::new(&mut reader, most), Vec::new());
        while let Some(line) = lines.next().await.expect("a line") {
            let (is_whole, bytes) = match line {
                HostLine::Whole(bytes) => (true, bytes),
                HostLine::Beginning(bytes) => (false, bytes),
            };
            read.push((is_whole, String::from_utf8(bytes.to_vec()).expect("text")));
        }
        read
    }

    #[tokio::test]
    async fn lines_are_read_however_they_are_cut() {
        let text = b"one\n\ntwo and more\nlonger than that\nx\r\nlast";
        let whole = |text: &str| (true, text.to_owned());
        for piece in 1..=text.len() {
            let lines = read(12, text, piece).await;
            // A long line that arrives at once with its end is whole.
            let long = lines.iter().position(|(_, line)| line.starts_with("longer")).expect("a line");
            assert!(lines[long].1 == "longer than that" || lines[long] == (false, "longer than ".to_owned()));
            let rest: Vec<_> =
                lines.iter().filter(|(_, line)| !line.starts_with("longer")).cloned().collect();
            assert_eq!(
                rest,
                [whole("one"), whole(""), whole("two and more"), whole("x\r"), whole("last")],
                "{piece}"
            );
        }
    }
}
