//! The real `askbridge run -- AGENT` between real pipes and sockets.
//! Whole conversations, line by line, are left to the tests of the engine. Rules that other bridges keep too are conformance
//! cases, which `tests/check` runs against this bridge.

#[cfg(test)]
mod client;
#[cfg(test)]
mod client_death;
#[cfg(test)]
mod death;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod early_signals;
#[cfg(test)]
mod floods;
#[cfg(test)]
mod log;
#[cfg(test)]
#[cfg(target_os = "linux")]
mod memory;
#[cfg(test)]
mod orphans;
#[cfg(test)]
mod program;
#[cfg(test)]
mod questions;
#[cfg(test)]
mod settling;
#[cfg(test)]
mod signals;
#[cfg(test)]
mod stdio;
#[cfg(test)]
mod transparency;
