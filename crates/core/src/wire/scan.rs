//! A cursor over the members of one JSON object, borrowed from its bytes.
//! It reads no further than asked and checks no more than it must to find where a value ends; what a value
//! means is left to serde_json. It works on a prefix of an object too, and says when the bytes run out.

use std::borrow::Cow;

use memchr::memchr2;
use wide::u8x16;

/// Why a scan stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The bytes end before the answer.
    Short,
    /// This is not JSON, or not an object.
    Bad,
}

/// The byte order mark, in UTF-8.
pub const BOM: &[u8] = b"\xEF\xBB\xBF";

/// How many words of eight bytes are searched one by one for the end of a string, before it is worth setting up a
/// vector search.
const SHORT: usize = 6;

/// A JSON string as it was written, with its quotes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Text<'a> {
    quoted: &'a [u8],
    escaped: bool,
}

impl<'a> Text<'a> {
    /// Returns whether its unescaped text is `meaning`.
    #[inline]
    pub fn is(&self, meaning: &str) -> bool {
        if self.escaped {
            return self.unescaped().as_deref() == Some(meaning);
        }
        self.inner() == meaning.as_bytes()
    }

    /// Returns whether its unescaped text ends like this.
    #[inline]
    pub fn ends_with(&self, end: &str) -> bool {
        if self.escaped {
            return self.unescaped().is_some_and(|text| text.ends_with(end));
        }
        self.inner().ends_with(end.as_bytes())
    }

    /// Returns the offset of its end in `bytes`, of which it must be a part.
    pub fn end_in(&self, bytes: &[u8]) -> usize {
        self.quoted.as_ptr_range().end.addr() - bytes.as_ptr().addr()
    }

    /// How many bytes it is spelled with, quotes included.
    #[expect(clippy::len_without_is_empty, reason = "there are always the quotes")]
    pub fn len(&self) -> usize {
        self.quoted.len()
    }

    #[inline]
    fn inner(&self) -> &'a [u8] {
        &self.quoted[1..self.quoted.len() - 1]
    }

    /// Returns its unescaped text; `None` if that is not Unicode.
    pub fn unescaped(&self) -> Option<Cow<'a, str>> {
        text(self.quoted)
    }
}

/// A cursor inside an object.
#[derive(Debug)]
pub struct Members<'a> {
    bytes: &'a [u8],
    at: usize,
    first: bool,
}

impl<'a> Members<'a> {
    /// Enters the object at the beginning of these bytes, which may come after a byte order mark and white space.
    pub fn enter(bytes: &'a [u8]) -> Result<Self, Stop> {
        let mut members = Members { bytes, at: 0, first: true };
        // RFC 8259 lets a parser ignore a byte order mark, and some peers' parsers do.
        if bytes.starts_with(BOM) {
            members.at = BOM.len();
        } else if BOM.starts_with(bytes) {
            return Err(Stop::Short);
        }
        match members.peek_token()? {
            b'{' => members.at += 1,
            _ => return Err(Stop::Bad),
        }
        Ok(members)
    }

    /// How many bytes have been read so far.
    pub fn position(&self) -> usize {
        self.at
    }

