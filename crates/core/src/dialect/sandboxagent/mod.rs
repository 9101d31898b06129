//! The extension `_sandboxagent/session/request_question`. Its published descriptions contradict each other: the shapes
//! of all of them are read, and the canonical shape is written.

pub mod ask;
pub mod reply;
pub mod request;

pub use request::ExtensionReply;
