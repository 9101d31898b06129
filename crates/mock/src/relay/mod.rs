//! A bridge that passes everything on, and breaks one rule if it is told to: `fault` has the rules, `lines` breaks those about lines, `streams` and `run` those about streams and processes. `askbridge check bridge` is tested against it.

mod client;
mod fault;
mod lines;
mod passed;
mod run;
mod streams;
mod values;

pub use fault::RelayFault;
pub use run::{RelaySettings, run};
