//! The control room of the protocol before version 1, until every room has left it.

pub mod view;

pub mod book;

pub mod refusal;

pub mod source;

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
pub use view::{Record, Settlement};
