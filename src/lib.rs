//! askbridge: between an ACP agent and its client.

pub mod wire;

pub mod driver;
pub mod mock;

pub mod cli;
pub mod exit;
