//! The part of opencode's HTTP API that is for questions and permissions, so that clients made for opencode can answer
//! here.
//!
//! Source: `@opencode-ai/sdk` 1.19.3, `gen` and `v2/gen`. The parameter `directory`, the folder of a session, is
//! ignored.

mod permission;
mod permission_json;
mod question;
mod routes;
mod shown;

pub(super) use routes::routes;
