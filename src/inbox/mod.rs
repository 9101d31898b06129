//! What waits for an answer, what became of it, and how others than the client answer it.
//! What is said over the wire to them is left to who serves it.

pub mod view;

pub mod book;

pub mod source;

pub mod input;

pub mod rpc;

pub mod refusal;

mod local;

pub mod handle;

pub mod socket;

pub mod discovery;

pub mod host;

pub mod joined;

mod follow;

#[cfg(test)]
mod played;

pub use book::Book;
pub use handle::{Feed, Inbox, Owner, new};
pub use refusal::Refusal;
pub use source::{Source, Status};
pub use view::{Settlement, View};
