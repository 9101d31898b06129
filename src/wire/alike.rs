//! How an ordinary line begins, so that the next line with the same beginning need not be judged. Agents write most of
//! their lines alike.

use super::scan::behind_digits;

/// What stands before the id of a message that begins with it.
const BEFORE_ID: [&[u8]; 2] = [br#"{"jsonrpc":"2.0","id":"#, br#"{"id":"#];

/// The beginning of a line, but for the number that is its id.
#[derive(Clone, Copy, Debug)]
pub(super) struct Beginning<'a> {
    /// All of it, or what stands before the id.
    head: &'a [u8],
    /// What stands behind the id.
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

/// Returns what stands behind these first bytes.
#[inline(always)]
fn behind<'b>(bytes: &'b [u8], first: &[u8]) -> Option<&'b [u8]> {
    let (begins, rest) = bytes.split_at_checked(first.len())?;
    // They are few: a call of the C library takes longer.
    let is_same = is_same_by::<16>(begins, first).or_else(|| is_same_by::<4>(begins, first));
    is_same.unwrap_or_else(|| begins.iter().eq(first)).then_some(rest)
}

/// Compares bytes of the same length, so many at once; `None` where there are fewer than that.
#[inline(always)]
fn is_same_by<const MANY: usize>(one: &[u8], other: &[u8]) -> Option<bool> {
    // They may overlap those before them.
    let (one_last, other_last) = one.last_chunk::<MANY>().zip(other.last_chunk())?;
    let (one, other) = (one.as_chunks::<MANY>().0, other.as_chunks::<MANY>().0);
    Some(one.iter().zip(other).all(|(one, other)| one == other) && one_last == other_last)
}

#[cfg(test)]
mod tests {
    use super::*;

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
