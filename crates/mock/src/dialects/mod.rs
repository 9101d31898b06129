//! The questions of the mock agent in each dialect, and its report on each response.
//! When it asks and when it reports is left to `turn.rs`.

mod capabilities;
mod dispatch;
mod extensions;
mod field;
mod forms;
mod question;
mod response;
mod spec;

pub(super) use capabilities::ClientCapabilities;
pub(super) use field::SEVERAL;
pub(super) use question::MockQuestion;
