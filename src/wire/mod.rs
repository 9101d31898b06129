//! Bytes to lines, lines to envelopes, and back, without I/O: what a line is, how to change one member of it, and the
//! queue of what is written. What a line means is left to `dialect` and `acp`.

pub mod method;

pub mod scan;

pub mod id;

pub mod envelope;

pub mod frame;

mod alike;

mod find;

pub mod outbox;

pub mod splice;

pub mod line;

pub mod successor;

pub mod tail;
