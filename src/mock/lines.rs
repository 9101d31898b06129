//! Lines in and out of a mock peer, each shown on stderr where `--wire` asks for it.
//! How a message is spelled is left to `message.rs`.

use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};

use memchr::memchr;
use serde::Serialize;

use super::message::{self, Id, RpcError};
use crate::terminal::printable_bytes;

/// The longest line that is read whole; what is longer is cut here, and so is not valid JSON any more.
const LONGEST_LINE: u64 = 64 << 20;
const CHUNK: usize = 64 << 10;

/// The label of a line that the agent reads.
pub(super) const READ: &str = "agent <";
/// The label of a line that the agent writes.
pub(super) const WRITTEN: &str = "agent >";

/// Shows lines on stderr, each behind a name and an arrow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Wire {
    label: Option<&'static str>,
}

impl Wire {
    /// Shows each line behind this label, or none at all.
    pub(super) fn new(label: &'static str, shown: bool) -> Self {
        Self { label: shown.then_some(label) }
    }

    fn show(&mut self, line: &[u8]) {
        let Some(label) = self.label else { return };
        // In one write, so that it stays one line beside what others write there.
        let shown = io::stderr().write_all(format!("{label} {}\n", printable_bytes(line)).as_bytes());
        if shown.is_err() {
            // Nobody looks any more, and that is no reason to end.
            self.label = None;
        }
    }
}

/// Where lines come from.
pub(super) struct Input<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    wire: Wire,
}

impl<R: Read> Input<R> {
    pub(super) fn new(input: R, wire: Wire) -> Self {
        Self { input: BufReader::with_capacity(CHUNK, input), line: Vec::new(), wire }
    }

    /// Waits for the next line and returns it without its newline, or `None` at the end.
    pub(super) fn next_line(&mut self) -> io::Result<Option<&[u8]>> {
        self.line.clear();
        if (&mut self.input).take(LONGEST_LINE).read_until(b'\n', &mut self.line)? == 0 {
            self.wire.show(b"(end)");
            return Ok(None);
        }
        if self.line.last() == Some(&b'\n') {
            self.line.pop();
        } else {
            self.input.skip_until(b'\n')?;
        }
        self.wire.show(&self.line);
        Ok(Some(&self.line))
    }

    /// Whether the next line is here already, so that reading it will not wait.
    pub(super) fn has_line(&self) -> bool {
        memchr(b'\n', self.input.buffer()).is_some()
    }

    /// Reads and forgets everything up to the end.
    pub(super) fn drain(&mut self) -> io::Result<()> {
        while self.next_line()?.is_some() {}
        Ok(())
    }
}

/// Where lines go. What is written is held back until [`Output::flush`].
pub(super) struct Output<W: Write> {
    output: BufWriter<W>,
    wire: Wire,
}

impl<W: Write> Output<W> {
    pub(super) fn new(output: W, wire: Wire) -> Self {
        Self { output: BufWriter::with_capacity(CHUNK, output), wire }
    }

    /// Writes a line and its newline.
    pub(super) fn line(&mut self, line: &[u8]) -> io::Result<()> {
        self.wire.show(line);
        self.output.write_all(line)?;
        self.output.write_all(b"\n")
    }

    pub(super) fn request(&mut self, id: u64, method: &str, params: impl Serialize) -> io::Result<()> {
        self.line(&message::request(id, method, params)?)
    }

    pub(super) fn notify(&mut self, method: &str, params: impl Serialize) -> io::Result<()> {
        self.line(&message::notification(method, params)?)
    }

    pub(super) fn respond(&mut self, id: &Id, result: impl Serialize) -> io::Result<()> {
        self.line(&message::response(id, result)?)
    }

    pub(super) fn refuse(&mut self, id: &Id, error: &RpcError) -> io::Result<()> {
        self.line(&message::refusal(id, error)?)
    }

    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_come_without_their_newline_and_the_last_may_lack_it() {
        let mut input = Input::new(&b"one\n\ntwo\r\nthree"[..], Wire::default());
        for line in ["one", "", "two\r", "three"] {
            assert_eq!(input.next_line().unwrap(), Some(line.as_bytes()));
        }
        assert_eq!(input.next_line().unwrap(), None);
    }

    #[test]
    fn a_line_is_known_to_be_here_before_it_is_read() {
        let mut input = Input::new(&b"one\ntwo\nhalf"[..], Wire::default());
        assert!(!input.has_line(), "nothing is read ahead of the first call");
        assert!(input.next_line().unwrap().is_some());
        assert!(input.has_line());
        assert!(input.next_line().unwrap().is_some());
        assert!(!input.has_line());
    }
}
