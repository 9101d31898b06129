//! The folders of the XDG Base Directory Specification, as the environment names them. What askbridge keeps in each is
//! left to the files that ask for them.

use std::{env, path::PathBuf};

/// Returns the home directory.
pub fn home() -> Option<PathBuf> {
    absolute("HOME")
}

/// Returns the folder of the user's settings.
pub fn config() -> Option<PathBuf> {
    absolute("XDG_CONFIG_HOME").or_else(|| in_home(".config"))
}

/// Returns the folder of the user's state, such as logs.
pub fn state() -> Option<PathBuf> {
    absolute("XDG_STATE_HOME").or_else(|| in_home(".local/state"))
}

/// Returns the folder of the user's data.
pub fn data() -> Option<PathBuf> {
    absolute("XDG_DATA_HOME").or_else(|| in_home(".local/share"))
}

/// Returns the folder for sockets. It has no fallback: a session sets it or does not.
pub fn runtime() -> Option<PathBuf> {
    absolute("XDG_RUNTIME_DIR")
}

fn in_home(folder: &str) -> Option<PathBuf> {
    Some(home()?.join(folder))
}

/// Returns the path in an environment variable. The specification says that a relative path is to be ignored.
fn absolute(name: &str) -> Option<PathBuf> {
    env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
}
