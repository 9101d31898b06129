//! One end of the conversation: the bytes that wait to be written to the command under test, and the bytes received from it.
//! Waiting until a descriptor is ready is left to `stage.rs`.

use std::{
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    time::Instant,
};

use memchr::memchr;
use rustix::io::{Errno, ioctl_fionread, read, write};

use crate::limits;

/// An end, whose descriptors are closed one by one.
#[derive(Debug)]
pub(crate) struct End {
    output: Option<OwnedFd>,
    input: Option<OwnedFd>,
    unsent: Vec<u8>,
    /// How many bytes of `unsent` are written already.
    sent: usize,
    received: Vec<u8>,
    /// How many bytes of `received` are consumed already.
    consumed: usize,
    /// The bytes of `received` up to here have no line feed that is not consumed.
    searched: usize,
    is_reading: bool,
    input_ended: bool,
    /// The bytes of a line from which on nothing more is read.
    longest: usize,
    /// When bytes were last read or written.
    moved_at: Instant,
}

/// The next thing that an end has received.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// A line with its line feed, or the last one without.
    Line(Vec<u8>),
    End,
}

impl End {
    /// Returns an end that writes to `output` and reads from `input`.
    pub(crate) fn new(output: OwnedFd, input: OwnedFd) -> Self {
        Self {
            output: Some(output),
            input: Some(input),
            unsent: Vec::new(),
            sent: 0,
            received: Vec::new(),
            consumed: 0,
            searched: 0,
            is_reading: true,
            input_ended: false,
            longest: usize::MAX,
            moved_at: Instant::now(),
        }
    }

    /// Reads nothing more once a line has more than so many bytes. It is then the last one, and has no line feed.
    pub(crate) fn up_to(self, longest: usize) -> Self {
        Self { longest, ..self }
    }

