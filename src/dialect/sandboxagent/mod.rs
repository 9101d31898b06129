//! The native dialect, `_sandboxagent/session/request_question`.
//! Its published descriptions contradict each other: all of them are read, the canonical one is written.

pub mod request;

pub mod ask;

pub mod response;

pub mod reply;

mod entry;

pub use entry::ExtensionReply;
