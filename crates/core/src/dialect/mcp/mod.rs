//! What MCP servers ask their person: forms, and pages to open. A server asks by a request, by the result of a call that
//! needs input, or by the error of a call that needs a page to be opened first.
//!
//! Source: `schema.ts` of MCP 2025-06-18, 2025-11-25 and 2026-07-28.

mod batch;
mod elicitation;
pub mod errand;
mod tool_call;

pub use batch::{Batch, replies};
pub use elicitation::{ElicitationReply, Mode};
pub use errand::{InputRequired, UrlsRequired};
pub use tool_call::{ToolCall, refused};
