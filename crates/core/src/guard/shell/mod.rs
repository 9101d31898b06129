//! A command as shells read it: a script of programs with their words, taken apart. What a program does with its words is
//! left to `grammar`, and what a script risks to `judge`.
//!
//! `sh`, `bash`, `zsh`, `busybox` and `fish` must agree where a part begins and ends; of what they read differently,
//! nothing is read. The parts of a script are in `script`. Lists and
//! programs are read by `read`, statements by `statement`, and words by `word` and `expansion`;
//! `reader` has the place in the text that all of them share.
//!
//! ```text
//! Script ── List ── Node ── Simple ── Word ── Piece ── List, in a substitution
//! ```

mod expansion;
mod read;
mod reader;
mod script;
mod statement;
mod word;

pub(super) use read::read;
pub(super) use script::{Assignment, Compound, Document, List, Node, Piece, Redirection, Simple, Word};
