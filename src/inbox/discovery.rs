//! Where the sockets of the bridges of this machine are: one folder, that only its user may enter.

use std::{
    env, fs,
    io::{self, ErrorKind},
    os::unix::{
        fs::{DirBuilderExt, MetadataExt, PermissionsExt},
        net::UnixListener,
    },
    path::{Path, PathBuf},
};

use thiserror::Error;
use tokio::net::UnixStream;

/// Why there is no socket.
#[derive(Debug, Error)]
pub enum DiscoveryError {
    /// Neither of the variables is set that tell where it could be.
    #[error("no folder for the inbox: set XDG_RUNTIME_DIR, XDG_STATE_HOME or HOME")]
    NoFolder,
    /// The folder is not ours alone.
    #[error("{0} can be entered by others: it must be yours, with mode 0700")]
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
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(at(&folder))?;
    let metadata = fs::metadata(&folder).map_err(at(&folder))?;
    if metadata.uid() != rustix::process::geteuid().as_raw() || metadata.mode() & 0o077 != 0 {
        return Err(DiscoveryError::NotPrivate(folder));
    }
    Ok(folder)
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
    /// Listens in this folder, under the name of the bridge.
    pub fn bind(folder: &Path, bridge: &str) -> Result<(Self, UnixListener), DiscoveryError> {
        let path = folder.join(format!("{bridge}.sock"));
        // It gets its name once it listens: whoever found it before would take it for that of a dead bridge.
        let unnamed = path.with_extension("new");
        let listener = match UnixListener::bind(&unnamed) {
            Err(error) if error.kind() == ErrorKind::InvalidInput => {
                return Err(DiscoveryError::TooLong(path));
            }
            listener => listener.map_err(at(&unnamed))?,
        };
        let mut socket = Socket { path: unnamed };
        fs::set_permissions(&socket.path, fs::Permissions::from_mode(0o600)).map_err(at(&socket.path))?;
        listener.set_nonblocking(true).map_err(at(&socket.path))?;
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

/// Connects to the bridges in this folder whose sockets are wanted. The socket of one that is dead is removed.
pub async fn connect_all(
    folder: &Path,
    wanted: impl Fn(&Path) -> bool,
) -> Result<Vec<(PathBuf, UnixStream)>, DiscoveryError> {
    let mut streams = Vec::new();
    for entry in fs::read_dir(folder).map_err(at(folder))? {
        let path = entry.map_err(at(folder))?.path();
        if path.extension().is_none_or(|extension| extension != "sock") || !wanted(&path) {
            continue;
        }
        match UnixStream::connect(&path).await {
            Ok(stream) => streams.push((path, stream)),
            Err(error) if error.kind() == ErrorKind::ConnectionRefused => drop(fs::remove_file(&path)),
            // It went meanwhile, or is somebody else's business.
            Err(error) => tracing::debug!(path = %path.display(), %error, "no bridge"),
        }
    }
    Ok(streams)
}
