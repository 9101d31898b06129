//! askbridge: between an ACP agent and its client.

pub mod wire;

pub mod question;

pub mod dialect;

pub mod engine;

pub mod driver;

pub mod terminal;

pub mod mock;

pub mod cli;
pub mod exit;

pub mod limits;

pub mod log;
