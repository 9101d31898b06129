//! The extension `_sandboxagent/session/request_question`. Its published descriptions contradict each other: all of
//! them are read, the canonical one is written.

pub mod ask;
pub mod reply;
pub mod request;

pub use request::ExtensionReply;
