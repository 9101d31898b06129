//! The ID of a JSON-RPC request, kept as its own JSON text, and the canonical form in which IDs are compared.
//!
//! `1` and `"1"` are two IDs, and `null` is an ID, not a missing one. `1`, `1.0` and `1e0` are one ID: a peer that
//! reads a number and writes it again may choose another spelling. A response repeats the request's spelling.

use std::{borrow::Cow, sync::Arc};

/// The JSON text of a request's id: any JSON value on one line. Cheap to clone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestId(Arc<str>);

impl RequestId {
    /// Keeps this text as an id.
    pub fn new(text: &str) -> Self {
        RequestId(text.into())
    }

    /// Returns the text, as it came.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the canonical form of the ID, for comparison ([`key`]). For nearly every ID, it is the text itself.
    pub fn key(&self) -> Arc<str> {
        match key(&self.0) {
            // An ID is kept in several maps, which nearly always share one text.
            Cow::Borrowed(_) => Arc::clone(&self.0),
            Cow::Owned(key) => key.into(),
        }
    }

    /// Returns whether a response with this id answers the request.
    pub fn is(&self, id: &str) -> bool {
        key(&self.0) == key(id)
    }
}

/// The most digits of a number whose key is written without an exponent: those of a 64-bit number, and one more.
const PLAIN: usize = 21;

/// Returns the canonical form of an ID, for comparison. For a number, it is one spelling of its exact value. For a
/// string with escapes, it is one spelling of the unescaped text, since a peer that reads and writes the string may
/// escape it in another way. For all else, it is the text itself.
pub fn key(id: &str) -> Cow<'_, str> {
    let bytes = id.as_bytes();
    match bytes.first() {
        Some(b'"') if bytes.contains(&b'\\') => {
            // A string with a lone surrogate cannot be unescaped: it is compared by its text.
            let unescaped: Option<String> = serde_json::from_str(id).ok();
            unescaped.map_or(id.into(), |text| serde_json::Value::from(text).to_string().into())
        }
        Some(b'-' | b'0'..=b'9') if !is_plain(bytes) => exact(id).map_or(id.into(), Cow::Owned),
        _ => id.into(),
    }
}

/// Returns the key of the number that comes back from a peer that reads all numbers as 64-bit floating point, as
/// JavaScript does: 9007199254740993 comes back as 9007199254740992. `None` if the number comes back unchanged.
pub fn rounded_key(id: &str) -> Option<String> {
    let bytes = id.as_bytes();
    // Up to 15 digits come back unchanged.
    if !matches!(bytes.first(), Some(b'-' | b'0'..=b'9')) || (is_plain(bytes) && bytes.len() <= 15) {
        return None;
    }
    // Such a peer reads a number that is out of range as infinity, which JSON cannot write.
    let number: f64 = id.parse().ok().filter(|number: &f64| number.is_finite())?;
    // The shortest spelling that gives the same number again, which is what such a peer writes.
    exact(&format!("{number:e}")).filter(|rounded| **rounded != *key(id))
}

/// Returns whether this is a number that is its own key.
fn is_plain(id: &[u8]) -> bool {
    id.len() <= PLAIN && id.iter().all(u8::is_ascii_digit) && (id.len() == 1 || id.first() != Some(&b'0'))
}

/// Returns the canonical spelling of a number's exact value. `None` if this is no number, or its exponent is out of
/// range.
fn exact(number: &str) -> Option<String> {
    let (sign, unsigned) = match number.strip_prefix('-') {
        Some(unsigned) => ("-", unsigned),
        None => ("", number),
    };
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let exponent: i64 = exponent.strip_prefix('+').unwrap_or(exponent).parse().ok()?;
    let significant = digits.trim_start_matches('0');
    let trimmed = significant.trim_end_matches('0');
    if trimmed.is_empty() {
        // Minus zero is zero.
        return Some("0".to_owned());
    }
    let zeros = i64::try_from(significant.len() - trimmed.len()).ok()?;
    let exponent = exponent.checked_sub(i64::try_from(fraction.len()).ok()?)?.checked_add(zeros)?;
    // With a large exponent, writing out the zeros would take any amount of memory (I6).
    Some(match usize::try_from(exponent) {
        Ok(zeros) if trimmed.len().saturating_add(zeros) <= PLAIN => {
            format!("{sign}{trimmed}{}", "0".repeat(zeros))
        }
        _ => format!("{sign}{trimmed}e{exponent}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_of_other_types_or_values_differ() {
        let ids = [
            "1",
            "1.5",
            "-1",
            "\"1\"",
            "9007199254740993",
            "9007199254740992",
            "1e99999999999999999999",
            "null",
            "[\"a\\/b\"]",
            "[\"a/b\"]",
            r#""\ud800""#,
            r#""\uD800""#,
        ];
        for (place, id) in ids.iter().enumerate() {
            let same: Vec<_> = ids.iter().filter(|other| RequestId::new(id).is(other)).collect();
            assert_eq!(same, [&ids[place]]);
        }
        for (one, other) in
            [(r#""q\/1""#, r#""q/1""#), (r#""caf\u00e9""#, "\"café\""), (r#""\t""#, r#""\u0009""#)]
        {
            assert!(RequestId::new(one).is(other), "{one} is {other}");
            assert_eq!(RequestId::new(one).as_str(), one, "an answer repeats the spelling");
        }
    }

    #[test]
    fn numbers_are_compared_by_their_value() {
        let long = format!("1{}", "0".repeat(30));
        for (one, other) in [
            ("1", "1.0"),
            ("1", "1e0"),
            ("100", "1E+2"),
            ("0", "-0.0"),
            ("-5", "-0.5e1"),
            ("0.1", "1e-1"),
            ("18446744073709551616", "1.8446744073709551616e19"),
            (&long, "1e30"),
        ] {
            assert!(RequestId::new(one).is(other), "{one} is {other}");
            assert!(RequestId::new(other).is(one), "{other} is {one}");
        }
    }

    #[test]
    fn rounded_key_is_what_a_javascript_peer_repeats() {
        for (id, rounded) in [
            ("9007199254740993", Some("9007199254740992")),
            ("1152921504606846977", Some("1152921504606847000")),
            ("9007199254740992", None),
            ("1", None),
            ("0.1", None),
            ("1.0", None),
            ("1e400", None),
            ("\"9007199254740993\"", None),
            ("null", None),
        ] {
            assert_eq!(rounded_key(id).as_deref(), rounded, "{id}");
        }
    }
}