    /// Adds bytes to those that wait to be written. Returns whether the output is open.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> bool {
        if self.output.is_some() {
            self.unsent.extend_from_slice(bytes);
        }
        self.output.is_some()
    }

    /// Returns when bytes were last read or written.
    pub(crate) fn moved_at(&self) -> Instant {
        self.moved_at
    }

    /// Returns how many bytes wait to be written.
    pub(crate) fn unsent(&self) -> usize {
        self.unsent.len() - self.sent
    }

    /// Returns whether the other side has not read all that was written. `false` where that is not known.
    pub(crate) fn has_unread(&self) -> bool {
        self.output.as_ref().is_some_and(|output| ioctl_fionread(output).is_ok_and(|bytes| bytes > 0))
    }

    /// Returns the descriptor to write to, if anything waits to be written.
    pub(crate) fn wants_to_write(&self) -> Option<BorrowedFd<'_>> {
        self.output.as_ref().filter(|_| self.unsent() > 0).map(AsFd::as_fd)
    }

    /// Returns the descriptor to read from, if this end reads.
    pub(crate) fn wants_to_read(&self) -> Option<BorrowedFd<'_>> {
        // At the limit, the pipe fills, and holds back a command that writes without end.
        let reads = self.is_reading && !self.input_ended && self.received.len() < limits::RECEIVED;
        self.input.as_ref().filter(|_| reads).map(AsFd::as_fd)
    }

    /// Writes a part of the waiting bytes, once the output is ready.
    pub(crate) fn send(&mut self) {
        let Some(output) = &self.output else { return };
        let rest = self.unsent.get(self.sent..).unwrap_or_default();
        let piece = rest.get(..limits::WRITTEN).unwrap_or(rest);
        match write(output, piece) {
            Ok(count) => {
                self.sent += count;
                self.moved_at = Instant::now();
            }
            Err(Errno::INTR | Errno::AGAIN) => {}
            // Nobody reads it any more. Bytes that were written before may have been read.
            Err(_) => self.close_output(),
        }
        if self.unsent() == 0 {
            self.unsent.clear();
            self.sent = 0;
        }
    }

    /// Reads the available bytes. The input must be ready, because the read would block otherwise.
    pub(crate) fn receive(&mut self) {
        let Some(input) = &self.input else { return };
        let mut chunk = [0; limits::READ];
        match read(input, &mut chunk) {
            Ok(count @ 1..) => {
                self.received.extend_from_slice(chunk.get(..count).unwrap_or_default());
                self.moved_at = Instant::now();
                if self.pending().len() > self.longest && memchr(b'\n', self.pending()).is_none() {
                    self.close_input();
                }
            }
            Err(Errno::INTR | Errno::AGAIN) => {}
            // A command may start its agent with sockets for stdio: they report a peer that is gone as an error.
            Ok(_) | Err(_) => self.input_ended = true,
        }
    }

    pub(crate) fn read_on(&mut self, is_reading: bool) {
        self.is_reading = is_reading;
    }

    pub(crate) fn close_output(&mut self) {
        self.output = None;
        self.unsent.clear();
        self.sent = 0;
    }

    pub(crate) fn close_input(&mut self) {
        self.input = None;
        self.input_ended = true;
    }

    /// Returns the received bytes that no step has consumed.
    pub(crate) fn pending(&self) -> &[u8] {
        self.received.get(self.consumed..).unwrap_or_default()
    }

    /// Consumes the next line, or the end. `None` if neither has come yet.
    pub(crate) fn next_line(&mut self) -> Option<Next> {
        // To search the same bytes again with each chunk would take quadratic time for a long line.
        let from = self.searched.max(self.consumed);
        let rest = self.received.get(from..).unwrap_or_default();
        if let Some(at) = memchr(b'\n', rest) {
            return Some(Next::Line(self.take(from + at + 1 - self.consumed)));
        }
        self.searched = self.received.len();
        match (self.input_ended, self.pending().len()) {
            (false, _) => None,
            (true, 0) => Some(Next::End),
            (true, rest) => Some(Next::Line(self.take(rest))),
        }
    }

    /// Consumes this many bytes, or those up to the end. `None` if they have not come yet.
    pub(crate) fn next_bytes(&mut self, count: usize) -> Option<Vec<u8>> {
        let pending = self.pending().len();
        (pending >= count || self.input_ended).then(|| self.take(count.min(pending)))
    }

    fn take(&mut self, count: usize) -> Vec<u8> {
        let taken = self.received.get(self.consumed..self.consumed + count).unwrap_or_default().to_vec();
        self.consumed += taken.len();
        // The buffer is cleared only when it is empty. To remove each line from its front would move the rest each
        // time.
        if self.consumed == self.received.len() {
            self.received.clear();
            (self.consumed, self.searched) = (0, 0);
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_read_behind_a_line_that_is_too_long() {
        let (from_peer, to_end) = std::io::pipe().unwrap();
        let (_from_end, to_peer) = std::io::pipe().unwrap();
        let mut end = End::new(to_peer.into(), from_peer.into()).up_to(4);
        write(&to_end, b"long, with its end\nabcd").unwrap();
        end.receive();
        assert_eq!(end.next_line(), Some(Next::Line(b"long, with its end\n".to_vec())));
        assert_eq!(end.next_line(), None);
        write(&to_end, b"e").unwrap();
        end.receive();
        assert!(end.wants_to_read().is_none());
        assert_eq!(end.next_line(), Some(Next::Line(b"abcde".to_vec())));
        assert_eq!(end.next_line(), Some(Next::End));
    }

    #[test]
    fn lines_bytes_and_the_end_are_consumed_in_order() {
        let (from_peer, to_end) = std::io::pipe().unwrap();
        let (from_end, to_peer) = std::io::pipe().unwrap();
        let mut end = End::new(to_peer.into(), from_peer.into());
        write(&to_end, b"one\ntwo\nrest").unwrap();
        end.receive();
        assert_eq!(end.next_line(), Some(Next::Line(b"one\n".to_vec())));
        assert_eq!(end.next_bytes(4).as_deref(), Some(&b"two\n"[..]));
        assert_eq!((end.next_line(), end.next_bytes(5)), (None, None));
        drop(to_end);
        end.receive();
        assert_eq!(end.next_line(), Some(Next::Line(b"rest".to_vec())));
        assert_eq!(end.next_line(), Some(Next::End));

        assert!(end.write(b"out") && end.wants_to_write().is_some());
        end.send();
        assert_eq!((end.unsent(), end.wants_to_write().is_some()), (0, false));
        assert!(end.has_unread());
        read(&from_end, &mut [0; 8]).unwrap();
        assert!(!end.has_unread());
        drop(from_end);
        end.write(b"lost");
        end.send();
        assert!(!end.write(b"closed") && end.unsent() == 0);
    }
}
