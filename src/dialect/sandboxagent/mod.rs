//! The native dialect, `_sandboxagent/session/request_question`.
//! Its published descriptions disagree: all of them are read, the canonical one is written.

pub mod request;

pub mod ask;

pub mod response;

pub mod reply;

/// The request's method.
pub const METHOD: &str = "_sandboxagent/session/request_question";
