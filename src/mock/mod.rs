//! Peers without a model behind them, for trying the bridge and for CI.
//! They speak ACP over their own stdin and stdout and know nothing of the bridge's inside.

mod message;

mod lines;
mod ordered;

mod asking;
pub(crate) mod behaviour;
mod session;

pub mod agent;
mod turn;

mod script;

pub mod client;

pub mod demo;
