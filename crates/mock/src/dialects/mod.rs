//! The questions of the mock agent in each dialect, and its report on each response.
//! When it asks and when it reports is left to `turn.rs`.

mod capabilities;
mod claude;
mod codex;
mod cursor;
mod dispatch;
mod elicitation;
mod field;
mod grok;
mod kimi;
mod kiro;
mod labelled;
mod native;
mod permission;
mod question;
mod response;
mod schema;

pub(super) use capabilities::ClientCapabilities;
pub(super) use field::SEVERAL;
pub(super) use question::MockQuestion;
