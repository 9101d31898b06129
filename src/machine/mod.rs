//! The bridges of this machine: where their sockets are, and how each one is followed.
//! What a bridge says over its socket is left to `control`.

pub mod discovery;

pub mod bridges;

mod follow;

pub use bridges::Machine;
