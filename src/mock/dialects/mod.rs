//! The questions of the mock agent in each dialect, and its report on each response.
//! When it asks and when it reports is left to `turn.rs`.

mod capabilities;
mod field;
mod question;
mod response;

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

mod dispatch;

pub(super) use capabilities::ClientCapabilities;
pub(super) use field::SEVERAL;
pub(super) use question::MockQuestion;
