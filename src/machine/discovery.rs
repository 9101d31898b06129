//! Where the sockets of the bridges of this machine are: one folder, that only its user may enter.

use std::{
    env, fs,
    io::{self, ErrorKind},
    os::unix::{
        fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt},
        net::UnixListener,
    },
    path::{Path, PathBuf},
};

use thiserror::Error;
use tokio::net::UnixStream;

use crate::limits;

/// What the name of a socket ends with.
const NAMED: &str = "sock";
/// What it ends with until somebody listens there. As long: what can be bound to can be connected to.
const UNNAMED: &str = "bind";

/// Why there is no socket.
#[derive(Debug, Error)]
pub enum DiscoveryError {
    /// Neither of the variables is set that tell where it could be.
    #[error("no folder for the inbox: set XDG_RUNTIME_DIR, XDG_STATE_HOME or HOME")]
    NoFolder,
    /// The folder is not ours alone, or no folder itself.
    #[error("{0} may be entered by others: it must be a folder of yours, with mode 0700, and no link")]
    NotPrivate(PathBuf),
    /// The folder's name leaves no room for the socket's.
    #[error("{0} is too long for the name of a socket: set XDG_RUNTIME_DIR to a shorter folder")]
    TooLong(PathBuf),
    /// Something about a path failed.
    #[error("{path}: {source}")]
    Path {
        /// Which path.
        path: PathBuf,
        /// What failed.
        source: io::Error,
    },
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> DiscoveryError {
    let path = path.to_owned();
    move |source| DiscoveryError::Path { path, source }
}

/// Returns the folder, made if it is not there.
pub fn folder() -> Result<PathBuf, DiscoveryError> {
    // A relative one is to be ignored, by the XDG Base Directory Specification.
    let path = |name: &str| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = path("XDG_RUNTIME_DIR")
        .or_else(|| path("XDG_STATE_HOME"))
        .or_else(|| Some(path("HOME")?.join(".local/state")))
        .ok_or(DiscoveryError::NoFolder)?;
    let folder = base.join("askbridge");
    make(&folder)?;
    // Of a link it would be somebody else's business where it leads.
    let metadata = fs::symlink_metadata(&folder).map_err(at(&folder))?;
    let is_own = metadata.uid() == rustix::process::geteuid().as_raw();
    if !metadata.is_dir() || !is_own || metadata.mode() & 0o077 != 0 {
        return Err(DiscoveryError::NotPrivate(folder));
    }
    Ok(folder)
}

fn make(folder: &Path) -> Result<(), DiscoveryError> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(at(folder))
}

/// Returns a name for a bridge that no other one has.
pub fn name() -> String {
    // No letters that are taken for others.
    const LETTERS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
    let mut random = [0; 6];
    if getrandom::fill(&mut random).is_err() {
        return std::process::id().to_string();
    }
    random.iter().map(|byte| char::from(LETTERS[usize::from(byte % 32)])).collect()
}

/// A socket's file, which is removed when this is dropped.
#[derive(Debug)]
pub struct Socket {
    path: PathBuf,
}

impl Socket {
    /// Listens in this folder, under the name of the bridge. Fails where a socket of that name is there already.
    pub fn bind(folder: &Path, bridge: &str) -> Result<(Self, UnixListener), DiscoveryError> {
        let path = folder.join(bridge).with_extension(NAMED);
        // It gets its name once it listens: whoever found it before would take it for that of a dead bridge.
        let unnamed = path.with_extension(UNNAMED);
        let listener = match UnixListener::bind(&unnamed) {
            Err(error) if error.kind() == ErrorKind::InvalidInput => {
                return Err(DiscoveryError::TooLong(path));
            }
            listener => listener.map_err(at(&unnamed))?,
        };
        let mut socket = Socket { path: unnamed };
        fs::set_permissions(&socket.path, fs::Permissions::from_mode(0o600)).map_err(at(&socket.path))?;
        listener.set_nonblocking(true).map_err(at(&socket.path))?;
        // Nobody else binds to the first name as long as it is there, so nobody takes the second one meanwhile.
        if path.symlink_metadata().is_ok() {
            return Err(at(&path)(ErrorKind::AlreadyExists.into()));
        }
        fs::rename(&socket.path, &path).map_err(at(&path))?;
        socket.path = path;
        Ok((socket, listener))
    }
}

impl Drop for Socket {
    fn drop(&mut self) {
        // Somebody may have removed it before.
        drop(fs::remove_file(&self.path));
    }
}

