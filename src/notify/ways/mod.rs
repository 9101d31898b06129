//! The ways to tell the person, and the process that uses them.
//!
//! A bridge starts `askbridge notify ID`, a process of its own, which is a client of the inbox like any other. So the
//! bridge stays small, and a way that fails or hangs touches nothing else. When the person is told, and in which
//! words, is left to the files beside this folder.

mod desktop;
mod dispatch;
pub(crate) mod follow;
mod http;
mod ntfy;
mod programs;
mod telling;

pub use dispatch::{Trial, try_out};
pub use follow::{BUSY, NotifierStart, Slot, follow, take};
