//! The permissions that the mock agent asks for, in the shape of each released agent.
//! When it asks and when it reports is left to `permission.rs` beside this folder.

mod request;
mod templates;

pub(super) use request::MockPermission;
