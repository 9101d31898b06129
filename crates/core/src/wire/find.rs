//! The search for single bytes.

use memchr::{arch::all::memchr::Two, memchr2};
use wide::u8x16;

/// How many bytes are looked at at once for the end of a line.
const BLOCK: usize = 64;
/// Where fewer bytes than these are searched, eight at a time are fast enough. To look at more at once, `memchr` asks
/// the CPU what it can do, which takes 0.06 ms on a virtual machine: the first messages of a session do not wait for
/// that.
const FEW: usize = 1024;

/// The ends of lines, each as the place behind its terminator.
///
/// Blocks are looked at wherever lines end in them, so that short lines cost no more than long ones: to begin a search
/// anew behind each line, as with `memchr`, takes twice the time where they have 200 bytes.
#[derive(Debug)]
pub(super) struct LineEnds<'a> {
    /// The bytes that were not searched yet.
    rest: &'a [u8],
    /// Where it begins.
    at: usize,
    /// The terminators in the block before it, a bit for each byte.
    found: u64,
}

impl<'a> LineEnds<'a> {
    /// Begins to search these bytes at this place.
    #[inline]
    pub(super) fn new(bytes: &'a [u8], from: usize) -> Self {
        LineEnds { rest: &bytes[from..], at: from, found: 0 }
    }
}

impl Iterator for LineEnds<'_> {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        while self.found == 0 {
            self.found = match self.rest.split_first_chunk() {
                Some((block, rest)) => {
                    self.rest = rest;
                    terminators(block)
                }
                None if self.rest.is_empty() => return None,
                None => last_terminators(std::mem::take(&mut self.rest)),
            };
            self.at += BLOCK;
        }
        let place = self.found.trailing_zeros() as usize;
        self.found &= self.found - 1;
        Some(self.at - BLOCK + place + 1)
    }
}

/// Returns which bytes are line terminators.
#[inline(always)]
fn terminators(block: &[u8; BLOCK]) -> u64 {
    let (parts, _) = block.as_chunks();
    let [a, b, c, d] = [0, 1, 2, 3].map(|part| u8x16::new(parts[part]).simd_eq(u8x16::splat(b'\n')));
    // Most blocks have none.
    if ((a | b) | (c | d)).none() {
        return 0;
    }
    let bits = |part: u8x16| u64::from(part.to_bitmask());
    bits(a) | bits(b) << 16 | bits(c) << 32 | bits(d) << 48
}

/// The same for less than a block.
#[cold]
#[inline(never)]
fn last_terminators(bytes: &[u8]) -> u64 {
    let mut block = [0; BLOCK];
    block[..bytes.len()].copy_from_slice(bytes);
    terminators(&block)
}

/// Returns the place behind the first line terminator.
pub(super) fn line_end(bytes: &[u8]) -> Option<usize> {
    LineEnds::new(bytes, 0).next()
}

/// Returns the place of the first byte that is one of these two.
pub(super) fn either(one: u8, other: u8, bytes: &[u8]) -> Option<usize> {
    if bytes.len() < FEW { Two::new(one, other).find(bytes) } else { memchr2(one, other, bytes) }
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, test_runner::FileFailurePersistence};

    use super::*;

    #[test]
    fn every_end_is_found_wherever_it_stands() {
        for length in 0..3 * BLOCK {
            for end in 0..length {
                let mut bytes = vec![b'\n' ^ 0x80; length];
                bytes[end] = b'\n';
                assert_eq!(LineEnds::new(&bytes, 0).collect::<Vec<_>>(), [end + 1], "of {length}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_failure_persistence(FileFailurePersistence::WithSource("seeds")))]

        #[test]
        fn ends_are_those_of_the_lines(
            bytes in prop::collection::vec(prop::sample::select(&b"\n\0\x0bx\x8a"[..]), 0..5 * BLOCK),
            from in any::<prop::sample::Index>(),
        ) {
            let from = from.index(bytes.len() + 1);
            let ends = bytes.iter().enumerate().skip(from).filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
            let ends: Vec<usize> = ends.collect();
            prop_assert_eq!(line_end(&bytes[from..]), ends.first().map(|end| end - from));
            prop_assert_eq!(LineEnds::new(&bytes, from).collect::<Vec<_>>(), ends);
        }
    }
}
