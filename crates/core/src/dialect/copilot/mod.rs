//! The server beside Copilot CLI's terminal: events that announce requests, and the calls that answer them. Frames and
//! connections are left to `adapters`.
//!
//! Source: Copilot CLI 1.0.102 as it was run, and `@github/copilot-sdk` 1.0.14, `generated`.

mod permission;
mod question;
mod request;
mod said;

pub use question::Ending;
pub use request::{
    Call, CopilotEvent, CopilotRequest, EVENTS, OpenPermissions, pending, read_event, was_taken,
};
pub use said::Voice;