    /// Moves to the next member and returns its key; `None` at the object's end.
    ///
    /// The value must be read with [`Members::value`] before the next key is.
    #[inline]
    pub fn key(&mut self) -> Result<Option<Text<'a>>, Stop> {
        match (self.peek_token()?, self.first) {
            (b'}', _) => return Ok(None),
            (b',', false) => self.at += 1,
            (b'"', true) => {}
            _ => return Err(Stop::Bad),
        }
        self.first = false;
        let key = self.string()?;
        if self.peek_token()? != b':' {
            return Err(Stop::Bad);
        }
        self.at += 1;
        Ok(Some(key))
    }

    /// Moves to the value that comes next, and returns its first byte.
    pub fn value_start(&mut self) -> Result<u8, Stop> {
        self.peek_token()
    }

    /// Moves past the string that comes next, and returns it.
    #[inline]
    pub fn string(&mut self) -> Result<Text<'a>, Stop> {
        self.peek_token()?;
        let string = leading_string(&self.bytes[self.at..])?;
        self.at += string.quoted.len();
        Ok(string)
    }

    /// Moves past the value that comes next, and returns its bytes.
    pub fn value(&mut self) -> Result<&'a [u8], Stop> {
        let first = self.peek_token()?;
        let start = self.at;
        match first {
            b'"' => self.at += leading_string(&self.bytes[start..])?.quoted.len(),
            b'{' | b'[' => self.skip_nested()?,
            _ => self.skip_scalar()?,
        }
        Ok(&self.bytes[start..self.at])
    }

    /// Moves past the object that comes next, shows each of its members, and returns its bytes.
    pub fn object(&mut self, mut each: impl FnMut(Text<'a>, &'a [u8])) -> Result<&'a [u8], Stop> {
        self.peek_token()?;
        let start = self.at;
        let mut members = Members::enter(&self.bytes[start..])?;
        while let Some(key) = members.key()? {
            each(key, members.value()?);
        }
        // It stands at the closing brace.
        self.at += members.at + 1;
        Ok(&self.bytes[start..self.at])
    }

    /// Returns the rest of the bytes, from the current value on.
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    #[inline]
    fn peek_token(&mut self) -> Result<u8, Stop> {
        while let Some(&byte) = self.bytes.get(self.at) {
            if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') {
                return Ok(byte);
            }
            self.at += 1;
        }
        Err(Stop::Short)
    }

    /// Moves past an object or an array. This counts brackets, and does not recurse, so no depth can exhaust the stack.
    fn skip_nested(&mut self) -> Result<(), Stop> {
        let mut depth = 0usize;
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'"' => {
                    self.at += leading_string(&self.bytes[self.at..])?.quoted.len();
                    continue;
                }
                b'{' | b'[' => depth += 1,
                // This cannot underflow: the first byte opened a bracket, and the loop ends at depth 0.
                b'}' | b']' => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Ok(());
            }
        }
        Err(Stop::Short)
    }

    /// Moves past a number or a literal, which has no end mark: it ends where the next token begins.
    fn skip_scalar(&mut self) -> Result<(), Stop> {
        let length = self.bytes[self.at..]
            .iter()
            .position(|byte| matches!(byte, b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r'));
        match length {
            Some(0) => Err(Stop::Bad),
            Some(length) => {
                self.at += length;
                Ok(())
            }
            None => Err(Stop::Short),
        }
    }
}

/// Returns the string that these bytes begin with.
#[inline(always)]
pub fn leading_string(bytes: &[u8]) -> Result<Text<'_>, Stop> {
    if bytes.first() != Some(&b'"') {
        return Err(Stop::Bad);
    }
    let mut length = 1;
    for word in bytes[1..].chunks_exact(8).take(SHORT) {
        let Some(found) = first_special(word) else {
            length += 8;
            continue;
        };
        length += found;
        if bytes[length] == b'"' {
            return Ok(Text { quoted: &bytes[..=length], escaped: false });
        }
        break;
    }
    leading_long_string(bytes, length)
}

/// Returns the string that these bytes begin with, if its end is not among the first `length` bytes.
fn leading_long_string(bytes: &[u8], mut length: usize) -> Result<Text<'_>, Stop> {
    let mut escaped = false;
    // `length` may exceed the bytes: a backslash may be the last of them.
    while let Some(found) = memchr2(b'"', b'\\', bytes.get(length..).unwrap_or_default()) {
        length += found;
        if bytes[length] == b'"' {
            return Ok(Text { quoted: &bytes[..=length], escaped });
        }
        escaped = true;
        // Texts with escapes have many of them, and each new search takes as long as some hundred bytes.
        while let Some(block) = bytes.get(length..).and_then(<[u8]>::first_chunk) {
            match end_in_block(block) {
                Ok(end) => return Ok(Text { quoted: &bytes[..=length + end], escaped }),
                Err(0) => break,
                Err(passed) => length += passed,
            }
        }
        // A block without a backslash ends the inner loop, and so do too few bytes, which may begin with one.
        length += if bytes.get(length) == Some(&b'\\') { 2 } else { 0 };
    }
    Err(Stop::Short)
}

/// Returns the place of the quote that ends a string. Otherwise how many bytes belong to the string, the character that a
/// last backslash escapes included; 0 if there is neither a quote nor a backslash.
#[inline]
fn end_in_block(block: &[u8; 16]) -> Result<usize, usize> {
    let block = u8x16::new(*block);
    let quotes = block.simd_eq(u8x16::splat(b'"')).to_bitmask();
    let mut special = quotes | block.simd_eq(u8x16::splat(b'\\')).to_bitmask();
    let mut passed = if special == 0 { 0 } else { 16 };
    while special != 0 {
        let at = special.trailing_zeros();
        if quotes >> at & 1 == 1 {
            return Ok(at as usize);
        }
        // An escaped character cannot end the string.
        special &= !(0b11 << at);
        passed = passed.max(at as usize + 2);
    }
    Err(passed)
}

/// Returns the bytes after the digits that `bytes` begin with. `None` if there is no digit, more than 15 of them, or
/// nothing after them.
#[inline(always)]
pub fn behind_digits(bytes: &[u8]) -> Option<&[u8]> {
    let length = match bytes.first_chunk() {
        Some(block) => {
            // The subtraction wraps for bytes below `0`, so one comparison with 9 finds every byte that is no digit.
            let values = u8x16::new(*block) - u8x16::splat(b'0');
            let others = !values.min(u8x16::splat(9)).simd_eq(values).to_bitmask();
            others.trailing_zeros() as usize
        }
        None => bytes.iter().position(|byte| !byte.is_ascii_digit())?,
    };
    (1..16).contains(&length).then(|| &bytes[length..])
}

