//! Questions in words, for people at a terminal. Pure formatting: printing is left to `command`.

pub mod text;

pub mod gaps;

pub mod table;

pub mod question;
