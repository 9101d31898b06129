//! The real `askbridge run -- AGENT` between real pipes and sockets.
//! What a whole conversation looks like, line by line, is left to the tests of the engine.

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
