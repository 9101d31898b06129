//! The control protocol, by which programs reach an inbox: JSON-RPC over a UNIX socket. This room has its messages, its
//! server, its client, and the thread that serves. What an inbox does is left to `inbox`, finding sockets to `machine`.

pub mod client;
pub mod connection;
pub mod history;
pub mod host;
mod line;
mod machines;
pub mod methods;
mod on_machine;
#[cfg(test)]
pub(crate) mod played;
pub mod protocol;
pub mod session;
pub mod socket;
