//! The properties of the pieces of a byte stream for any bytes, any chunks and any judge.
//! The property tests and the fuzz targets share them.

use std::{collections::BTreeSet, fmt, ops::Range};

use askbridge_core::{
    limits::{HOLD, READ},
    wire::frame::{Piece, Splitter, Verdict},
};

/// The lines that a judge wants.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Temper {
    /// None.
    Ordinary,
    /// All.
    Wanted,
    /// Decided by a hash of the first `look` bytes; a line that is shorter so far is wanted.
    Mixed { look: usize, salt: u8 },
}

impl Temper {
    fn judge(self, line: &[u8]) -> Verdict {
        let wanted = match self {
            Temper::Ordinary => false,
            Temper::Wanted => true,
            Temper::Mixed { look, .. } if line.len() < look && !line.ends_with(b"\n") => true,
            Temper::Mixed { look, salt } => {
                let seen = line.iter().take(look);
                seen.fold(salt, |hash, byte| hash.wrapping_mul(31).wrapping_add(*byte)) & 4 == 0
            }
        };
        // The number of an id counts for this judge, but would not have to.
        let has_id = line.starts_with(b"{\"id\"") || line.starts_with(b"{\"jsonrpc\"");
        match self {
            _ if wanted => Verdict::Intercept,
            Temper::Mixed { look, .. } if look < line.len() && !has_id => Verdict::ForwardAlike(look),
            _ => Verdict::Forward,
        }
    }
}

/// A byte stream and the sizes of its chunks.
#[derive(Clone)]
pub(crate) struct Cutting {
    pub(crate) bytes: Vec<u8>,
    /// The sizes of the chunks, which repeat.
    pub(crate) chunks: Vec<usize>,
    pub(crate) temper: Temper,
    /// Whether the rest of a line that is too long to hold is dropped.
    pub(crate) drops: bool,
}

impl fmt::Debug for Cutting {
    /// Shows the beginning, the end and the length of each line.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Cutting { chunks, temper, drops, .. } = self;
        write!(formatter, "chunks {chunks:?}, {temper:?}, drops {drops}, lines")?;
        self.lines().iter().try_for_each(|line| {
            let bytes = &self.bytes[line.clone()];
            let ends = bytes.len() - bytes.len().min(4);
            let (begins, ends) = (bytes[..bytes.len().min(9)].escape_ascii(), bytes[ends..].escape_ascii());
            write!(formatter, " [{begins}..{ends} {}]", line.len())
        })
    }
}

impl Cutting {
    /// Cuts the stream and checks the pieces. Returns the wanted lines that fit.
    pub(crate) fn check(&self) -> Vec<Range<usize>> {
        self.check_pieces(&self.pieces())
    }

    fn largest(&self) -> usize {
        self.chunks.iter().copied().max().unwrap_or(1).max(READ)
    }

    fn pieces(&self) -> Vec<Piece> {
        let judge = |line: &[u8]| self.temper.judge(line);
        let mut splitter = Splitter::default();
        let (mut pieces, mut rest, mut count) = (Vec::new(), &self.bytes[..], 0);
        for chunk in self.chunks.iter().cycle() {
            let (now, later) = rest.split_at((*chunk).clamp(1, rest.len().max(1)).min(rest.len()));
            rest = later;
            splitter.space().extend_from_slice(now);
            while let Some(piece) = splitter.next(judge) {
                if matches!(piece, Piece::Head(_)) && self.drops {
                    splitter.drop_rest();
                }
                pieces.push(piece);
            }
            count += 1;
            // I6: the splitter holds less than one line at the limit, in a buffer that does not grow with the
            // traffic. It may return a large buffer once, when no piece shares it any more.
            splitter.space();
            let space = splitter.space();
            assert!(space.len() < HOLD, "{} bytes are held", space.len());
            let most = if space.is_empty() { 2 * READ } else { 2 * (HOLD + self.largest()) };
            assert!(space.capacity() <= most, "room for {} bytes is held", space.capacity());
            if rest.is_empty() {
                break;
            }
        }
        if matches!(self.temper, Temper::Ordinary) {
            assert!(pieces.len() <= count, "{} pieces of {count} chunks", pieces.len());
        }
        pieces.extend(splitter.end(judge));
        pieces
    }

    fn check_pieces(&self, pieces: &[Piece]) -> Vec<Range<usize>> {
        let lines = self.lines();
        let line_at = |at: usize| lines[lines.partition_point(|line| line.end <= at)].clone();
        let (mut at, mut begun, mut fitting) = (0, BTreeSet::new(), Vec::new());
        for piece in pieces {
            let (Piece::Run(bytes) | Piece::Line(bytes) | Piece::Head(bytes)) = piece;
            assert!(!bytes.is_empty(), "an empty piece at {at}");
            let span = at..at + bytes.len();
            // I1, I2: the concatenated pieces are the stream.
            assert!(self.bytes.get(span.clone()) == Some(&bytes[..]), "other bytes at {span:?}");
            let line = line_at(at);
            at = span.end;
            match piece {
                Piece::Run(_) => self.check_run(&lines, span, &begun),
                Piece::Line(_) => {
                    assert_eq!(span, line, "not one line");
                    assert_eq!(self.judge(&line), Verdict::Intercept);
                    assert!(line.len() < HOLD + self.largest(), "a line of {} bytes was held", line.len());
                    fitting.extend(self.fits(&line).then_some(line));
                }
                Piece::Head(_) => {
                    assert_eq!(span.start, line.start, "not the beginning of a line");
                    assert!(span.end <= line.end && (HOLD..HOLD + self.largest()).contains(&span.len()));
                    assert_eq!(self.judge(&line), Verdict::Intercept);
                    begun.insert(line.start);
                    at = if self.drops { line.end } else { at };
                }
            }
        }
        assert_eq!(at, self.bytes.len(), "the end is missing");
        let wanted = |line: &Range<usize>| self.fits(line) && self.judge(line) == Verdict::Intercept;
        assert!(lines.iter().filter(|line| wanted(line)).eq(&fitting), "not all wanted lines came");
        fitting
    }

    /// Checks that a run has no part of a wanted line, unless the beginning of that line was a head.
    fn check_run(&self, lines: &[Range<usize>], span: Range<usize>, begun: &BTreeSet<usize>) {
        let first = lines.partition_point(|line| line.end <= span.start);
        for line in lines[first..].iter().take_while(|line| line.start < span.end) {
            let wanted = self.judge(line) == Verdict::Intercept;
            assert!(!wanted || begun.contains(&line.start), "a wanted line at {line:?} in the run {span:?}");
        }
    }

    /// Returns whether a line is held as a whole at any chunking: it ends before it reaches the limit.
    fn fits(&self, line: &Range<usize>) -> bool {
        line.len() - usize::from(self.bytes[line.clone()].ends_with(b"\n")) < HOLD
    }

    fn judge(&self, line: &Range<usize>) -> Verdict {
        self.temper.judge(&self.bytes[line.clone()])
    }

    fn lines(&self) -> Vec<Range<usize>> {
        let mut start = 0;
        let lines = self.bytes.split_inclusive(|byte| *byte == b'\n').map(|line| {
            let line = start..start + line.len();
            start = line.end;
            line
        });
        lines.collect()
    }
}
