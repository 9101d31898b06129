//! opencode without a model: the part of its HTTP interface by which its questions and permissions are answered.

pub mod core;
pub mod server;
