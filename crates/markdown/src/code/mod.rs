//! Code with the roles of its parts.

mod languages;
mod parts;
mod patches;
mod scanner;

pub use parts::code;
pub(crate) use parts::parts;
pub use patches::patch;
