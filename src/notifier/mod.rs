//! Tells the person that a question waits: the ways in which that is done, and the processes that do it.
//!
//! A bridge starts `askbridge notify ID`, a process of its own, which is a client of the inbox like any other. So the
//! bridge stays small, and a way that fails or hangs touches nothing else. When something is told, and in which words,
//! is left to `notify`.

mod telling;

mod clock;

mod programs;

mod paper;

mod http;

mod terminal;

mod sound;

mod command;

mod webhook;

mod ntfy;

mod desktop;

mod ways;

mod slots;

mod following;

mod trial;

mod service;

pub use following::{NotifierStart, follow};
pub use service::NotifyService;
pub use slots::{BUSY, Slot, take};
pub use trial::{Trial, try_out};
