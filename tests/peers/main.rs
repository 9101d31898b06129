//! Real peers: the published Rust implementation of ACP as the client, as the agent, and as both, with the
//! bridge between. It reads every line by its typed schema, so what other programs could not read fails here.

#[cfg(test)]
mod process;

#[cfg(test)]
mod peer;

#[cfg(test)]
mod client;

#[cfg(test)]
mod cancelling;

#[cfg(test)]
mod agent;
