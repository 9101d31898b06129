//! A bridge that forwards all bytes, or breaks one rule: `fault` has the rules, `lines` breaks those about lines, `streams` and
//! `run` those about streams and processes. `askbridge check bridge` is tested against it.

mod client;
mod fault;
mod lines;
mod mcp;
mod run;
mod side;
mod streams;
mod values;

pub use fault::RelayFault;
pub use run::{RelaySettings, run};
