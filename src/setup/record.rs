//! What setup remembers of each change, so that it can be undone: which file, which agents, and the text before and
//! after. Where that is kept is left to `command`.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::plan::Change;

/// All changes that were made and not undone, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Records {
    /// The changes.
    pub edits: Vec<Edit>,
}

/// One change of a settings file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit {
    /// The settings file, with symlinks resolved.
    pub file: PathBuf,
    /// The name of the client.
    pub client: String,
    /// When it was made, by RFC 3339.
    pub at: String,
    /// The backup: a file with the text before. `None` if there was no file.
    pub before: Option<PathBuf>,
    /// A file with the text after.
    pub after: PathBuf,
    /// Whether the member that holds the agents was added.
    pub added_agents: bool,
    /// What was changed.
    pub changes: Vec<Change>,
}
