//! What the journal is told: where its file is, what is kept, and how it learns which bridges are alive.

use std::{fmt, path::PathBuf, sync::Arc, time::Duration};

use crate::{desk::BridgeName, limits};

/// Tells whether a bridge is alive. The journal's thread calls it: it may take some milliseconds.
pub type IsAlive = Arc<dyn Fn(&BridgeName) -> bool + Send + Sync>;

/// What the journal is told.
#[derive(Clone)]
pub struct Options {
    /// The file. `None` where the environment names no folder of the user's state.
    pub file: Option<PathBuf>,
    /// Whether texts are kept: questions, answers, commands, remarks.
    pub texts: bool,
    /// How long settled questions are kept.
    pub keep: Duration,
    /// Size beyond which the oldest settled questions are removed, in bytes.
    pub size: u64,
    /// Tells whether a bridge is alive: its questions are not taken for lost.
    pub is_alive: IsAlive,
    /// Another layer beneath SQLite.
    #[cfg(test)]
    pub(super) vfs: Option<&'static str>,
    /// The most pages that the file may have, as on a small disk.
    #[cfg(test)]
    pub(super) pages: Option<u32>,
}

impl Options {
    /// Returns the defaults for a file. Every bridge counts as alive.
    pub fn new(file: Option<PathBuf>) -> Self {
        Options {
            file,
            texts: true,
            keep: limits::journal::KEEP,
            size: limits::journal::SIZE,
            is_alive: Arc::new(|_| true),
            #[cfg(test)]
            vfs: None,
            #[cfg(test)]
            pages: None,
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Options { file, texts, keep, size, .. } = self;
        formatter
            .debug_struct("Options")
            .field("file", file)
            .field("texts", texts)
            .field("keep", keep)
            .field("size", size)
            .finish_non_exhaustive()
    }
}
