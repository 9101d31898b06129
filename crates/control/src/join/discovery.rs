//! The sockets of the bridges of this machine, in directories that only the user may enter. This file finds them, and
//! binds one for the inbox of this process. Which directories these are is left to `places.rs`, and talking over a
//! socket to `handshake.rs` and `follow.rs`.

use std::{
    collections::BTreeMap,
    env, fs,
    io::{self, ErrorKind},
    os::unix::{
        fs::{FileTypeExt, PermissionsExt},
        net::UnixListener,
    },
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use askbridge_core::{
    desk::{BridgeName, IdPrefix},
    question::Guarding,
};
use askbridge_os::{
    processes::{self, AgentTree},
    xdg,
};
use rustix::{
    io::{Errno, FdFlags, fcntl_setfd, ioctl_fionbio},
    net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, socket_with},
};
use tokio::net::UnixStream;

pub use super::places::DiscoveryError;
use super::places::{self, Places, at, make};
use crate::{
    inbox::{
        BridgeInbox, CallbackSender, Home, Identity, KeptQuestions, Ledger, Life, LocalDesk, Port,
        StandingInbox, Work,
    },
    limits,
    rpc::host::Host,
};

/// The extension of a socket's file.
pub(super) const NAMED: &str = "sock";
/// The extension until the bridge listens. It is as long as [`NAMED`], so that the final path fits into a socket
/// address if the first one did.
const UNNAMED: &str = "bind";

/// Returns the file of the user's journal, which need not exist.
pub fn journal_file() -> Option<PathBuf> {
    Some(xdg::state()?.join("askbridge").join("journal.db"))
}

/// Returns the directory of this process's own sockets, and creates it if it does not exist.
pub fn folder() -> Result<PathBuf, DiscoveryError> {
    Ok(Places::here()?.own().to_owned())
}

/// Returns a new random name for a bridge.
pub fn bridge_name() -> BridgeName {
    let mut random = [0; 6];
    if getrandom::fill(&mut random).is_err() {
        // The process ID at least differs from those of the bridges that run at the same time.
        random[..4].copy_from_slice(&std::process::id().to_le_bytes());
    }
    BridgeName::from_random(random)
}

/// Returns a new random name, as a text.
pub fn name() -> String {
    bridge_name().to_string()
}

/// A socket's file, which is removed when this is dropped.
#[derive(Debug)]
pub struct Socket {
    path: PathBuf,
}

impl Socket {
    /// Listens in this directory, under the name of the bridge or the machine. Fails if a file of that name exists.
    pub fn bind(folder: &Path, bridge: &str) -> Result<(Self, UnixListener), DiscoveryError> {
        let path = folder.join(format!("{bridge}.{NAMED}"));
        // The file gets its final name once the bridge listens. A program that found it earlier would take it for the
        // file of a dead bridge.
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
        // While the first name exists, no other bridge can bind it, so none can take the second name between this check
        // and the rename.
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
        // The file may have been removed already; ignore the error.
        drop(fs::remove_file(&self.path));
    }
}

/// Returns the sockets in this directory, by the names of their bridges. Creates the directory if it does not exist.
/// Removes sockets of bridges that died before they listened. Files whose name is not that of a bridge are ignored.
pub async fn sockets(folder: &Path) -> Result<BTreeMap<BridgeName, PathBuf>, DiscoveryError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            make(folder)?;
            return Ok(BTreeMap::new());
        }
        entries => entries.map_err(at(folder))?,
    };
    let mut found = BTreeMap::new();
    for entry in entries {
        let path = entry.map_err(at(folder))?.path();
        match path.extension().and_then(|extension| extension.to_str()) {
            Some(NAMED) if is_socket(&path) => found.extend(bridge(&path).map(|bridge| (bridge, path))),
            // `connect` removes the file if no process listens.
            Some(UNNAMED) if is_old(&path) => drop(connect(&path).await),
            _ => {}
        }
    }
    Ok(found)
}

/// Returns the sockets in all of these directories. Only the own one is created.
pub async fn sockets_in(places: &Places) -> Result<BTreeMap<BridgeName, PathBuf>, DiscoveryError> {
    let mut found = BTreeMap::new();
    for folder in places.all() {
        match sockets(&folder).await {
            Ok(sockets) => found.extend(sockets),
            Err(error) if folder == places.own() => return Err(error),
            // It has just been removed, as that of a session that ends.
            Err(_) => {}
        }
    }
    Ok(found)
}

/// Returns the socket of the bridge whose whole name this ID begins with, if there is one.
pub fn socket_of(folder: &Path, typed: &IdPrefix) -> Option<(BridgeName, PathBuf)> {
    let bridge: BridgeName = typed.bridge().parse().ok().filter(|_| typed.machine().is_none())?;
    let path = folder.join(bridge.as_str()).with_extension(NAMED);
    is_socket(&path).then_some((bridge, path))
}

