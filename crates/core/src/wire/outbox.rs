//! The bytes that are on their way to one peer. Keeps the bridge's own lines out of the middle of other lines (I2),
//! and tells when a line has left. Writing them is left to the shell.

use std::collections::VecDeque;

use bytes::{Buf, Bytes};
use memchr::memchr;

/// A position in the stream behind the bytes that were queued so far, for [`Outbox::has_passed`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark(u64);

/// The state of the writer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Open,
    /// The writer is to be closed once the queue is written. The outbox accepts no more bytes.
    Ending,
    /// The writer is closed: all bytes were written.
    Closed,
    /// The writer broke, or nothing reads what it writes.
    Abandoned,
}

/// A queue of bytes for one writer. The shell writes [`Outbox::chunks`], reports what it wrote with
/// [`Outbox::advance`], and [`Outbox::flushed`] once a buffering writer holds nothing back.
#[derive(Debug, Default)]
pub struct Outbox {
    queue: VecDeque<Bytes>,
    /// The bridge's own lines that wait for the end of the line that is being forwarded. An empty entry is a mark.
    waiting: VecDeque<Bytes>,
    /// How many entries of `waiting` are marks.
    waiting_marks: usize,
    /// Bytes of own lines since the queue was last empty.
    own_bytes: usize,
    /// Whether the last byte of the queue is in the middle of a line.
    mid_line: bool,
    /// Whether something was written that a buffering writer may still hold.
    unflushed: bool,
    stage: Stage,
    /// How many bytes were ever queued, and how many of them were written.
    queued: u64,
    written: u64,
    /// How many marks have passed. Behind them come those in `marks`, which are offsets in the stream, and then those
    /// in `waiting`.
    passed: u64,
    marks: VecDeque<u64>,
}

impl Outbox {
    /// Queues bytes of the other peer: whole lines, or a part of one.
    pub fn forward(&mut self, mut bytes: Bytes) {
        // An empty chunk would look to a writer like the end of the stream.
        if self.refuses() || bytes.is_empty() {
            return;
        }
        if self.mid_line && !self.waiting.is_empty() {
            let Some(end) = memchr(b'\n', &bytes).map(|at| at + 1) else { return self.push(bytes) };
            self.push(bytes.split_to(end));
            self.release();
        }
        if let Some(last) = bytes.last() {
            self.mid_line = *last != b'\n';
            self.push(bytes);
        }
    }

    /// Queues a line of the bridge's own.
    pub fn send(&mut self, line: Bytes) {
        if self.refuses() {
            return;
        }
        self.own_bytes += line.len();
        if self.mid_line {
            return self.waiting.push_back(line);
        }
        // A line that replaces an unterminated one is unterminated as well.
        self.mid_line = !line.ends_with(b"\n");
        self.push(line);
    }

    /// Returns a mark after all bytes that were queued, including own lines that wait. If those bytes end in the
    /// middle of a line, the mark is after that line. `None` if the outbox accepts no more bytes.
    pub fn mark(&mut self) -> Option<Mark> {
        if self.refuses() {
            return None;
        }
        if self.mid_line {
            self.waiting.push_back(Bytes::new());
            self.waiting_marks += 1;
        } else {
            self.marks.push_back(self.queued);
        }
        // Marks pass in the order in which they were made, so a count identifies each.
        Some(Mark(self.passed + (self.marks.len() + self.waiting_marks) as u64))
    }

    /// Returns whether all bytes up to this mark were written and flushed.
    pub fn has_passed(&self, mark: Mark) -> bool {
        mark.0 <= self.passed
    }

    /// Ends the stream: the writer is to be closed once the queue is written, and the outbox accepts no more bytes.
    pub fn end(&mut self) {
        if self.refuses() {
            return;
        }
        if self.waiting.iter().any(|line| !line.is_empty()) {
            // The rest of the forwarded line will not come. A line end keeps the waiting lines out of it (I2). Marks
            // alone need no line end, so the bytes stay as they came (I1).
            self.push(Bytes::from_static(b"\n"));
        }
        self.release();
        self.stage = Stage::Ending;
    }

    /// Drops the queue, because nothing reads it. Marks that have not passed will never pass.
    pub fn abandon(&mut self) {
        // Marks that have passed stay so: their lines were written.
        let passed = self.passed;
        *self = Outbox { stage: Stage::Abandoned, passed, ..Outbox::default() };
    }

    /// Returns the bytes that are to be written, in order.
    pub fn chunks(&self) -> impl ExactSizeIterator<Item = &Bytes> {
        self.queue.iter()
    }

    /// Takes bytes off the front of the queue: they were written.
    pub fn advance(&mut self, mut count: usize) {
        self.unflushed |= count > 0;
        while let Some(first) = self.queue.front_mut()
            && count > 0
        {
            let taken = count.min(first.len());
            first.advance(taken);
            count -= taken;
            self.written += taken as u64;
            if first.is_empty() {
                self.queue.pop_front();
            }
        }
    }

