//! Bytes to lines, lines to envelopes, and back, without I/O: the cutting and the classes of lines, changes of one
//! member of a line, and the queue of bytes to write. The meaning of a line is left to `dialect` and `acp`.

pub mod envelope;
pub mod frame;
pub mod id;
pub mod line;
pub mod method;
pub mod outbox;
pub mod scan;
pub mod splice;
pub mod successor;
