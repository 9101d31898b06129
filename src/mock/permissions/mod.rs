//! The permissions that the mock agent asks for, in the shape of each released agent.
//! When it asks and when it reports is left to `permission.rs` beside this folder.

mod parts;
mod request;
mod scene;

mod claude;
mod codex;
mod cursor;
mod gemini;
mod grok;
mod kimi;
mod opencode;
mod pi;
mod standard;

mod version_2;

mod dispatch;
mod told;

pub(super) use request::MockPermission;
