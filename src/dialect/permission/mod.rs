//! Questions as permission requests, in both directions: agents that ask with them, and prompts for clients that can
//! show nothing else.
//!
//! A permission response carries only the id of an option, and some clients choose the first `allow_*` option without
//! asking the user. Which meaning such a response may have is decided here.

pub mod request;

pub mod response;

pub mod prompt;

pub mod prompt_flow;

mod entry;

pub use prompt::Protocol;
pub use prompt_flow::{PromptFlow, PromptStep};
pub use request::PermissionReply;
