//! Code in the words of a command, in languages that people use to look at data: Python and JavaScript. Code that has
//! nothing but names from a short list, and its own, computes, reads and prints. Of some other languages, code is known that
//! prints a value. All other code is dangerous.

mod modules;
mod plain;
mod printing;
mod tables;
mod tokens;

pub(super) use plain::{Plain, read};
