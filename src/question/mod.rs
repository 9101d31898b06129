//! The domain: what an agent asks, what is answered, and how a question ends, whatever the protocol.
//! Pure. The wire, and the dialects of agents, are left to the rooms above.

pub mod names;

pub mod origin;

pub mod purpose;

pub mod risk;

pub mod subject;

pub mod patterns;

mod unknown;

pub mod option;

pub mod form;

pub mod permission;

mod heading;

mod milliseconds;

mod memory;

pub mod answer;

pub mod outcome;

pub mod check;

mod formats;

pub mod typed;

pub mod input;

pub use answer::{Answer, REDACTED, Value};
pub use check::{FieldError, check, check_patterns, check_shape};
pub use form::Question;
pub use memory::text as json_text;
pub use names::UnknownName;
pub use option::{Field, Kind};
pub use option::{FieldOption, Preview, PreviewFormat, Role};
pub use origin::Origin;
pub use outcome::{Outcome, Provenance, Reason, Responder};
pub use patterns::Patterns;
pub use purpose::Purpose;
pub use risk::Risk;
pub use subject::{Diff, Subject};