    /// Records that the writer has flushed everything that was written.
    pub fn flushed(&mut self) {
        self.unflushed = false;
        while self.marks.front().is_some_and(|offset| *offset <= self.written) {
            self.marks.pop_front();
            self.passed += 1;
        }
        if self.queue.is_empty() {
            // Lines that wait for the end of another line are not written yet, and still count.
            self.own_bytes = self.waiting.iter().map(Bytes::len).sum();
        }
    }

    /// Records that the writer was closed.
    pub fn closed(&mut self) {
        if self.stage == Stage::Ending {
            self.stage = Stage::Closed;
        }
    }

    /// Returns whether a line that is sent now would be the next that is written.
    pub fn is_clear(&self) -> bool {
        self.queue.is_empty() && !self.unflushed && !self.mid_line
    }

    /// Returns whether no bytes are queued. Own lines that wait for the end of another line do not count.
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Returns whether there is nothing for the writer to do: no bytes to write or flush, and no stream to close.
    pub fn is_idle(&self) -> bool {
        match self.stage {
            Stage::Open => self.queue.is_empty() && !self.unflushed,
            Stage::Ending => false,
            Stage::Closed | Stage::Abandoned => true,
        }
    }

    /// Returns whether the writer is to be closed once the queue is written and flushed.
    pub fn is_ending(&self) -> bool {
        self.stage == Stage::Ending
    }

    /// Returns whether bytes were lost, because nothing reads them.
    pub fn is_abandoned(&self) -> bool {
        self.stage == Stage::Abandoned
    }

    /// Returns how many bytes of own lines have piled up.
    pub fn own_bytes(&self) -> usize {
        self.own_bytes
    }

    /// Returns how many bytes were ever queued.
    pub fn queued(&self) -> u64 {
        self.queued
    }

    /// Returns how many bytes are held.
    pub fn held_bytes(&self) -> usize {
        self.queue.iter().chain(&self.waiting).map(Bytes::len).sum()
    }

    fn refuses(&self) -> bool {
        self.stage != Stage::Open
    }

    fn push(&mut self, bytes: Bytes) {
        self.queued += bytes.len() as u64;
        self.queue.push_back(bytes);
    }

