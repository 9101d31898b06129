//! How much went through a bridge. It is written by the thread that forwards, which never waits (I7), and read by
//! the one that serves.

use std::sync::atomic::{AtomicU64, Ordering};

/// What came from each side.
#[derive(Debug, Default)]
pub struct Traffic {
    /// From the client.
    pub client: Count,
    /// From the agent.
    pub agent: Count,
}

/// What came from one side.
#[derive(Debug, Default)]
pub struct Count {
    lines: AtomicU64,
    bytes: AtomicU64,
}

impl Count {
    /// Says how much it is by now.
    pub fn set(&self, lines: u64, bytes: u64) {
        self.lines.store(lines, Ordering::Relaxed);
        self.bytes.store(bytes, Ordering::Relaxed);
    }

    /// Returns how many lines and bytes it is.
    pub(crate) fn get(&self) -> (u64, u64) {
        (self.lines.load(Ordering::Relaxed), self.bytes.load(Ordering::Relaxed))
    }
}
