//! Tells the person that a question waits. When that happens and in which words is decided here without I/O, with the
//! time passed in; `ways` carries it out.

mod message;
mod ntfy;
mod plan;
#[cfg(feature = "notify")]
pub mod ways;

pub use message::{Button, Message};
pub use ntfy::{Tap, Taps, id, late, publication, update};
pub use plan::{Circumstances, NotifierStarts, NotifyStep, Plan, Way, ruled};
