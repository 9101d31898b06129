//! Peers without a model behind them, for trying the bridge and for CI.
//! They speak ACP over their own stdin and stdout and know nothing of the bridge's inside.

pub mod agent;
pub mod demo;
