//! What `main` reads once and hands to every command: the settings, and the directories of the sockets.
//! What has to follow changes while a command runs asks `Live` of the crate of settings.

use std::{ffi::OsString, sync::OnceLock};

use askbridge_control::join::{Places, discovery::DiscoveryError};
use askbridge_settings::{Settings, files::UserSources};

use super::arguments::LogArgs;

/// The settings and the directories that a command works with.
#[derive(Debug)]
pub struct Context {
    /// The settings that count for the command, as they were when it began.
    pub settings: Settings,
    /// The options of the log, for a process that the command starts.
    pub(super) log: Vec<OsString>,
    user: UserSources,
    places: OnceLock<Places>,
}

impl Context {
    /// Reads the settings: those of the current project as well, if they count for the command. Mistakes in them do not
    /// stop the program.
    pub fn read(is_of_a_project: bool, log: &LogArgs) -> Self {
        let user = UserSources::read();
        let settings = if is_of_a_project { user.settings_here() } else { user.settings(None) };
        Context { settings, log: log.words(), user, places: OnceLock::new() }
    }

    /// Returns the settings with those of the project that a folder belongs to.
    #[cfg(feature = "notify")]
    pub(super) fn settings_of(&self, folder: Option<&std::path::Path>) -> Settings {
        self.user.settings(folder)
    }

    /// Returns the settings with those of the project that the command was started in.
    pub(super) fn settings_here(&self) -> Settings {
        self.user.settings_here()
    }

    /// Returns the directories of the sockets. The first call makes the one of this process, so a command that needs no
    /// socket leaves none behind.
    ///
    /// # Errors
    /// No directory can be used.
    pub(super) fn places(&self) -> Result<&Places, DiscoveryError> {
        match self.places.get() {
            Some(places) => Ok(places),
            None => {
                let places = Places::here()?;
                Ok(self.places.get_or_init(|| places))
            }
        }
    }
}
