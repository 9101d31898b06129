//! What the services beside a bridge's socket are told, from the settings.

use super::{keys, layers::Settings};
use crate::config::{JournalSettings, UnattendedSettings};

impl Settings {
    /// Returns what is kept of questions. `None` keeps nothing.
    pub fn journal(&self) -> Option<JournalSettings> {
        let settings = || JournalSettings {
            texts: self.get(&keys::JOURNAL_TEXTS),
            keep: self.get(&keys::JOURNAL_KEEP).0,
            size: self.get(&keys::JOURNAL_SIZE).0,
        };
        self.get(&keys::JOURNAL_ENABLED).then(settings)
    }

    /// Returns what becomes of a question that no person can answer.
    pub fn unattended(&self) -> UnattendedSettings {
        UnattendedSettings { then: self.get(&keys::UNATTENDED_THEN), when: self.get(&keys::UNATTENDED_WHEN) }
    }
}
