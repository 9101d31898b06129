//! When a person is told that a question waits, and in which words: pure, with the time passed in.
//! Carrying it out is left to `notifier`.

mod way;

mod message;

mod plan;

mod starts;

mod ntfy;

mod taps;

mod ruled;

pub use message::{Button, Message};
pub use ntfy::{late, publication, update};
pub use plan::{Circumstances, NotifyStep, Plan};
pub use ruled::ruled;
pub use starts::NotifierStarts;
pub use taps::{Tap, Taps, id};
pub use way::Way;
