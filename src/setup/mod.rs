//! How a client's settings come to start an agent through askbridge: known agents and clients, the edit, and its
//! undoing. It has no I/O: reading and writing files is left to `command`.

pub mod agents;

pub mod launch;

pub mod clients;

mod splice;

pub mod document;

pub mod plan;

pub mod record;

pub mod undo;

pub mod snippet;

pub mod diff;
