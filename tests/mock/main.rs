//! The mock agent and the mock client, as processes with pipes.
//! What the bridge makes of them is tested elsewhere.

#[cfg(test)]
#[path = "../support/mod.rs"]
mod support;

#[cfg(test)]
mod peer;

#[cfg(test)]
mod agent;

#[cfg(test)]
mod dialects;

#[cfg(test)]
mod client;
