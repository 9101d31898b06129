//! Reads and writes the lines of a mock peer, and shows each on stderr for `--wire`.
//! The spelling of a message is left to `message.rs`.

use std::io::{self, BufRead, BufReader, BufWriter, Read, Write};

use askbridge_os::terminal::printable_bytes;
use memchr::memchr;
use serde::Serialize;

use crate::{
    faulty::{AgentFault, Faulty, Received},
    message::{self, Id, RpcError},
};

/// The longest line that is read whole. A longer line is cut here, which leaves invalid JSON.
const LONGEST_LINE: u64 = 64 << 20;
/// The size of the read and write buffers.
const CHUNK: usize = 64 << 10;

/// The label of a line that the agent reads, for `--wire`.
pub(super) const READ: &str = "agent <";
/// The label of a line that the agent writes, for `--wire`.
pub(super) const WRITTEN: &str = "agent >";

/// Shows lines on stderr, each after a label.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WireTrace {
    label: Option<&'static str>,
}

impl WireTrace {
    /// Shows each line after this label if `shown` is set, otherwise none.
    pub(super) fn new(label: &'static str, shown: bool) -> Self {
        Self { label: shown.then_some(label) }
    }

    fn show(&mut self, line: &[u8]) {
        let Some(label) = self.label else { return };
        // The line is one write, because the processes of a demo share stderr.
        let shown = io::stderr().write_all(format!("{label} {}\n", printable_bytes(line)).as_bytes());
        if shown.is_err() {
            // A closed stderr turns the trace off and does not end the peer.
            self.label = None;
        }
    }
}

/// Reads lines.
pub(super) struct LineReader<R> {
    input: BufReader<R>,
    line: Vec<u8>,
    wire: WireTrace,
}

impl<R: Read> LineReader<R> {
    /// Reads from `input`.
    pub(super) fn new(input: R, wire: WireTrace) -> Self {
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
            // The rest of a line that was cut must not be read as another line.
            self.input.skip_until(b'\n')?;
        }
        self.wire.show(&self.line);
        Ok(Some(&self.line))
    }

    /// Returns whether the next line is in the buffer, so that reading it does not block.
    pub(super) fn has_line(&self) -> bool {
        memchr(b'\n', self.input.buffer()).is_some()
    }

    /// Reads and drops everything up to the end.
    pub(super) fn drain(&mut self) -> io::Result<()> {
        while self.next_line()?.is_some() {}
        Ok(())
    }
}

/// Writes lines, which stay in a buffer until [`LineWriter::flush`].
pub(super) struct LineWriter<W: Write> {
    output: BufWriter<W>,
    wire: WireTrace,
    /// The rule that the peer breaks.
    faulty: Option<Box<Faulty>>,
}

impl<W: Write> LineWriter<W> {
    /// Writes to `output`.
    pub(super) fn new(output: W, wire: WireTrace) -> Self {
        Self { output: BufWriter::with_capacity(CHUNK, output), wire, faulty: None }
    }

    /// Breaks a rule from now on.
    pub(super) fn break_rule(&mut self, fault: AgentFault) {
        self.faulty = Some(Box::new(Faulty::new(fault)));
    }

    /// Returns what the peer gets of a line that it has read.
    pub(super) fn received<'a>(&mut self, line: &'a [u8]) -> Received<'a> {
        match &mut self.faulty {
            Some(faulty) => faulty.received(line),
            None => Received::Line(line.into()),
        }
    }

    /// Returns the next line that the peer gets though nobody wrote it.
    pub(super) fn injected(&mut self) -> Option<Vec<u8>> {
        self.faulty.as_mut()?.injected()
    }

    /// Returns whether the peer stays by its fault when its stdin has ended.
    pub(super) fn stays(&self) -> bool {
        self.faulty.as_ref().is_some_and(|faulty| faulty.stays())
    }

    /// Writes a line and its newline.
    pub(super) fn line(&mut self, line: &[u8]) -> io::Result<()> {
        match self.faulty.as_mut().map(|faulty| faulty.written(line)) {
            Some(lines) => lines.iter().try_for_each(|line| self.put(line)),
            None => self.put(line),
        }
    }

    fn put(&mut self, line: &[u8]) -> io::Result<()> {
        self.wire.show(line);
        self.output.write_all(line)?;
        self.output.write_all(b"\n")
    }

    /// Writes a request of our own.
    pub(super) fn request(&mut self, id: u64, method: &str, params: impl Serialize) -> io::Result<()> {
        self.line(&message::request(id, method, params)?)
    }

    /// Writes a notification.
    pub(super) fn notify(&mut self, method: &str, params: impl Serialize) -> io::Result<()> {
        self.line(&message::notification(method, params)?)
    }

    /// Writes a response with a result.
    pub(super) fn respond(&mut self, id: &Id, result: impl Serialize) -> io::Result<()> {
        self.line(&message::response(id, result)?)
    }

    /// Writes a response with an error.
    pub(super) fn refuse(&mut self, id: &Id, error: &RpcError) -> io::Result<()> {
        self.line(&message::refusal(id, error)?)
    }

    /// Writes the buffer.
    pub(super) fn flush(&mut self) -> io::Result<()> {
        self.output.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_returned_without_their_newline() {
        let mut input = LineReader::new(&b"one\n\ntwo\r\nthree"[..], WireTrace::default());
        for line in ["one", "", "two\r", "three"] {
            assert_eq!(input.next_line().unwrap(), Some(line.as_bytes()));
        }
        assert_eq!(input.next_line().unwrap(), None);
    }

    #[test]
    fn a_complete_line_in_the_buffer_is_reported_before_it_is_read() {
        let mut input = LineReader::new(&b"one\ntwo\nhalf"[..], WireTrace::default());
        assert!(!input.has_line(), "nothing is read ahead of the first call");
        assert!(input.next_line().unwrap().is_some());
        assert!(input.has_line());
        assert!(input.next_line().unwrap().is_some());
        assert!(!input.has_line());
    }
}
