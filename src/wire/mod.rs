//! Bytes to envelopes and back, without I/O: what a line is, whose it is, and how to change one member of it.
//! What a line means is left to `dialect` and `acp`.

pub mod method;

pub mod scan;

pub mod id;

pub mod envelope;

pub mod frame;

pub mod splice;

pub mod line;

pub mod successor;

pub mod tail;
