//! The file system of this machine, for `guard` and `rule`, which read it through the trait `Files`.

use std::{
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use askbridge_core::guard::Files;

/// The file system of this machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealFiles;

impl Files for RealFiles {
    fn resolve(&self, path: &Path) -> Option<PathBuf> {
        match fs::canonicalize(path) {
            Ok(resolved) => Some(resolved),
            // Only a path without a dangling link can be resolved by its parent: writing to a dangling link creates
            // the file that it points to, wherever that is.
            Err(error) if error.kind() == io::ErrorKind::NotFound && fs::symlink_metadata(path).is_err() => {
                Some(self.resolve(path.parent()?)?.join(path.file_name()?))
            }
            Err(_) => None,
        }
    }
    fn has_other_names(&self, path: &Path) -> bool {
        fs::metadata(path).is_ok_and(|file| file.is_file() && file.nlink() > 1)
    }
}
