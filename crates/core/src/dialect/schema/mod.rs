//! The reader of JSON Schemas: from a schema to the fields of a question, and from an answer to the JSON that the schema
//! wants. Every dialect that carries a schema uses it. `docs/forms.md` has a table of what is read, with the fields that a
//! person sees.
//!
//! What it does not understand becomes a field that takes JSON, never a text: that field has the schema, which the
//! person sees, and against which the answer is checked. If a property cannot stand alone, the form as a whole becomes
//! such a field.

mod kind;
mod node;
mod object;
mod options;
mod slot;

pub use object::{Form, Property, is_typed_object, read, whole};
pub use options::PREVIEW;
pub use slot::{Group, Slot, at, put};
