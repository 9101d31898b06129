//! `askbridge fleet`: the users of a broker, its directory, and the gateway of this machine.

mod credentials;
mod gateway;

pub use credentials::{FleetArgs, fleet};
pub(super) use gateway::keep;
