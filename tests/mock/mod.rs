//! The mock agent and the mock client as processes, without a bridge between them.
//! The bridge around them is tested in `tests/bridge`, `tests/peers` and `tests/demo.rs`.

#[cfg(test)]
mod agent;
#[cfg(test)]
mod client;
#[cfg(test)]
mod dialects;
#[cfg(test)]
mod peer;
#[cfg(test)]
mod permissions;
