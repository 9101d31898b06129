//! The domain: what an agent asks, and what became of it, whatever the dialect.
//! Pure, and knows nothing of the wire.

pub mod dialect;

pub mod form;

pub mod input;

pub mod answer;

pub mod check;

pub use answer::{Answer, Outcome, Provenance, Reason, Responder, Value};
pub use check::{FieldError, check};
pub use dialect::Dialect;
pub use form::{Field, FieldOption, Kind, Preview, PreviewFormat, Question};
