//! Notifies the user that a question waits. The files beside `ways` decide when and in which words, without I/O and
//! with the time passed in; `ways` carries it out.

mod message;
mod ntfy;
mod plan;
#[cfg(feature = "notify")]
pub mod ways;

pub use message::{Button, Message};
pub use ntfy::{Tap, Taps, id, late, publication, update};
pub use plan::{Circumstances, NotifierStarts, NotifyStep, Plan, Way, ruled};
