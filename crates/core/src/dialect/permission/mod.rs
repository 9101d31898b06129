//! Permission requests: those of agents, which ask for a permission or are questions in its shape, and prompts for
//! clients that can show nothing else.
//!
//! A permission response carries only the id of an option, and some clients choose the first `allow_*` option without
//! asking the user. Which meaning such a response may have is decided here.

mod amend;
mod changes;
pub(in crate::dialect) mod commands;
mod content;
mod gemini;
pub(in crate::dialect) mod grants;
pub(in crate::dialect) mod input;
mod one_kind;
mod options;
pub mod prompt;
pub mod prompt_flow;
pub mod request;
pub mod response;
pub(in crate::dialect) mod said;
mod subject;
mod wire;

pub use amend::{amend, ask_again, is_cut};
pub(in crate::dialect) use commands::command;
pub(in crate::dialect) use input::environment;
pub use one_kind::acts;
pub use prompt::Protocol;
pub use prompt_flow::{PromptFlow, PromptStep};
pub use request::{ends_by_itself, read_as_permission};
pub use response::PermissionReply;
pub(in crate::dialect) use subject::PermissionDescription;
pub use subject::{complete, is_titled};
