//! The server beside Copilot CLI's terminal: events that tell what is asked, and the calls that answer. Frames and
//! connections are left to `origin`.
//!
//! Source: Copilot CLI 1.0.102 as it was run, and `@github/copilot-sdk` 1.0.14, `generated`.

mod ending;

mod permission;

mod plan;

mod question;

mod request;

mod event;

pub use ending::Ending;
pub use event::{CopilotEvent, EVENTS, read_event};
pub use request::{Call, CopilotRequest, OpenPermissions, pending, was_taken};
