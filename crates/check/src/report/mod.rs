//! The results of a run: in words for people, and as documents for programs.

mod counts;
mod detail;
mod document;
mod junit;
mod paint;
mod progress;
mod summary;

pub use counts::Counts;
pub use detail::failure;
pub use document::{Document, json};
pub use junit::junit;
pub use progress::Progress;
pub use summary::{list, summary};
