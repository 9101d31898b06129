//! The two sides of the relay, and the bytes that it writes to each for a line that it has read.

use serde_json::Value;

/// The peer that a line comes from, or goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Client,
    Agent,
}

impl Side {
    pub(super) fn other(self) -> Self {
        match self {
            Self::Client => Self::Agent,
            Self::Agent => Self::Client,
        }
    }
}

/// The outputs for one line: bytes, each for a side.
pub(super) type Outputs = Vec<(Side, Vec<u8>)>;

/// Returns a message as a line.
pub(super) fn written(message: &Value) -> Vec<u8> {
    format!("{message}\n").into_bytes()
}
