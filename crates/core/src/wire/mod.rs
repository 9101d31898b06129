//! Bytes to lines, lines to envelopes, and back, without I/O: what a line is, how to change one member of it, and the
//! queue of bytes to write. The meaning of a line is left to `dialect` and `acp`.

pub mod envelope;
pub mod frame;
pub mod id;
pub mod line;
pub mod method;
pub mod outbox;
pub mod scan;
pub mod splice;
pub mod successor;
