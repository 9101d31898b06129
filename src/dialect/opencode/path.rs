//! Parts of a path or a query, encoded.

use std::fmt::Write;

/// Encodes a text so that it is one segment of a path, or one value of a query.
pub fn encode(text: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'~' | b'.' => encoded.push(byte.into()),
            // Writing to a text does not fail.
            _ => write!(encoded, "%{byte:02X}").unwrap_or_default(),
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_but_unreserved_characters_is_encoded() {
        assert_eq!(encode("/src/a b&c=ä"), "%2Fsrc%2Fa%20b%26c%3D%C3%A4");
        assert_eq!(encode("que_1-2.3~X"), "que_1-2.3~X");
    }
}
