//! Cuts a byte stream into bytes that are forwarded unchanged, and lines that are intercepted. A frame is a line of
//! bytes with its terminator. The pieces that come out, joined, are the bytes that went in, at any chunking; which
//! lines are intercepted is left to the judge. Agents write most of their lines alike, so a line with the same
//! beginning as the ordinary line before it is not judged again.

use bytes::{Buf, Bytes, BytesMut};
use memchr::{memchr, memchr_iter};

use super::scan::behind_digits;
use crate::limits::{HOLD, HOLD_QUESTION, READ, STREAM};

/// The verdict on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is forwarded unchanged.
    Forward,
    /// It is forwarded unchanged, and so is each line that begins with the same bytes. The number says how many bytes
    /// are compared; a number as the ID may differ.
    ForwardAlike(usize),
    /// It must be read as a whole.
    Intercept,
    /// It must be read as a whole, and may have images in it: a longer one is held.
    InterceptQuestion,
    /// It must be read, but its first [`STREAM`] bytes say all that is to be known. The verdict depends on no others.
    InterceptBeginning,
}

impl Verdict {
    /// Returns whether the line, or its beginning, must be read.
    pub fn intercepts(self) -> bool {
        matches!(self, Verdict::Intercept | Verdict::InterceptQuestion | Verdict::InterceptBeginning)
    }

    /// Returns how long a line may be to be held as a whole.
    fn holds(self) -> usize {
        match self {
            Verdict::InterceptBeginning => STREAM,
            Verdict::InterceptQuestion => HOLD_QUESTION,
            _ => HOLD,
        }
    }
}

/// One piece of the stream, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// Ordinary bytes: whole lines, or parts of a line that streams through.
    Run(Bytes),
    /// One intercepted line, with its terminator unless the input ended without one.
    Line(Bytes),
    /// The beginning of an intercepted line that is too long to hold or that need not be held, or all of that line.
    /// [`Splitter::drop_rest`] drops the rest of the line.
    Head(Bytes),
}

/// The treatment of the rest of a line whose beginning was already returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    /// The next byte begins a line.
    None,
    Pass,
    Drop,
}

/// Cuts one direction's bytes into pieces. Holds at most [`HOLD_QUESTION`] bytes and one read.
#[derive(Debug)]
pub struct Splitter {
    buffer: BytesMut,
    /// How many bytes of the unfinished line were searched for its end.
    searched: usize,
    /// How long the unfinished line was when it was last judged.
    judged: usize,
    rest: Rest,
    lines: u64,
}

impl Default for Splitter {
    fn default() -> Self {
        Splitter { buffer: BytesMut::with_capacity(READ), searched: 0, judged: 0, rest: Rest::None, lines: 0 }
    }
}

impl Splitter {
    /// Returns the buffer to read into, with room for [`READ`] bytes.
    pub fn space(&mut self) -> &mut BytesMut {
        // After a long line the buffer is large; it is not kept.
        if self.buffer.is_empty() && self.buffer.capacity() > 2 * READ {
            self.buffer = BytesMut::new();
        }
        self.buffer.reserve(READ);
        &mut self.buffer
    }

    /// Returns the bytes that were read, but not yet returned in a piece.
    pub fn left(&self) -> &[u8] {
        &self.buffer
    }

    /// Returns how many lines have ended so far.
    pub fn lines(&self) -> u64 {
        self.lines
    }

