//! Permission requests: those of agents, which ask for a permission or are questions in its shape, and prompts for
//! clients that can show nothing else.
//!
//! A permission response carries only the id of an option, and some clients choose the first `allow_*` option without
//! asking the user. Which meaning such a response may have is decided here.

mod reply;

mod wire;

mod subject;

mod gemini;

mod grant;

mod described;

pub mod request;

pub mod response;

pub mod prompt;

pub mod prompt_flow;

mod entry;

pub(in crate::dialect) use described::PermissionDescription;
pub use prompt::Protocol;
pub use prompt_flow::{PromptFlow, PromptStep};
pub use reply::PermissionReply;
pub(in crate::dialect) use subject::command;
pub use subject::complete;
