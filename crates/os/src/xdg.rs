//! The folders of the XDG Base Directory Specification, as the environment names them. What askbridge keeps in each is
//! left to the files that ask for them.

use std::{env, ffi::OsString, path::PathBuf};

/// The variable that names another directory than `/run/user`, for tests: what is there belongs to the sessions of the
/// person who runs them.
pub const SESSIONS: &str = "ASKBRIDGE_RUN_USER";

/// Returns the home directory. Without `HOME`, or with an empty one, as in a service of the system, it is the one of the
/// user database.
pub fn home() -> Option<PathBuf> {
    home_of(env::var_os("HOME"), env::home_dir)
}

fn home_of(named: Option<OsString>, of_user: impl FnOnce() -> Option<PathBuf>) -> Option<PathBuf> {
    match named.filter(|home| !home.is_empty()) {
        Some(home) => Some(PathBuf::from(home)),
        None => of_user(),
    }
    .filter(|home| home.is_absolute())
}

/// Returns the folder of the user's settings.
pub fn config() -> Option<PathBuf> {
    absolute("XDG_CONFIG_HOME").or_else(config_of_home)
}

/// Returns the folder of the user's settings where the environment names none.
pub fn config_of_home() -> Option<PathBuf> {
    in_home(".config")
}

/// Returns the folder of the user's state, such as logs.
pub fn state() -> Option<PathBuf> {
    absolute("XDG_STATE_HOME").or_else(state_of_home)
}

/// Returns the folder of the user's state where the environment names none.
pub fn state_of_home() -> Option<PathBuf> {
    in_home(".local/state")
}

/// Returns the folder of the user's data.
pub fn data() -> Option<PathBuf> {
    absolute("XDG_DATA_HOME").or_else(|| in_home(".local/share"))
}

/// Returns the folder for sockets. It has no fallback: a session sets it or does not.
pub fn runtime() -> Option<PathBuf> {
    absolute("XDG_RUNTIME_DIR")
}

/// Returns the folder in which a session of this user has its [`runtime`] folder, on systems with systemd or elogind. It
/// need not exist.
pub fn session() -> PathBuf {
    let all = absolute(SESSIONS).unwrap_or_else(|| PathBuf::from("/run/user"));
    all.join(rustix::process::geteuid().as_raw().to_string())
}

fn in_home(folder: &str) -> Option<PathBuf> {
    Some(home()?.join(folder))
}

/// Returns the path in an environment variable. The specification says that a relative path is to be ignored.
fn absolute(name: &str) -> Option<PathBuf> {
    env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_home_is_none() {
        for (named, of_user, home) in [
            (Some("/srv/ada"), Some("/people/ada"), Some("/srv/ada")),
            (Some(""), Some("/people/ada"), Some("/people/ada")),
            (None, Some("/people/ada"), Some("/people/ada")),
            // A relative path is ignored, and says that the user wants no other.
            (Some("ada"), Some("/people/ada"), None),
            (Some(""), Some(""), None),
            (None, None, None),
        ] {
            let found = home_of(named.map(OsString::from), || of_user.map(PathBuf::from));
            assert_eq!(found, home.map(PathBuf::from), "{named:?} {of_user:?}");
        }
    }
}