    /// Returns whether all bytes that were read have been returned in pieces.
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty()
    }

    /// Drops the rest of the line whose [`Piece::Head`] was returned last, instead of forwarding it.
    pub fn drop_rest(&mut self) {
        if self.rest == Rest::Pass {
            self.rest = Rest::Drop;
        }
    }

    /// Returns the next piece of what has been read. `judge` gets a line, or the beginning of a long one.
    pub fn next(&mut self, mut judge: impl FnMut(&[u8]) -> Verdict) -> Option<Piece> {
        self.next_piece(&mut judge)
    }

    // The search is compiled with this crate, which is optimized for speed, and not with each caller.
    fn next_piece(&mut self, judge: &mut dyn FnMut(&[u8]) -> Verdict) -> Option<Piece> {
        let begun = self.take_rest();
        let (run, wanted) = self.ordinary_lines(begun, judge);
        // A line has ended: the unfinished line is not the one that was judged before.
        if run > begun {
            self.judged = 0;
        }
        if let Some((end, holds)) = wanted {
            self.searched = 0;
            // The ordinary lines before it come out first; the next call returns this line.
            return Some(if run > 0 { self.run(run) } else { self.line(end, holds) });
        }
        self.searched = self.buffer.len() - run;
        if let Some(piece) = self.unfinished(run, judge) {
            return Some(piece);
        }
        (run > 0).then(|| self.run(run))
    }

    /// Returns the rest when the input has ended: the last line, if it has no terminator.
    pub fn end(&mut self, mut judge: impl FnMut(&[u8]) -> Verdict) -> Option<Piece> {
        let length = self.buffer.len();
        let verdict = (length > 0 && self.rest == Rest::None).then(|| judge(&self.buffer));
        let wanted = verdict.filter(|verdict| verdict.intercepts());
        (length > 0).then(|| match wanted {
            Some(verdict) => self.line(length, verdict.holds()),
            None => self.run(length),
        })
    }

    /// Scans the ordinary lines from `begun` on. Returns where they end, and the end of the intercepted line that
    /// follows, if that line is complete, with the length up to which it is held.
    fn ordinary_lines(
        &mut self,
        begun: usize,
        judge: &mut dyn FnMut(&[u8]) -> Verdict,
    ) -> (usize, Option<(usize, usize)>) {
        let buffer = &self.buffer[..];
        let mut run = begun;
        // The beginning borrows from the buffer, which the next read may move. So it counts for this call alone.
        let mut usual: Option<Beginning<'_>> = None;
        let from = begun + self.searched;
        for end in memchr_iter(b'\n', &buffer[from..]).map(|at| from + at + 1) {
            if usual.is_none_or(|usual| !usual.begins(&buffer[run..])) {
                match judge(&buffer[run..end]) {
                    Verdict::Forward => {}
                    Verdict::ForwardAlike(length) => usual = Some(Beginning::new(&buffer[run..run + length])),
                    verdict => {
                        return (run, Some((end, verdict.holds())));
                    }
                }
            }
            run = end;
            self.lines += 1;
        }
        (run, None)
    }

    /// Returns how many bytes at the front are to be forwarded with a line whose beginning was already returned.
    fn take_rest(&mut self) -> usize {
        if self.rest == Rest::None {
            return 0;
        }
        let (length, rest) = match memchr(b'\n', &self.buffer).map(|at| at + 1) {
            Some(end) => (end, Rest::None),
            None => (self.buffer.len(), self.rest),
        };
        self.lines += u64::from(rest == Rest::None);
        if std::mem::replace(&mut self.rest, rest) == Rest::Pass {
            return length;
        }
        self.buffer.advance(length);
        0
    }

    /// Forwards the unfinished line that begins at `run`, with the bytes before it, if it need not be held.
    fn unfinished(&mut self, run: usize, judge: &mut dyn FnMut(&[u8]) -> Verdict) -> Option<Piece> {
        let length = self.buffer.len() - run;
        // The line is judged again only when its length has doubled, so that the cost of a line that trickles in is not
        // quadratic.
        if length < STREAM || length < (2 * self.judged).min(HOLD) || self.rest != Rest::None {
            return None;
        }
        self.judged = length;
        let verdict = judge(&self.buffer[run..]);
        let wanted = verdict.intercepts();
        // A head begins with its line: the bytes before it leave as a piece of their own first.
        if wanted && (length < verdict.holds() || run > 0) {
            return None;
        }
        (self.rest, self.searched, self.judged) = (Rest::Pass, 0, 0);
        let all = self.buffer.split().freeze();
        Some(if wanted { Piece::Head(all) } else { Piece::Run(all) })
    }

    fn run(&mut self, length: usize) -> Piece {
        Piece::Run(self.buffer.split_to(length).freeze())
    }

    fn line(&mut self, length: usize, holds: usize) -> Piece {
        (self.searched, self.judged) = (0, 0);
        self.lines += 1;
        let line = self.buffer.split_to(length).freeze();
        // The end of the line may arrive in the read that makes it too long. The kind of the piece must not depend on
        // how the reads were cut.
        if length > holds { Piece::Head(line) } else { Piece::Line(line) }
    }
}

/// The bytes before the id of a message that begins with it.
const BEFORE_ID: [&[u8]; 2] = [br#"{"jsonrpc":"2.0","id":"#, br#"{"id":"#];

/// The beginning of a line, without the number that is its ID.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beginning<'a> {
    /// All of the beginning, or the bytes before the ID.
    head: &'a [u8],
    /// The bytes behind the id.
    tail: Option<&'a [u8]>,
}

impl<'a> Beginning<'a> {
    /// Returns these first bytes of a line as a beginning.
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        let behind_id =
            |before: &&'static [u8]| Some((*before, behind_digits(bytes.strip_prefix(*before)?)?));
        match BEFORE_ID.iter().find_map(behind_id) {
            Some((head, tail)) => Beginning { head, tail: Some(tail) },
            None => Beginning { head: bytes, tail: None },
        }
    }

    /// Returns whether these bytes have the same beginning.
    #[inline]
    pub(super) fn begins(&self, bytes: &[u8]) -> bool {
        let rest = behind(bytes, self.head);
        match self.tail {
            Some(tail) => rest.and_then(behind_digits).and_then(|rest| behind(rest, tail)).is_some(),
            None => rest.is_some(),
        }
    }
}

