//! The search for single bytes.

use memchr::{
    arch::all::memchr::{One, Two},
    memchr, memchr2,
};

/// Where fewer bytes than these are searched, eight at a time are fast enough. To look at more at once, `memchr` asks the
/// CPU what it can do, which takes 0.06 ms on a virtual machine: the first messages of a session do not wait for that.
const FEW: usize = 1024;

/// Returns the place of the first such byte.
#[inline]
pub(super) fn byte(byte: u8, bytes: &[u8]) -> Option<usize> {
    if bytes.len() < FEW { One::new(byte).find(bytes) } else { memchr(byte, bytes) }
}

/// Returns the place of the first byte that is one of these two.
pub(super) fn either(one: u8, other: u8, bytes: &[u8]) -> Option<usize> {
    if bytes.len() < FEW { Two::new(one, other).find(bytes) } else { memchr2(one, other, bytes) }
}
