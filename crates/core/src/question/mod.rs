//! The domain: questions of an agent, answers, and outcomes, in any protocol.
//! Pure. The wire, and the dialects of agents, are left to the rooms above.

pub mod action;
mod allowed;
pub mod check;
pub mod classification;
pub mod command;
pub mod comments;
pub mod context;
mod cost;
pub mod encoding;
pub mod field;
pub mod form;
pub mod formats;
pub mod image;
mod image_header;
pub mod input;
pub mod json;
pub mod link;
pub mod naming;
pub mod outcome;
pub mod recent;
mod size;
pub mod subject;

pub use action::Action;
pub use allowed::Allowed;
pub use check::{FieldError, check, check_shape};
pub use classification::{Guarding, Origin, Purpose, Risk};
pub use comments::Comment;
pub use context::{Context, ContextCall, Said, SaidCall};
pub use encoding::UnknownName;
pub use field::{Field, FieldOption, Kind, Preview, PreviewFormat, Role};
pub use form::Question;
pub use formats::Patterns;
pub use image::Image;
pub use image_header::ImageFormat;
pub use link::Link;
pub use outcome::{Answer, Outcome, Provenance, REDACTED, Reason, Responder, Value};
pub use recent::Recent;
pub use size::text as json_text;
pub use subject::{Diff, Subject};
