//! What `askbridge setup` is told, and how its errors are said.

use std::{
    io,
    path::{Path, PathBuf},
};

use super::{document::DocumentError, settings_file::SettingsError};
use crate::command::CommandError;

/// What `setup` changes, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetupOptions {
    /// The client. `None` means all that are installed.
    pub client: Option<String>,
    /// The agent. `None` means all in the settings, and all that are installed.
    pub agent: Option<String>,
    /// The settings file, in place of the client's usual one.
    pub file: Option<PathBuf>,
    /// Writes without a question.
    pub yes: bool,
    /// Only shows the change.
    pub print: bool,
    /// Takes the change out.
    pub undo: bool,
}

/// Says where settings are broken.
pub(super) fn broken(path: &Path, error: &DocumentError) -> CommandError {
    CommandError::Setup(format!("{}: {error}; nothing was changed", path.display()))
}

impl From<SettingsError> for CommandError {
    fn from(error: SettingsError) -> Self {
        match error {
            SettingsError::Path { source, path } => {
                CommandError::Setup(format!("{}: {}", path.display(), plain(&source)))
            }
            other => CommandError::Setup(other.to_string()),
        }
    }
}

/// Returns an error of the system without its number.
fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}
