//! The permissions that the mock agent asks for, in the shape of each released agent.
//! When it asks and when it reports is left to `permission.rs` beside this folder.

mod request;

mod version_2;

mod templates;

mod told;

pub(super) use request::MockPermission;
