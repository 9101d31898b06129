//! What the mock agent asks in each dialect, and how it says what it was told.
//! When it asks, and where it says so, is left to `turn.rs`.

mod field;
mod heard;
mod question;

mod native;

mod claude;
mod codex;
mod elicitation;
mod kimi;
mod labelled;
mod schema;

mod permission;

mod cursor;
mod grok;
mod kiro;

mod promises;

pub(super) use field::SEVERAL;
pub(super) use promises::Promises;
pub(super) use question::Question;
