//! The part of opencode's HTTP API that its clients answer questions and permissions by, so that those made for it can
//! answer here.
//!
//! Source: `@opencode-ai/sdk` 1.19.3, `gen` and `v2/gen`. That a session runs in some folder is not asked for:
//! `directory` is ignored.

mod permission;
mod permission_json;
mod question;
mod routes;

pub(super) use routes::routes;
