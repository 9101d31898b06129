//! Real peers: the published Rust SDK of ACP as the client, as the agent, and as both, with the bridge between them.
//! The SDK reads every line by its typed schema, so a line that other programs could not read fails here.

#[cfg(test)]
mod agent;
#[cfg(test)]
mod cancelling;
#[cfg(test)]
mod client;
#[cfg(test)]
mod peer;
#[cfg(test)]
mod process;
