//! What the journal is told: where its file is, what is kept, and how it learns which bridges are alive.

use std::{fmt, path::PathBuf, sync::Arc, time::Duration};

use crate::{
    control::{Home, Life},
    desk::BridgeName,
    limits,
};

/// Tells whether a bridge lives, by its name and where it runs, if that was noted. The journal's thread calls it: it may
/// take some milliseconds.
pub type LifeLookup = Arc<dyn Fn(&BridgeName, Option<&Home>) -> Life + Send + Sync>;

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
    /// Where the bridges of this process run; `None` where that is not known.
    pub home: Option<Home>,
    /// Tells whether a bridge lives: its questions are not taken for lost.
    pub life: LifeLookup,
    /// Another layer beneath SQLite.
    #[cfg(test)]
    pub(super) vfs: Option<&'static str>,
    /// The most pages that the file may have, as on a small disk.
    #[cfg(test)]
    pub(super) pages: Option<u32>,
}

impl Options {
    /// Returns the defaults for a file. Every bridge lives.
    pub fn new(file: Option<PathBuf>) -> Self {
        Options {
            file,
            texts: true,
            keep: limits::journal::KEEP,
            size: limits::journal::SIZE,
            home: None,
            life: Arc::new(|_, _| Life::Lives),
            #[cfg(test)]
            vfs: None,
            #[cfg(test)]
            pages: None,
        }
    }
}

impl fmt::Debug for Options {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Options { file, texts, keep, size, home, .. } = self;
        formatter
            .debug_struct("Options")
            .field("file", file)
            .field("texts", texts)
            .field("keep", keep)
            .field("size", size)
            .field("home", home)
            .finish_non_exhaustive()
    }
}
