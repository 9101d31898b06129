//! What comes of a line that the relay takes: bytes, each for one of the two sides.

use serde_json::Value;

/// Where a line comes from, or goes to.
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

/// What comes of a line: bytes, each for a side.
pub(super) type Passed = Vec<(Side, Vec<u8>)>;

/// Returns a message as a line.
pub(super) fn written(message: &Value) -> Vec<u8> {
    format!("{message}\n").into_bytes()
}
