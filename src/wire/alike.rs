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

    /// Returns how many bytes it has at least. None of them ends a line.
    ///
    /// That it does not depend on the bytes of a line lets the CPU look for the line's end while it compares them.
    pub(super) fn least(&self) -> usize {
        self.head.len() + self.tail.map_or(0, |tail| 1 + tail.len())
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
        let begins = |one: &str, other: &str| {
            let beginning = Beginning::new(one.as_bytes());
            assert!(beginning.begins(one.as_bytes()) && beginning.least() <= one.len());
            beginning.begins(other.as_bytes()).then(|| beginning.least())
        };
        let call = r#"{"jsonrpc":"2.0","id":17,"method":"x""#;
        let least = r#"{"jsonrpc":"2.0","id":0,"method":"x""#.len();
        assert_eq!(
            begins(call, r#"{"jsonrpc":"2.0","id":12345678901,"method":"x","params":{}}"#),
            Some(least)
        );
        assert_eq!(begins(call, r#"{"jsonrpc":"2.0","id":5,"method":"x"}"#), Some(least));
        assert_eq!(begins(r#"{"id":1,"method":"x""#, r#"{"id":23,"method":"x"}"#), Some(20));
        assert_eq!(begins(r#"{"method":"x""#, r#"{"method":"x"}"#), Some(13));
        for other in [
            r#"{"jsonrpc":"2.0","id":"17","method":"x"}"#,
            r#"{"jsonrpc":"2.0","id":,"method":"x"}"#,
            r#"{"jsonrpc":"2.0","id":17,"method":"y"}"#,
            r#"{"jsonrpc":"2.0","id":17,"metho"#,
            r#"{"id":17,"method":"x"}"#,
            "",
        ] {
            assert_eq!(begins(call, other), None, "{other}");
        }
    }
}
