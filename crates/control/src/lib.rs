//! The inbox of the open questions of coding agents, and the ways to it: for programs that serve one, and for responders.
//!
//! # Where to read on
//!
//! 1. [`limits`]: the bounds, with their reasons, beside the core's.
//! 2. [`inbox`]: the open questions of a process, who may answer them, and the seam to a journal.
//! 3. [`rpc`]: the control protocol, over which other processes reach an inbox.
//! 4. [`join`]: all bridges of this machine as one inbox, and the connections to other machines.

pub mod inbox;
pub mod join;
pub mod limits;
pub mod rpc;

pub use askbridge_core as core;
pub use askbridge_os::terminal::{printable, printable_line};

pub use inbox::{Batch, BridgeStatus, Follower, Inbox, Store, openings::Openings};
pub use join::{Gaps, JoinedInbox, Missing, Places};
