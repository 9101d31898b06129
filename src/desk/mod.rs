//! One question's life: what it asks, whether it is open, and how it was settled.
//! How a question is asked and answered on some wire is left to the rooms above.

pub mod record;

pub mod snapshot;

pub mod refusal;

pub use record::{Record, Settlement};
pub use refusal::Refusal;
pub use snapshot::Book;
