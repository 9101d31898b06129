//! The reply format of a form: where each part of an answer goes.
//! How an answer is written in it is left to `content.rs` and `response.rs`.

use super::companion::Companion;

/// The reply format of a form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FormReply {
    /// Whether the request had a legacy method name, which clients may not know.
    pub legacy: bool,
    /// Whether the result is one level deeper, as some of the legacy methods had it.
    pub nested: bool,
    /// The companion of each field, in the order of the fields.
    pub companions: Vec<Companion>,
}
