//! How responders reach the questions of one bridge: the inbox, its port to the bridge, and the control protocol.
//! Which bridges there are on the machine is left to `machine`.

pub mod traffic;

pub mod view;

pub mod book;

pub mod refusal;

pub mod store;

pub mod handover;

pub mod source;

pub mod protocol;

pub mod inbox;

mod programs;

pub mod bridge_inbox;

pub mod rpc;

mod asks;

pub mod port;

pub mod socket;

pub mod host;

#[cfg(test)]
pub(crate) mod played;

pub use book::Book;
pub use port::{Feed, Inbox, Owner, new};
pub use refusal::Refusal;
pub use source::{Source, Status};
pub use traffic::Traffic;
pub use view::{Record, Settlement};
