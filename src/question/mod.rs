//! The domain: what an agent asks, and how it ended, whatever the protocol.
//! Pure, and knows nothing of the wire.

pub mod names;

pub mod origin;

pub mod purpose;

pub mod patterns;

pub mod form;

mod milliseconds;

pub mod answer;

pub mod outcome;

pub mod check;

pub mod typed;

pub mod input;

pub use answer::{Answer, Value};
pub use check::{FieldError, check, check_patterns, check_shape};
pub use form::{Field, FieldOption, Kind, Preview, PreviewFormat, Question};
pub use names::UnknownName;
pub use origin::Origin;
pub use outcome::{Outcome, Provenance, Reason, Responder};
pub use patterns::Patterns;
pub use purpose::Purpose;