/// Returns the place of the first quote or backslash in eight bytes, looked at all at once.
#[inline]
fn first_special(word: &[u8]) -> Option<usize> {
    const ONES: u64 = u64::MAX / 255;
    let word = word.try_into().map(u64::from_le_bytes).ok()?;
    // Subtracting one from a zero byte sets its top bit. The borrow may mark higher bytes falsely, but only the lowest
    // hit is used.
    let zeros = |word: u64| word.wrapping_sub(ONES) & !word & (ONES << 7);
    let hits = zeros(word ^ (ONES * u64::from(b'"'))) | zeros(word ^ (ONES * u64::from(b'\\')));
    (hits != 0).then_some(hits.trailing_zeros() as usize / 8)
}

/// Returns the value of a JSON string with its quotes, unescaped; `None` if it is not one, or is no Unicode.
pub fn text(quoted: &[u8]) -> Option<Cow<'_, str>> {
    let inner = quoted.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    if inner.contains(&b'\\') {
        return serde_json::from_slice(quoted).ok().map(Cow::Owned);
    }
    std::str::from_utf8(inner).ok().map(Cow::Borrowed)
}

/// Returns the bytes of an object's member, from the object's bytes or a prefix of them.
///
/// A member that occurs twice has no one value, and is not found.
pub fn member<'a>(object: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let mut members = Members::enter(object).ok()?;
    let mut found = None;
    while let Ok(Some(key)) = members.key() {
        let Ok(value) = members.value() else { break };
        if key.is(name) && found.replace(value).is_some() {
            return None;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::{prelude::*, test_runner::FileFailurePersistence};

    use super::*;

    #[test]
    fn a_member_is_found_behind_nested_values_with_brackets_in_strings() {
        let object = br#"{"a":{"b":["}","\"]"]},"c" : 1.50 ,"d":"x"}"#;
        assert_eq!(member(object, "c"), Some(&b"1.50"[..]));
        assert_eq!(member(object, "d"), Some(&b"\"x\""[..]));
        assert_eq!(member(object, "b"), None);
    }

    #[test]
    fn a_prefix_gives_what_it_holds_and_no_more() {
        assert_eq!(member(br#"{"a":1,"b":"x","c":"unfinis"#, "b"), Some(&b"\"x\""[..]));
        assert_eq!(member(br#"{"a":1,"b":"unfinis"#, "b"), None);
        // A number at the very end may be incomplete.
        assert_eq!(member(br#"{"a":12"#, "a"), None);
    }

    #[test]
    fn a_member_that_is_there_twice_is_not_found() {
        assert_eq!(member(br#"{"a":1,"a":2}"#, "a"), None);
    }

    #[test]
    fn strings_are_unescaped() {
        assert_eq!(text(br#""a\/b""#).as_deref(), Some("a/b"));
        assert_eq!(text(br#""\ud800""#), None);
        assert_eq!(text(b"\"\xff\""), None);
        assert_eq!(text(b"\""), None);
    }

    #[test]
    fn the_members_of_an_object_are_shown_on_the_way() {
        let mut members = Members::enter(br#"{"a": {"b":[{}],"c":"}"} ,"d":{},"e":[]}"#).expect("an object");
        let mut seen = Vec::new();
        let mut each = |key: Text<'_>, value: &[u8]| {
            seen.push((key.unescaped().expect("text").into_owned(), value.to_vec()));
        };
        assert!(members.key().expect("a key").is_some_and(|key| key.is("a")));
        assert_eq!(members.object(&mut each), Ok(&br#"{"b":[{}],"c":"}"}"#[..]));
        assert!(members.key().expect("a key").is_some_and(|key| key.is("d")));
        assert_eq!(members.object(&mut each), Ok(&b"{}"[..]));
        assert!(members.key().expect("a key").is_some_and(|key| key.is("e")));
        assert_eq!(members.object(&mut each), Err(Stop::Bad));
        assert_eq!(seen, [("b".to_owned(), b"[{}]".to_vec()), ("c".to_owned(), b"\"}\"".to_vec())]);
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("seeds"))),
            ..ProptestConfig::default()
        })]

        #[test]
        fn a_string_ends_at_the_first_quote_that_is_not_escaped(
            text in prop::collection::vec(prop::sample::select(&b"aaaaaaaa\\\\\""[..]), 0..200)
        ) {
            let quoted = [b"\"", &text[..]].concat();
            let mut expected = Err(Stop::Short);
            let (mut at, mut escaped) = (1, false);
            while let Some(byte) = quoted.get(at) {
                match byte {
                    b'"' => {
                        expected = Ok(Text { quoted: &quoted[..=at], escaped });
                        break;
                    }
                    b'\\' => (at, escaped) = (at + 2, true),
                    _ => at += 1,
                }
            }
            prop_assert_eq!(leading_string(&quoted), expected);
        }
    }

    #[test]
    fn digits_end_at_any_other_byte() {
        let text = *b"0123456789012345";
        for place in 0..text.len() {
            for other in 0..=u8::MAX {
                let mut bytes = text;
                bytes[place] = other;
                let rest = bytes.get(place..).filter(|_| place > 0 && !other.is_ascii_digit());
                assert_eq!(behind_digits(&bytes), rest, "{other} in place {place}");
            }
        }
        assert_eq!(behind_digits(b"123,"), Some(&b","[..]));
        assert_eq!((behind_digits(b","), behind_digits(b"123")), (None, None));
    }
}
