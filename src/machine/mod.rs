//! The bridges of this machine: where their sockets are, and their inboxes as one inbox.
//! What is said over a socket is left to `control`.

pub mod discovery;

pub mod local;

mod gaps;

mod handshake;

mod link;

mod intake;

mod connections;

mod follow;

mod settled;

pub mod bridges;

pub use bridges::{Machine, Missing};
pub use gaps::Gaps;