    /// Queues what waited for the end of a line.
    fn release(&mut self) {
        while let Some(line) = self.waiting.pop_front() {
            if line.is_empty() {
                self.marks.push_back(self.queued);
            } else {
                self.push(line);
            }
        }
        self.waiting_marks = 0;
        self.mid_line = false;
    }
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, test_runner::FileFailurePersistence};

    use super::*;

    fn forward(outbox: &mut Outbox, text: &'static str) {
        outbox.forward(Bytes::from_static(text.as_bytes()));
    }

    fn send(outbox: &mut Outbox, text: &'static str) -> Mark {
        outbox.send(Bytes::from_static(text.as_bytes()));
        outbox.mark().expect("it takes lines")
    }

    /// Writes everything, at most so many bytes at once.
    fn write(outbox: &mut Outbox, at_once: usize) -> String {
        let mut written = Vec::new();
        loop {
            let Some(chunk) = outbox.chunks().next().cloned() else { break };
            let count = chunk.len().min(at_once);
            written.extend_from_slice(&chunk[..count]);
            outbox.advance(count);
        }
        outbox.flushed();
        if outbox.is_ending() {
            outbox.closed();
        }
        String::from_utf8(written).expect("text")
    }

    #[test]
    fn own_line_waits_for_the_end_of_a_line_and_goes_before_the_next() {
        let mut outbox = Outbox::default();
        forward(&mut outbox, "be");
        send(&mut outbox, "OWN\n");
        forward(&mut outbox, "gun");
        forward(&mut outbox, "\nnext\n");
        send(&mut outbox, "AND\n");
        assert_eq!(write(&mut outbox, 100), "begun\nOWN\nnext\nAND\n");
    }

    #[test]
    fn own_lines_stand_alone_behind_a_line_that_never_ends() {
        let mut outbox = Outbox::default();
        forward(&mut outbox, "half");
        let one = send(&mut outbox, "ONE\n");
        send(&mut outbox, "TWO\n");
        outbox.end();
        assert_eq!(write(&mut outbox, 100), "half\nONE\nTWO\n");
        assert!(outbox.is_idle() && outbox.has_passed(one));
    }

    #[test]
    fn line_that_never_ends_keeps_its_bytes_where_no_own_line_follows() {
        let mut outbox = Outbox::default();
        forward(&mut outbox, "half");
        let mark = outbox.mark().expect("it takes lines");
        outbox.end();
        assert_eq!(write(&mut outbox, 100), "half");
        assert!(outbox.has_passed(mark));
    }

    #[test]
    fn own_line_stands_alone_behind_an_own_line_without_terminator() {
        let mut outbox = Outbox::default();
        send(&mut outbox, "REWRITTEN");
        send(&mut outbox, "OWN\n");
        outbox.end();
        assert_eq!(write(&mut outbox, 100), "REWRITTEN\nOWN\n");
    }

    #[test]
    fn own_lines_count_until_they_have_left() {
        let mut outbox = Outbox::default();
        for _ in 0..3 {
            forward(&mut outbox, "a line that trickles");
            send(&mut outbox, "OWN\n");
            write(&mut outbox, 100);
        }
        assert_eq!(outbox.own_bytes(), 3 * "OWN\n".len());
        forward(&mut outbox, "\n");
        assert_eq!(write(&mut outbox, 100), "\nOWN\nOWN\nOWN\n");
        assert_eq!(outbox.own_bytes(), 0);
    }

    #[test]
    fn mark_passes_when_its_line_was_flushed_as_a_whole() {
        let mut outbox = Outbox::default();
        forward(&mut outbox, "begun");
        let (line, own) = (outbox.mark().expect("it takes lines"), send(&mut outbox, "OWN\n"));
        write(&mut outbox, 100);
        assert!(!outbox.has_passed(line) && !outbox.has_passed(own), "the line has not ended");
        forward(&mut outbox, "\n");
        let next = send(&mut outbox, "NEXT\n");
        outbox.advance("\nOWN\n".len());
        assert!(!outbox.has_passed(line), "not flushed");
        outbox.flushed();
        assert!(outbox.has_passed(line) && outbox.has_passed(own) && !outbox.has_passed(next));
        assert!(!outbox.is_idle());
    }

    #[test]
    fn nothing_is_kept_for_a_writer_that_broke() {
        let mut outbox = Outbox::default();
        forward(&mut outbox, "read\n");
        let read = outbox.mark().expect("it takes lines");
        write(&mut outbox, 100);
        let lost = send(&mut outbox, "lost\n");
        outbox.abandon();
        outbox.send(Bytes::from_static(b"lost as well\n"));
        outbox.flushed();
        assert_eq!(outbox.mark(), None);
        assert!(outbox.is_idle() && outbox.own_bytes() == 0 && outbox.held_bytes() == 0);
        assert!(outbox.has_passed(read) && !outbox.has_passed(lost));
    }

    /// One thing that happens to an outbox.
    #[derive(Clone, Debug)]
    enum Move {
        Forward(String),
        Send,
        Mark,
        Write(usize),
        Flush,
    }

    fn any_move() -> impl Strategy<Value = Move> {
        prop_oneof![
            4 => "[ab\n]{0,6}".prop_map(Move::Forward),
            2 => Just(Move::Send),
            1 => Just(Move::Mark),
            3 => (0..12usize).prop_map(Move::Write),
            1 => Just(Move::Flush),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_failure_persistence(FileFailurePersistence::WithSource("seeds")))]

        #[test]
        fn own_lines_never_land_inside_another_line_and_marks_pass_in_order(
            moves in prop::collection::vec(any_move(), 0..40),
        ) {
            let (mut outbox, mut written, mut forwarded) = (Outbox::default(), String::new(), String::new());
            // With each mark: how many own lines, and how many forwarded bytes, stand before it.
            let (mut marks, mut own) = (Vec::new(), 0);
            let mut flushed = 0;
            for step in moves {
                match step {
                    Move::Forward(text) => {
                        forwarded.push_str(&text);
                        outbox.forward(text.into());
                    }
                    Move::Send => {
                        own += 1;
                        outbox.send(format!("O{own}\n").into());
                    }
                    Move::Mark => {
                        let mark = outbox.mark().expect("it takes lines");
                        marks.push((mark, own, forwarded.len()));
                    }
                    Move::Write(count) => {
                        let all: Vec<u8> = outbox.chunks().flatten().copied().collect();
                        let count = count.min(all.len());
                        written.push_str(std::str::from_utf8(&all[..count]).expect("ASCII"));
                        outbox.advance(count);
                    }
                    Move::Flush => {
                        outbox.flushed();
                        flushed = written.len();
                    }
                }
                for (mark, own, bytes) in &marks {
                    let left = &written[..flushed];
                    let owns = left.lines().filter(|line| line.starts_with('O')).count();
                    let others = left.split_inclusive('\n').filter(|line| !line.starts_with('O'));
                    let whole = owns >= *own && others.map(str::len).sum::<usize>() >= *bytes;
                    prop_assert!(whole || !outbox.has_passed(*mark), "{mark:?} in {left:?}");
                }
            }
            outbox.end();
            written.push_str(&write(&mut outbox, 3));
            prop_assert!(marks.iter().all(|(mark, ..)| outbox.has_passed(*mark)));
            let owns: Vec<_> = written.lines().filter(|line| line.contains('O')).map(str::to_owned).collect();
            prop_assert_eq!(owns, (1..=own).map(|number| format!("O{number}")).collect::<Vec<_>>());
            let mut others: String = written.split_inclusive('\n').filter(|line| !line.contains('O')).collect();
            // A line that will not end gets an end, where an own line follows.
            if others.len() > forwarded.len() {
                prop_assert_eq!(others.pop(), Some('\n'));
            }
            prop_assert_eq!(others, forwarded);
        }
    }
}
