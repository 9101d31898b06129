//! Notifies the user that a question waits. The files beside `ways` decide when and in which words, without I/O and
//! with the time passed in; `ways` carries it out.

mod message;
mod plan;
pub mod ways;

pub use message::{Button, Message};
pub use plan::{Circumstances, NotifierStarts, NotifyStep, Plan, Way, ruled};
