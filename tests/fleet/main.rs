//! Machines over a real NATS server: what persons see and answer, what each user's permissions keep from it, and what
//! happens when the broker, a machine or the network fails. `tests/fleet/run` installs the server and runs it.

#[cfg(test)]
#[path = "../support/process.rs"]
mod support;

#[cfg(test)]
mod answers;

#[cfg(test)]
#[path = "../support/oracle.rs"]
mod oracle;

#[cfg(test)]
mod link;

#[cfg(test)]
mod server;

#[cfg(test)]
mod world;

#[cfg(test)]
mod commands;

#[cfg(test)]
mod directory;

#[cfg(test)]
mod permissions;

#[cfg(test)]
mod troubles;

#[cfg(test)]
mod races;

#[cfg(test)]
mod cluster;

#[cfg(test)]
mod figures;
