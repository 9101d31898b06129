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

    /// Returns how many bytes of these are the same beginning.
    #[inline]
    pub(super) fn length_in(&self, bytes: &[u8]) -> Option<usize> {
        let rest = behind(bytes, self.head)?;
        let rest = match self.tail {
            Some(tail) => behind(behind_digits(rest)?, tail)?,
            None => rest,
        };
        Some(bytes.len() - rest.len())
    }
}

/// Returns what stands behind these first bytes. They are few: a call of the C library takes longer.
#[inline(always)]
fn behind<'b>(bytes: &'b [u8], first: &[u8]) -> Option<&'b [u8]> {
    let (begins, rest) = bytes.split_at_checked(first.len())?;
    let same = |(one, other): (&[u8; 8], &[u8; 8])| u64::from_ne_bytes(*one) == u64::from_ne_bytes(*other);
    let is_same = match first.last_chunk().zip(begins.last_chunk()) {
        // The last eight bytes may overlap those before them.
        Some(ends) => first.as_chunks().0.iter().zip(begins.as_chunks().0).all(same) && same(ends),
        None => first == begins,
    };
    is_same.then_some(rest)
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
        let length = |one: &str, other: &str| Beginning::new(one.as_bytes()).length_in(other.as_bytes());
        let call = r#"{"jsonrpc":"2.0","id":17,"method":"x""#;
        assert_eq!(length(call, r#"{"jsonrpc":"2.0","id":12345678901,"method":"x","params":{}}"#), Some(46));
        assert_eq!(length(r#"{"id":1,"method":"x""#, r#"{"id":23,"method":"x"}"#), Some(21));
        assert_eq!(length(r#"{"method":"x""#, r#"{"method":"x"}"#), Some(13));
        for other in [
            r#"{"jsonrpc":"2.0","id":"17","method":"x"}"#,
            r#"{"jsonrpc":"2.0","id":,"method":"x"}"#,
            r#"{"jsonrpc":"2.0","id":17,"method":"y"}"#,
            r#"{"jsonrpc":"2.0","id":17,"metho"#,
            r#"{"id":17,"method":"x"}"#,
            "",
        ] {
            assert_eq!(length(call, other), None, "{other}");
        }
    }
}
