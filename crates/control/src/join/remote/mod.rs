//! Other machines: how one is reached, how its connection is kept, and how all programs here share it.
//!
//! A machine is a command whose stdin and stdout are those of `askbridge dial` there, by ssh or otherwise, or a stream
//! that another room provides. One process holds it, mostly the inbox in the background. Within that process, its
//! questions are handed over; other programs connect to the one socket that the process has for all of them.

mod answer;
mod attempt;
mod failure;
mod holder;
mod hub;
mod inbox;
mod process;
mod route;
mod share;

pub use attempt::{Found, attempt};
pub use failure::Failure;
pub use holder::Holder;
pub use hub::Hub;
pub use route::{Dial, Route};
pub use share::{Shared, connect, is_socket, listing, select, socket};
