//! The domain: what an agent asks, and what became of it, whatever the dialect.
//! Pure, and knows nothing of the wire.

pub mod form;

pub mod answer;

pub use answer::{Answer, Outcome, Reason, Responder, Value};
pub use form::{Dialect, Field, FieldOption, Kind, Preview, PreviewFormat, Question};
