//! The ways to notify the user, and the process that uses them.
//!
//! A bridge starts `askbridge notify ID`, a separate process and a client of the inbox like any other. So the bridge
//! stays small, and a way that fails or hangs affects nothing else. When the user is notified, and in which words, is
//! left to the files beside this folder.

mod desktop;
mod dispatch;
mod follow;
mod http;
mod ntfy;
mod programs;
mod telling;

pub use dispatch::{Trial, try_out};
pub(crate) use follow::minute;
pub use follow::{BUSY, NotifierStart, Slot, follow, take};
pub use http::send;