/// Returns the rest of `bytes` if they begin with `first`.
#[inline(always)]
fn behind<'b>(bytes: &'b [u8], first: &[u8]) -> Option<&'b [u8]> {
    let (begins, rest) = bytes.split_at_checked(first.len())?;
    // The bytes are few: calling the C library to compare them would take longer.
    let is_same = is_same_by::<16>(begins, first).or_else(|| is_same_by::<4>(begins, first));
    is_same.unwrap_or_else(|| begins.iter().eq(first)).then_some(rest)
}

/// Compares two slices of the same length in blocks of `MANY` bytes; `None` if they are shorter than one block.
#[inline(always)]
fn is_same_by<const MANY: usize>(one: &[u8], other: &[u8]) -> Option<bool> {
    // The last block may overlap the block before it. So no rest is left to compare byte by byte.
    let (one_last, other_last) = one.last_chunk::<MANY>().zip(other.last_chunk())?;
    let (one, other) = (one.as_chunks::<MANY>().0, other.as_chunks::<MANY>().0);
    Some(one.iter().zip(other).all(|(one, other)| one == other) && one_last == other_last)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Intercepts lines that begin with `?`, as far as they have arrived.
    fn judge(line: &[u8]) -> Verdict {
        if line.starts_with(b"?") { Verdict::Intercept } else { Verdict::Forward }
    }

    fn feed(splitter: &mut Splitter, bytes: &[u8]) -> Vec<Piece> {
        splitter.space().extend_from_slice(bytes);
        std::iter::from_fn(|| splitter.next(judge)).collect()
    }

    fn run(bytes: &[u8]) -> Piece {
        Piece::Run(Bytes::copy_from_slice(bytes))
    }

    fn line(bytes: &[u8]) -> Piece {
        Piece::Line(Bytes::copy_from_slice(bytes))
    }

    #[test]
    fn ordinary_lines_of_one_read_leave_in_one_run() {
        let mut splitter = Splitter::default();
        assert_eq!(feed(&mut splitter, b"a\n\r\n\nb\nc"), [run(b"a\n\r\n\nb\n")]);
        assert_eq!(splitter.end(judge), Some(run(b"c")));
    }

    #[test]
    fn a_wanted_line_comes_out_alone_and_in_its_place() {
        let mut splitter = Splitter::default();
        assert_eq!(
            feed(&mut splitter, b"a\n?1\n?2\nb\n?"),
            [run(b"a\n"), line(b"?1\n"), line(b"?2\n"), run(b"b\n")]
        );
        assert_eq!(feed(&mut splitter, b"3\n"), [line(b"?3\n")]);
        assert_eq!(splitter.end(judge), None);
        assert_eq!(splitter.lines(), 5);
    }

    #[test]
    fn a_long_ordinary_line_goes_on_before_its_end_is_there() {
        let mut splitter = Splitter::default();
        let part = vec![b'x'; STREAM];
        assert_eq!(feed(&mut splitter, &part), [run(&part)]);
        assert_eq!(feed(&mut splitter, b"?y"), [run(b"?y")]);
        assert_eq!(feed(&mut splitter, b"\n?z\n"), [run(b"\n"), line(b"?z\n")]);
        assert_eq!(splitter.lines(), 2);
    }

    #[test]
    fn a_question_is_held_to_a_limit_of_its_own() {
        let judge =
            |line: &[u8]| if line.starts_with(b"?") { Verdict::InterceptQuestion } else { Verdict::Forward };
        for chunk in [READ, HOLD, 2 * HOLD_QUESTION] {
            for (length, is_whole) in [(HOLD + 1, true), (HOLD_QUESTION, true), (HOLD_QUESTION + READ, false)]
            {
                let bytes = [vec![b'?'; length - 1], b"\n".to_vec()].concat();
                let mut splitter = Splitter::default();
                let mut pieces = Vec::new();
                for part in bytes.chunks(chunk) {
                    splitter.space().extend_from_slice(part);
                    pieces.extend(std::iter::from_fn(|| splitter.next(judge)));
                }
                let is_line = matches!(&pieces[..], [Piece::Line(line)] if line.len() == length);
                assert_eq!(is_line, is_whole, "{length} bytes in chunks of {chunk}");
                assert!(is_whole || matches!(&pieces[0], Piece::Head(head) if head.len() >= HOLD_QUESTION));
            }
        }
    }

    #[test]
    fn a_wanted_line_is_held_to_the_limit_and_then_shows_its_beginning() {
        let mut splitter = Splitter::default();
        let part = vec![b'?'; HOLD - 1];
        assert_eq!(feed(&mut splitter, &part), []);
        let [Piece::Head(head)] = &feed(&mut splitter, b"??")[..] else { panic!("no head") };
        assert_eq!(head.len(), HOLD + 1);
        splitter.drop_rest();
        assert_eq!(feed(&mut splitter, b"dropped"), []);
        assert_eq!(feed(&mut splitter, b"dropped\nb\n"), [run(b"b\n")]);
    }

    #[test]
    fn a_wanted_line_that_is_too_long_is_so_at_any_chunking() {
        let longest = [vec![b'?'; HOLD - 1], b"\n".to_vec()].concat();
        let too_long = [&b"?"[..], &longest].concat();
        for chunk in [1000, READ, HOLD, 2 * HOLD] {
            let mut splitter = Splitter::default();
            let mut pieces = |bytes: &[u8]| -> Vec<Piece> {
                bytes.chunks(chunk).flat_map(|chunk| feed(&mut splitter, chunk)).collect()
            };
            assert_eq!(pieces(&longest), [line(&longest)]);
            assert!(matches!(&pieces(&too_long)[..], [Piece::Head(_), ..]), "in chunks of {chunk}");
            assert_eq!(pieces(b"?\n"), [line(b"?\n")]);
        }
    }

    #[test]
    fn a_line_whose_beginning_says_all_is_not_held_at_any_chunking() {
        let judge = |line: &[u8]| match line.get(..STREAM) {
            Some(_) => Verdict::InterceptBeginning,
            None => Verdict::Intercept,
        };
        let longest = [vec![b'?'; STREAM - 1], b"\n".to_vec()].concat();
        let longer = [&b"?"[..], &longest].concat();
        for chunk in [1, 1000, STREAM, READ] {
            let mut splitter = Splitter::default();
            let mut pieces = |bytes: &[u8]| -> Vec<Piece> {
                let mut pieces = Vec::new();
                for chunk in bytes.chunks(chunk) {
                    splitter.space().extend_from_slice(chunk);
                    pieces.extend(std::iter::from_fn(|| splitter.next(judge)));
                }
                pieces
            };
            assert_eq!(pieces(&longest), [line(&longest)]);
            let [Piece::Head(head), rest @ ..] = &pieces(&longer)[..] else { panic!("in chunks of {chunk}") };
            assert_eq!(head.len() + usize::from(rest == [run(b"\n")]), longer.len());
            assert_eq!(pieces(b"?\n"), [line(b"?\n")]);
        }
    }

    #[test]
    fn a_line_that_trickles_in_is_judged_seldom() {
        let mut splitter = Splitter::default();
        let mut judged = 0;
        for _ in 0..(256 * 1024) {
            splitter.space().extend_from_slice(b"?");
            let piece = splitter.next(|line| {
                judged += 1;
                judge(line)
            });
            assert_eq!(piece, None);
        }
        assert!(judged < 10, "judged {judged} times");
    }

    #[test]
    fn any_other_byte_makes_a_difference() {
        for length in 0..40 {
            let first: Vec<u8> = (0..length).collect();
            let line = [&first[..], b"rest"].concat();
            assert_eq!(behind(&line, &first), Some(&b"rest"[..]));
            assert_eq!(behind(&first, &line), None);
            for place in 0..first.len() {
                let mut other = line.clone();
                other[place] ^= 0x80;
                assert_eq!(behind(&other, &first), None, "byte {place} of {length}");
            }
        }
    }

    #[test]
    fn only_the_number_of_an_id_may_differ() {
        let begins = |one: &str, other: &str| Beginning::new(one.as_bytes()).begins(other.as_bytes());
        let call = r#"{"jsonrpc":"2.0","id":17,"method":"x/y""#;
        assert!(begins(call, r#"{"jsonrpc":"2.0","id":12345678901,"method":"x/y","params":{}}"#));
        assert!(begins(call, r#"{"jsonrpc":"2.0","id":5,"method":"x/y"}"#));
        assert!(begins(r#"{"id":1,"method":"x/y""#, r#"{"id":23,"method":"x/y"}"#));
        assert!(begins(r#"{"method":"x/y""#, r#"{"method":"x/y"}"#));
        for other in [
            r#"{"jsonrpc":"2.0","id":"17","method":"x/y"}"#,
            r#"{"jsonrpc":"2.0","id":,"method":"x/y"}"#,
            r#"{"jsonrpc":"2.0","id":17,"method":"x/z"}"#,
            r#"{"jsonrpc":"2.0","id":17,"metho"#,
            r#"{"id":17,"method":"x/y"}"#,
            "",
        ] {
            assert!(!begins(call, other), "{other}");
        }
    }
}
