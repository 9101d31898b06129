//! A settings file of another program: it is read within limits, and written as a whole or not at all.

use std::{
    fs::{self, OpenOptions},
    io::{self, ErrorKind, Read},
    os::unix::fs::OpenOptionsExt,
    path::{Path, PathBuf},
};

use askbridge_os::files::replace;
use rustix::fs::OFlags;
use thiserror::Error;

use super::tree::DocumentError;
use crate::{command::CommandError, limits};

/// Why a settings file cannot be read or written.
#[derive(Debug, Error)]
pub enum SettingsError {
    /// An operation on the file failed.
    #[error("{path}: {source}")]
    Path {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// It is a directory, a pipe or a device.
    #[error("{0} is not a regular file")]
    NotAFile(PathBuf),
    /// The file has more bytes than settings have.
    #[error("{0} is larger than {limit} MiB", limit = limits::CLIENT_SETTINGS / (1024 * 1024))]
    TooLarge(PathBuf),
    /// The file has bytes that are not text.
    #[error("{path}: line {line}: not UTF-8")]
    NotText {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// Another program wrote the file while the change was shown.
    #[error("another program changed {0} meanwhile: run the command again")]
    Changed(PathBuf),
}

/// A settings file, with the text that was read from it.
#[derive(Debug)]
pub(in crate::command) struct SettingsFile {
    /// The file itself: symlinks are resolved.
    pub(in crate::command) path: PathBuf,
    /// Its text. `None` if there is no file.
    pub(in crate::command) text: Option<String>,
}

impl SettingsFile {
    /// Reads a settings file, which need not exist.
    pub(in crate::command) fn read(path: &Path) -> Result<Self, SettingsError> {
        let path = match path.canonicalize() {
            Ok(path) => path,
            // A symlink without a target is an error.
            Err(error) if error.kind() == ErrorKind::NotFound && path.symlink_metadata().is_err() => {
                return Ok(SettingsFile { path: path.to_owned(), text: None });
            }
            Err(source) => return Err(SettingsError::Path { path: path.to_owned(), source }),
        };
        let text = Some(text(&path)?);
        Ok(SettingsFile { path, text })
    }

    /// Replaces the file by this text, or removes it. Fails if the file has changed since it was read.
    pub(in crate::command) fn replace(&self, text: Option<&str>) -> Result<(), SettingsError> {
        let at = |source| SettingsError::Path { path: self.path.clone(), source };
        if Self::read(&self.path)?.text != self.text {
            return Err(SettingsError::Changed(self.path.clone()));
        }
        let Some(text) = text else { return fs::remove_file(&self.path).map_err(at) };
        if self.text.is_some() {
            // A file may be replaced although its mode forbids writing: opening it to write respects the mode.
            OpenOptions::new().write(true).open(&self.path).map_err(at)?;
        } else if let Some(folder) = self.path.parent() {
            fs::create_dir_all(folder).map_err(at)?;
        }
        replace(&self.path, text).map_err(at)
    }
}

/// Reads a file of text.
pub(super) fn text(path: &Path) -> Result<String, SettingsError> {
    let at = |source| SettingsError::Path { path: path.to_owned(), source };
    // Opening a named pipe would otherwise block until somebody writes to it.
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path).map_err(at)?;
    // The open file is checked, and not its path, which could name another file by now.
    if !file.metadata().map_err(at)?.is_file() {
        return Err(SettingsError::NotAFile(path.to_owned()));
    }
    let mut bytes = Vec::new();
    file.take(limits::CLIENT_SETTINGS as u64 + 1).read_to_end(&mut bytes).map_err(at)?;
    if bytes.len() > limits::CLIENT_SETTINGS {
        return Err(SettingsError::TooLarge(path.to_owned()));
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = valid.iter().filter(|byte| **byte == b'\n').count() + 1;
        SettingsError::NotText { path: path.to_owned(), line }
    })
}

/// Returns the error that says where settings are broken.
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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use super::*;
    use crate::limits;

    #[test]
    fn a_file_keeps_its_mode_and_its_symlink() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("real.json"), folder.path().join("settings.json"));
        fs::write(&file, "{}").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&file, &link).unwrap();
        SettingsFile::read(&link).unwrap().replace(Some("{ }")).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "{ }");
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o640);
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "no draft is left");
    }

    #[test]
    fn a_file_that_was_changed_meanwhile_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.json");
        let absent = SettingsFile::read(&path).unwrap();
        fs::write(&path, "{}").unwrap();
        assert!(matches!(absent.replace(Some("new")), Err(SettingsError::Changed(_))));
        let read = SettingsFile::read(&path).unwrap();
        fs::write(&path, "{ }").unwrap();
        assert!(matches!(read.replace(None), Err(SettingsError::Changed(_))));
        assert_eq!(fs::read_to_string(&path).unwrap(), "{ }");
    }

    #[test]
    fn what_is_no_text_file_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let error = |name: &str| SettingsFile::read(&folder.path().join(name)).unwrap_err().to_string();
        fs::create_dir(folder.path().join("folder")).unwrap();
        symlink("nowhere", folder.path().join("dangling")).unwrap();
        fs::write(folder.path().join("latin"), b"{\n\xe9}").unwrap();
        fs::write(folder.path().join("huge"), vec![b' '; limits::CLIENT_SETTINGS + 1]).unwrap();
        for (name, why) in [
            ("folder", "not a regular file"),
            ("dangling", "o such file"),
            ("latin", "line 2: not UTF-8"),
            ("huge", "larger than 32 MiB"),
        ] {
            assert!(error(name).contains(why), "{}", error(name));
        }
    }
}