/// Returns the directory in which a bridge of this machine has its socket.
pub fn place_of(places: &Places, bridge: &BridgeName) -> Option<PathBuf> {
    let has = |folder: &PathBuf| is_socket(&folder.join(bridge.as_str()).with_extension(NAMED));
    places.all().into_iter().find(|folder| bridge.machine().is_none() && has(folder))
}

/// Returns where the bridges of this process run. `None` if there is no folder for their sockets.
pub fn home() -> Option<Home> {
    let pid = std::process::id();
    let started = processes::read_process(pid).map_or(0, |process| process.started);
    Some(Home { folder: folder().ok()?, pid, started, namespace: processes::namespace() })
}

/// Returns whether a bridge lives: it listens in a directory of this user or in its recorded one, or its process runs.
/// It may take some milliseconds.
pub fn life(bridge: &BridgeName, home: Option<&Home>) -> Life {
    let mut sockets = places::possible()
        .chain(home.map(|home| home.folder.clone()))
        .map(|folder| folder.join(bridge.as_str()).with_extension(NAMED));
    if sockets.any(|socket| listens(&socket)) {
        return Life::Lives;
    }
    home.map_or(Life::Ended, |home| life_of_process(home, bridge))
}

fn life_of_process(home: &Home, bridge: &BridgeName) -> Life {
    match processes::namespace() {
        // This system does not tell about processes.
        0 => Life::Ended,
        here if here == home.namespace => match processes::read_process(home.pid) {
            Ok(process) if process.started == home.started && !process.has_ended => Life::Lives,
            Err(error) if error.kind() != ErrorKind::NotFound => Life::Unseen,
            _ => Life::Ended,
        },
        // The bridge runs in another namespace, such as a container. If its socket is in sight, it refused the
        // connection before.
        _ if is_socket(&home.folder.join(bridge.as_str()).with_extension(NAMED)) => Life::Ended,
        _ => Life::Unseen,
    }
}

fn listens(path: &Path) -> bool {
    // No other error proves that no bridge listens.
    !matches!(connect_now(path), Err(Errno::NOENT | Errno::NOTDIR | Errno::CONNREFUSED))
}

/// Connects to a socket, and disconnects. It never blocks: it fails if the backlog is full, as that of a stopped bridge
/// may be.
fn connect_now(path: &Path) -> Result<(), Errno> {
    let address = SocketAddrUnix::new(path)?;
    let socket = socket_with(AddressFamily::UNIX, SocketType::STREAM, FLAGS, None)?;
    // Not every system has the flags.
    fcntl_setfd(&socket, FdFlags::CLOEXEC)?;
    ioctl_fionbio(&socket, true)?;
    rustix::net::connect(&socket, &address)
}

/// No child process inherits the socket, and it does not block.
#[cfg(target_os = "linux")]
const FLAGS: SocketFlags = SocketFlags::CLOEXEC.union(SocketFlags::NONBLOCK);
#[cfg(not(target_os = "linux"))]
const FLAGS: SocketFlags = SocketFlags::empty();

fn bridge(path: &Path) -> Option<BridgeName> {
    path.file_stem()?.to_str()?.parse().ok()
}

