//! Copilot without a model: the server that it has beside its terminal.

pub mod core;
pub mod server;
