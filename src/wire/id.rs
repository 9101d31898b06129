//! The id of a JSON-RPC request, kept as its own JSON text.
//! `1`, `1.0` and `"1"` are three ids, `null` is an id that was given, and an answer repeats the spelling.

use std::borrow::Cow;

use memchr::memchr;

/// The JSON text of a request's id: any JSON value on one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RequestId(Box<str>);

impl RequestId {
    /// Keeps this text as an id.
    pub fn new(text: &str) -> Self {
        RequestId(text.into())
    }

    /// The text, as it came.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Says whether a response with this id answers the request.
    pub fn is(&self, id: &str) -> bool {
        key(&self.0) == key(id)
    }
}

/// Returns what ids are compared by: the text. Only a string that is spelled with escapes is brought to one
/// spelling, since a peer that reads and writes it again may choose another.
pub fn key(id: &str) -> Cow<'_, str> {
    if memchr(b'\\', id.as_bytes()).is_none() || !id.starts_with('"') {
        return id.into();
    }
    // A lone surrogate has no other spelling.
    let unescaped: Option<String> = serde_json::from_str(id).ok();
    unescaped.map_or(id.into(), |text| serde_json::Value::from(text).to_string().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_compared_as_text_and_strings_by_what_they_say() {
        let ids = ["1", "1.0", "\"1\"", "null", "[\"a\\/b\"]", "[\"a/b\"]", r#""\ud800""#, r#""\uD800""#];
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
}