/// Connects to the bridge behind a socket. If the bridge is gone, removes its socket and returns `None`.
pub async fn connect(path: &Path) -> io::Result<Option<UnixStream>> {
    if !is_socket(path) {
        return Ok(None);
    }
    match UnixStream::connect(path).await {
        Ok(stream) => Ok(Some(stream)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) if error.kind() == ErrorKind::ConnectionRefused => {
            // Another process may have removed it already; ignore the error.
            drop(fs::remove_file(path));
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Returns whether this is a socket itself, and not a symlink to one. Only such a file may ever be removed.
pub(super) fn is_socket(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.file_type().is_socket())
}

/// Returns whether the file has existed for longer than a bridge takes to listen.
fn is_old(path: &Path) -> bool {
    let changed = path.symlink_metadata().and_then(|metadata| metadata.modified());
    changed.is_ok_and(|changed| changed.elapsed().is_ok_and(|age| age > limits::STALE))
}

/// An inbox that has no socket yet.
#[derive(Debug)]
pub struct LocalInbox {
    /// The inbox.
    pub inbox: BridgeInbox,
    /// The asker's end. Dropping it ends the inbox.
    pub port: Port,
    /// The background work of the inbox.
    pub work: Work,
    /// A random number that never leaves the process. Answers with secrets are compared by a digest under it.
    pub key: u64,
}

impl LocalInbox {
    /// Makes an inbox under a new name. `agent` is the name that lists show for its questions.
    pub fn new(agent: String) -> Self {
        let key = random_key();
        let (inbox, port, work) = BridgeInbox::new(identity(agent, here()), key);
        LocalInbox { inbox, port, work, key }
    }

    /// Listens on a socket with the inbox's name, where other programs find it. Connections wait until the host serves
    /// them. The ledger keeps the questions. `guarding` says what it takes to allow a permission.
    pub fn bind(
        self,
        ledger: Option<Arc<dyn Ledger>>,
        guarding: Guarding,
    ) -> Result<(BridgeInbox, Port, Host<Socket>), DiscoveryError> {
        let LocalInbox { inbox, port, work, .. } = self;
        let inbox = inbox.with_ledger(ledger).guarding(guarding);
        Ok((inbox.clone(), port, bind_inbox(inbox, work)?))
    }
}

/// Makes an inbox for an agent whose questions are on a desk in this process, and listens on a socket. `pid` is the
/// agent's process, if it is known.
pub fn bind_desk(
    agent: String,
    folder: String,
    pid: Option<u32>,
    ledger: Option<Arc<dyn Ledger>>,
    guarding: Guarding,
) -> Result<(LocalDesk, Host<Socket>), DiscoveryError> {
    let tree = pid.and_then(AgentTree::of);
    let (inbox, desk, work) = BridgeInbox::of_desk(identity(agent, folder), random_key(), tree);
    Ok((desk, bind_inbox(inbox.with_ledger(ledger).guarding(guarding), work)?))
}

/// Makes the inbox of questions that no connection holds, with those of an earlier process, and listens on a socket.
///
/// # Errors
/// The directory of the sockets cannot be used.
pub async fn bind_standing(
    agent: String,
    kept: KeptQuestions,
    ledger: Arc<dyn Ledger>,
    callbacks: Arc<dyn CallbackSender>,
    guarding: Guarding,
) -> Result<(StandingInbox, Host<Socket>), DiscoveryError> {
    let own = Places::here()?.own().join(kept.bridge.as_str()).with_extension(NAMED);
    // This removes the socket that the earlier process left behind if it was killed.
    drop(connect(&own).await);
    let identity = identity(agent, here());
    let with = |inbox: BridgeInbox| inbox.guarding(guarding);
    let (standing, work) = StandingInbox::resume(kept, identity, random_key(), with, ledger, callbacks);
    let host = bind_inbox(standing.served(), work)?;
    Ok((standing, host))
}

/// Returns the folder that this process works in, if it still exists.
fn here() -> String {
    env::current_dir().map(|folder| folder.display().to_string()).unwrap_or_default()
}

fn identity(agent: String, folder: String) -> Identity {
    Identity { bridge: bridge_name(), agent, folder, started_at: SystemTime::now().into() }
}

fn random_key() -> u64 {
    let mut key = [0; 8];
    // Without random numbers, the key of the digests can be guessed, which is harmless: they never leave the process.
    getrandom::fill(&mut key).unwrap_or_default();
    u64::from_ne_bytes(key)
}

/// Listens on a socket with the inbox's name.
pub fn bind_inbox(inbox: BridgeInbox, work: Work) -> Result<Host<Socket>, DiscoveryError> {
    let places = Places::here()?;
    for why in places.refused() {
        tracing::warn!("{why}; questions there are not shown");
    }
    let (socket, listener) = Socket::bind(places.own(), inbox.identity().bridge.as_str())?;
    Ok(Host::new(inbox, work, listener, socket))
}

#[cfg(test)]
mod tests {
    use std::{
        os::unix::{
            fs::{MetadataExt, symlink},
            net,
        },
        time::Duration,
    };

    use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, utimensat};

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn paths_that_can_be_bound_can_be_connected() {
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
    fn a_socket_never_replaces_another() {
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
        let hostile = net::UnixListener::bind(at("\x1b[2J.sock")).unwrap();
        for path in sockets(folder.path()).await.unwrap().into_values() {
            if connect(&path).await.unwrap().is_some() {
                found.push(path);
            }
        }
        assert_eq!(found, [at("live.sock")], "and not the one whose file name is no name of a bridge");
        drop(hostile);
        fs::remove_file(at("\x1b[2J.sock")).unwrap();
        assert_eq!(connect(&at("file.sock")).await.unwrap().map(drop), None);
        let left =
            ["binds.bind", "file.bind", "file.sock", "link.sock", "live.sock", "new.bind", "unrelated"];
        assert_eq!(names(folder.path()), left);
    }

    #[test]
    fn a_bridge_with_a_full_backlog_lives() {
        let folder = tempfile::tempdir().unwrap();
        let (socket, listener) = Socket::bind(folder.path(), "full").unwrap();
        rustix::net::listen(&listener, 0).unwrap();
        let queued = net::UnixStream::connect(&socket.path).unwrap();
        let path = socket.path.clone();
        let (told, heard) = std::sync::mpsc::sync_channel(1);
        std::thread::spawn(move || told.send(listens(&path)));
        assert_eq!(heard.recv_timeout(Duration::from_secs(30)), Ok(true), "it waits for room");
        drop(queued);
        let path = socket.path.clone();
        drop(listener);
        assert!(!listens(&path));
        drop(socket);
        assert!(!listens(&path));
    }

    #[tokio::test]
    async fn a_removed_directory_is_created_again() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("one/two");
        assert!(sockets(&folder).await.unwrap().is_empty());
        assert_eq!(fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
    }
}
