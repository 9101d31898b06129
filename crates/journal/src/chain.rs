//! The hash chain over settlements: the hash of a row, and the check that finds where the chain is broken. Pure.
//! How rows are read and written is left to `entries` and `verify`.

use sha2::{Digest, Sha256};

use crate::limits;

/// A SHA-256 hash.
pub(super) type Hash = [u8; 32];

/// The hash before the first row.
pub(super) const START: Hash = [0; 32];

/// The value of one column, as it is stored in the file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Cell<'a> {
    Null,
    Integer(i64),
    Real(f64),
    Text(&'a [u8]),
    Blob(&'a [u8]),
}

/// Returns the hash of a row. It covers the previous hash, and each column with its kind and its length, so that two
/// different rows never hash the same bytes.
pub(super) fn hash(previous: &[u8], cells: &[Cell<'_>]) -> Hash {
    let mut digest = Sha256::new();
    let mut add = |kind: u8, bytes: &[u8]| {
        digest.update([kind]);
        digest.update((bytes.len() as u64).to_be_bytes());
        digest.update(bytes);
    };
    add(b'p', previous);
    for cell in cells {
        match cell {
            Cell::Null => add(b'n', &[]),
            Cell::Integer(number) => add(b'i', &number.to_be_bytes()),
            Cell::Real(number) => add(b'r', &number.to_be_bytes()),
            Cell::Text(text) => add(b't', text),
            Cell::Blob(bytes) => add(b'b', bytes),
        }
    }
    digest.finalize().into()
}

/// The kind of a break in the chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The columns of the row do not have its hash.
    Changed,
    /// The row does not follow from the row before it.
    Unlinked,
    /// The first row does not follow from the anchor that was recorded when older rows were removed.
    WrongAnchor,
    /// The rows from the first to the last number are missing.
    Missing(i64, i64),
    /// The last rows are missing, from the first to the last number.
    Cut(i64, i64),
    /// The head is not the last row.
    WrongHead,
}

/// A place at which the chain is broken: the number of the row, and what is wrong.
pub(super) type FaultAt = (i64, Fault);

/// Checks the rows of a chain, one after the other.
#[derive(Debug)]
pub(super) struct Verifier {
    seq: i64,
    hash: Vec<u8>,
    is_first: bool,
    /// The number of rows.
    pub(super) rows: u64,
    /// The first breaks, up to [`limits::BREAKS`].
    pub(super) breaks: Vec<FaultAt>,
    /// The number of breaks.
    pub(super) broken: u64,
}

impl Verifier {
    /// Begins after the row with this number and this hash, which was removed last.
    pub(super) fn new(seq: i64, hash: Vec<u8>) -> Self {
        Verifier { seq, hash, is_first: true, rows: 0, breaks: Vec::new(), broken: 0 }
    }

    /// Returns the number of the row that was read last.
    pub(super) fn last(&self) -> i64 {
        self.seq
    }

    /// Checks the next row. `is_hashed` says whether its columns have its hash.
    pub(super) fn row(&mut self, seq: i64, previous: &[u8], hash: &[u8], is_hashed: bool) {
        // The addition saturates, since a file that was tampered with may have any number.
        let next = self.seq.saturating_add(1);
        if seq != next {
            self.found(seq, Fault::Missing(next, seq.saturating_sub(1)));
        } else if previous != self.hash {
            self.found(seq, if self.is_first { Fault::WrongAnchor } else { Fault::Unlinked });
        }
        if !is_hashed {
            self.found(seq, Fault::Changed);
        }
        // The next row is checked against the hash that is stored in this row, so one changed row is one break.
        self.rows += 1;
        (self.seq, self.is_first) = (seq, false);
        self.hash = hash.to_owned();
    }

    /// Checks the last row against the head.
    pub(super) fn end(&mut self, head: Option<(i64, &[u8])>) {
        match head {
            Some((seq, _)) if seq > self.seq => self.found(seq, Fault::Cut(self.seq + 1, seq)),
            Some((seq, hash)) if seq == self.seq && hash == self.hash => {}
            _ => self.found(self.seq, Fault::WrongHead),
        }
    }

    fn found(&mut self, seq: i64, fault: Fault) {
        self.broken += 1;
        if self.breaks.len() < limits::BREAKS {
            self.breaks.push((seq, fault));
        }
    }
}

#[cfg(test)]
mod tests {
    use data_encoding::HEXLOWER;

    use super::*;

    #[test]
    fn rows_with_the_same_bytes_in_other_columns_differ() {
        let rows: [&[Cell<'_>]; 6] = [
            &[Cell::Text(b"ab"), Cell::Text(b"c")],
            &[Cell::Text(b"a"), Cell::Text(b"bc")],
            &[Cell::Text(b"abc")],
            &[Cell::Blob(b"ab"), Cell::Text(b"c")],
            &[Cell::Text(b"ab"), Cell::Null, Cell::Text(b"c")],
            &[Cell::Text(b"ab"), Cell::Text(b"c"), Cell::Integer(0)],
        ];
        for (one, row) in rows.iter().enumerate() {
            for (other, second) in rows.iter().enumerate() {
                assert_eq!(hash(&START, row) == hash(&START, second), one == other, "{row:?} {second:?}");
            }
            assert_ne!(hash(&START, row), hash(&[1; 32], row));
        }
    }

    #[test]
    fn hash_of_a_row_never_changes() {
        let row = [Cell::Integer(1), Cell::Text(b"b-1"), Cell::Null];
        let known = "aa83ef29c1ebeae2423adbbd2f32705ea90cdce212392079ce4415dc8202f0e1";
        assert_eq!(HEXLOWER.encode(&hash(&START, &row)), known);
    }
}
