//! The id of a JSON-RPC request, kept as its own JSON text.
//! `1`, `1.0` and `"1"` are three ids, `null` is an id that was given, and an answer repeats the spelling.

use std::{borrow::Borrow, fmt};

/// The JSON text of a request's id: any JSON value on one line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
}

impl Borrow<str> for RequestId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}
