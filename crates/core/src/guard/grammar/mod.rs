//! The programs that are known, each with its own grammar: which of its words are options, which option takes a value,
//! which words are subcommands, and what of it does harm. A word counts only where the program reads it.
//!
//! The tables are data: a new program is some lines in `tables/`, in the language that `read` explains. `row` has what a
//! table says of a program, and `walk` goes through the words of a command by it.
//!
//! The tables are no wall: a project's own script may do all of this. They name programs that are known to do harm, so that
//! a rule does not leave it open, and a person does not allow it in passing.

mod found;
mod lookup;
#[cfg(test)]
mod mutations;
mod options;
mod read;
mod row;
mod special;
mod walk;

pub(super) use found::{Found, Label, Seen};
pub use lookup::name;
pub(super) use lookup::{any, deed, is_shell, is_sql, named, row};
pub(super) use row::{Open, Row};
pub(super) use walk::walk;