/// Returns the sockets of bridges in this folder, which is made again if it is not there. What a bridge left that died
/// before its socket had a name is removed.
pub async fn sockets(folder: &Path) -> Result<Vec<PathBuf>, DiscoveryError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            make(folder)?;
            return Ok(Vec::new());
        }
        entries => entries.map_err(at(folder))?,
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(at(folder))?.path();
        match path.extension().and_then(|extension| extension.to_str()) {
            Some(NAMED) if is_socket(&path) => paths.push(path),
            Some(UNNAMED) if is_old(&path) => drop(connect(&path).await),
            _ => {}
        }
    }
    Ok(paths)
}

/// Connects to the bridge behind a socket. `None` where there is none any more: then the socket is removed.
pub async fn connect(path: &Path) -> io::Result<Option<UnixStream>> {
    if !is_socket(path) {
        return Ok(None);
    }
    match UnixStream::connect(path).await {
        Ok(stream) => Ok(Some(stream)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
            // Somebody may have removed it before.
            drop(fs::remove_file(path));
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Says whether this is a socket itself, and not a link to one: nothing else is ever removed.
fn is_socket(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.file_type().is_socket())
}

/// Says whether it has been there for longer than a bridge takes to listen.
fn is_old(path: &Path) -> bool {
    let changed = path.symlink_metadata().and_then(|metadata| metadata.modified());
    changed.is_ok_and(|changed| changed.elapsed().is_ok_and(|age| age > limits::STALE))
}

#[cfg(test)]
mod tests {
    use std::os::unix::{fs::symlink, net};

    use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};

    use crate::machine::discovery::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn what_can_be_bound_to_can_be_connected_to() {
        let root = tempfile::tempdir().unwrap();
        let (mut bound, mut refused) = (0, 0);
        for length in 60..110 {
            let folder = root.path().join("x".repeat(length));
            fs::create_dir(&folder).unwrap();
            match Socket::bind(&folder, "k3f9q2") {
                Ok((socket, _listener)) => {
                    net::UnixStream::connect(&socket.path).unwrap();
                    bound += 1;
                }
                Err(DiscoveryError::TooLong(_)) => {
                    assert_eq!(names(&folder), [""; 0]);
                    refused += 1;
                }
                Err(other) => panic!("{other}"),
            }
        }
        assert!(bound > 0 && refused > 0, "{bound} {refused}");
    }

    #[test]
    fn a_socket_is_never_put_in_the_place_of_another() {
        let folder = tempfile::tempdir().unwrap();
        let (_socket, listener) = Socket::bind(folder.path(), "same").unwrap();
        let error = Socket::bind(folder.path(), "same").unwrap_err();
        assert!(error.to_string().contains("same.sock"), "{error}");
        net::UnixStream::connect(folder.path().join("same.sock")).unwrap();
        listener.accept().unwrap();
        assert_eq!(names(folder.path()), ["same.sock"]);
    }

    #[tokio::test]
    async fn only_the_sockets_of_dead_bridges_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let _live = net::UnixListener::bind(at("live.sock")).unwrap();
        let _binds = net::UnixListener::bind(at("binds.bind")).unwrap();
        for dead in ["dead.sock", "old.bind", "new.bind"] {
            drop(net::UnixListener::bind(at(dead)).unwrap());
        }
        for file in ["file.sock", "file.bind", "unrelated"] {
            fs::write(at(file), "").unwrap();
        }
        symlink(at("dead.sock"), at("link.sock")).unwrap();
        for name in ["old.bind", "binds.bind", "file.bind"] {
            let long_ago = Timespec { tv_sec: 1_000_000_000, tv_nsec: 0 };
            let times = Timestamps { last_access: long_ago, last_modification: long_ago };
            utimensat(CWD, at(name), &times, AtFlags::empty()).unwrap();
        }
        let mut found = Vec::new();
        for path in sockets(folder.path()).await.unwrap() {
            if connect(&path).await.unwrap().is_some() {
                found.push(path);
            }
        }
        assert_eq!(found, [at("live.sock")]);
        assert_eq!(connect(&at("file.sock")).await.unwrap().map(drop), None);
        let left =
            ["binds.bind", "file.bind", "file.sock", "link.sock", "live.sock", "new.bind", "unrelated"];
        assert_eq!(names(folder.path()), left);
    }

    #[tokio::test]
    async fn a_folder_that_was_removed_is_made_again() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("one/two");
        assert!(sockets(&folder).await.unwrap().is_empty());
        assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
    }
}
