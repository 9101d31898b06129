//! The results of a run: in words for people, and as documents for programs.

mod document;
mod junit;
mod progress;
mod words;

pub use document::{Document, json};
pub use junit::junit;
pub use progress::Progress;
pub use words::{Counts, failure, list, summary};
