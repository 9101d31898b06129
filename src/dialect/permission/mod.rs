//! Questions as permission requests, both ways: the agents that ask like this, and the prompts for clients that can
//! show nothing else.
//!
//! An option's id is all that a permission response carries, and some clients choose the first `allow_*` option
//! without asking anyone: what such a response may mean is decided here.

pub mod request;

pub mod response;

pub mod prompt;

pub mod walk;

pub use prompt::Protocol;
pub use request::Words;
pub use walk::{Step, Walk};

/// The request's method.
pub const METHOD: &str = "session/request_permission";
