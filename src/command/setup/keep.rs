//! The record of the changes that setup made, kept between its runs: which file, which agents or MCP servers, and the
//! texts before and after.
//! Settings hold keys, so all of this can be read by the user alone.
//! How a change is undone is left to `plan.rs`.

use std::{
    fs::{self, DirBuilder},
    io::ErrorKind,
    marker::PhantomData,
    os::unix::fs::DirBuilderExt,
    path::{Path, PathBuf},
    time::SystemTime,
};

use askbridge_control::join::discovery;
use askbridge_os::files::replace;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{
    plan::AppliedChange,
    settings_file::{self, SettingsError, SettingsFile},
};

/// The folder of the records of one kind of change.
#[derive(Debug)]
pub(super) struct ChangeStore<C> {
    folder: PathBuf,
    list: &'static str,
    kind: PhantomData<C>,
}

impl<C: Clone + Serialize + DeserializeOwned> ChangeStore<C> {
    /// Returns the store in its folder within the state folder, with this list of its changes.
    pub(super) fn new(state: &Path, list: &'static str) -> Self {
        ChangeStore { folder: state.join("setup"), list, kind: PhantomData }
    }

    fn file(&self) -> PathBuf {
        self.folder.join(self.list)
    }

    /// Returns the changes that were not undone.
    pub(super) fn records(&self) -> Result<Records<C>, SettingsError> {
        let path = self.file();
        match settings_file::text(&path) {
            Err(SettingsError::Path { source, .. }) if source.kind() == ErrorKind::NotFound => {
                Ok(Records { edits: Vec::new() })
            }
            Err(error) => Err(error),
            Ok(text) => serde_json::from_str(&text)
                .map_err(|error| SettingsError::Path { path, source: error.into() }),
        }
    }

    /// Writes the changes that were not undone.
    pub(super) fn put(&self, records: &Records<C>) -> Result<(), SettingsError> {
        let path = self.file();
        let text = serde_json::to_string_pretty(records).map_err(std::io::Error::from);
        let written = text.and_then(|text| {
            DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
            replace(&path, &(text + "\n"))
        });
        written.map_err(|source| SettingsError::Path { path, source })
    }

    /// Writes a changed file, and returns where its backup is. The record that undoes it is written first: a crash must
    /// not leave a change without a record.
    pub(super) fn write(
        &self,
        file: &SettingsFile,
        mut edit: Edit<C>,
        after: &str,
    ) -> Result<Option<PathBuf>, SettingsError> {
        let mut records = self.records()?;
        self.texts(&mut edit, file.text.as_deref(), after)?;
        let backup = edit.before.clone();
        records.edits.push(edit.clone());
        self.put(&records)?;
        if let Err(error) = file.replace(Some(after)) {
            // The file is as it was, so there must be nothing to undo.
            records.edits.pop();
            self.put(&records)?;
            Self::forget(&edit);
            return Err(error);
        }
        Ok(backup)
    }

    /// Forgets the changes that were taken out. `others` are those of other files.
    pub(super) fn forget_changes(
        &self,
        edits: Vec<Edit<C>>,
        others: Vec<Edit<C>>,
        is_out: impl Fn(&C) -> bool,
    ) -> Result<(), SettingsError> {
        let (mut kept, mut forgotten) = (others, Vec::new());
        for mut edit in edits {
            edit.changes.retain(|change| !is_out(change));
            if edit.changes.is_empty() { forgotten.push(edit) } else { kept.push(edit) }
        }
        // The records are written before the texts are removed. If the program is killed in between, texts are left
        // over, and no record lacks its texts.
        self.put(&Records { edits: kept })?;
        forgotten.iter().for_each(Self::forget);
        Ok(())
    }

    /// Saves the texts before and after a change, and notes in `edit` where they are and when that was.
    fn texts(&self, edit: &mut Edit<C>, before: Option<&str>, after: &str) -> Result<(), SettingsError> {
        let now = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        // The random name at the end tells changes within one second apart.
        let stem = format!("{}-{}-{}", now.replace([':', '-'], ""), edit.client, discovery::name());
        let keep = |what: &str, text: &str| {
            let path = self.folder.join(format!("{stem}-{what}.json"));
            // Clients keep keys in the environment of their agents, so nobody else may read the copies.
            let made = DirBuilder::new().recursive(true).mode(0o700).create(&self.folder);
            match made.and_then(|()| replace(&path, text)) {
                Ok(()) => Ok(path),
                Err(source) => Err(SettingsError::Path { path, source }),
            }
        };
        edit.before = before.map(|text| keep("before", text)).transpose()?;
        edit.after = keep("after", after)?;
        edit.at = now;
        Ok(())
    }

    /// Returns a change with its texts, as far as they can still be read.
    pub(super) fn made(edit: &Edit<C>) -> AppliedChange<C> {
        let before = edit.before.as_deref();
        let text = before.map(settings_file::text);
        // If the text from before the change is lost, `plan` takes the change out of the current text.
        let is_lost = matches!(text, Some(Err(_)));
        let after = settings_file::text(&edit.after).ok().filter(|_| !is_lost);
        // A lost text stays `Some`: `None` means that there was no file, and undoing would remove it.
        let before = before.map(|_| text.and_then(Result::ok).unwrap_or_default());
        AppliedChange { before, after, added_agents: edit.added_agents, changes: edit.changes.clone() }
    }

    /// Removes the texts of a change.
    pub(super) fn forget(edit: &Edit<C>) {
        for path in edit.before.iter().chain([&edit.after]) {
            // A file that is gone needs no removal.
            drop(fs::remove_file(path));
        }
    }
}

/// All changes that were made and not undone, oldest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Records<C> {
    /// The changes.
    pub edits: Vec<Edit<C>>,
}

/// One change of a settings file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edit<C> {
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
    /// The changes.
    pub changes: Vec<C>,
}
