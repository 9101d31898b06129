//! The directories in which bridges of this user may have their sockets. An agent's host often gives its command few
//! variables, a service or a cron job even fewer, and a session may begin after the first bridge. So each process looks
//! in all the directories that a process with another environment would choose, and makes its own sockets in the first
//! of them that can be used. Finding sockets there is left to `discovery.rs`.

use std::{
    fs,
    io::{self, ErrorKind},
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::{Path, PathBuf},
};

use askbridge_os::xdg;
use rustix::net::SocketAddrUnix;
use thiserror::Error;

/// The longest name of a socket that a program makes in the directory itself.
const LONGEST_NAME: &str = "inbox-detached.sock";

/// Why a socket cannot be found or made.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DiscoveryError {
    /// Nothing says where the directory could be.
    #[error("no directory for the inbox: set XDG_RUNTIME_DIR, XDG_STATE_HOME or HOME")]
    NoFolder,
    /// Another user owns the directory.
    #[error("{0} belongs to another user: set XDG_RUNTIME_DIR to a directory of yours")]
    NotOwned(PathBuf),
    /// The directory's mode lets other users enter it.
    #[error("{path} can be entered by other users: its mode is {mode:04o} and must be 0700")]
    NotPrivate {
        /// The directory.
        path: PathBuf,
        /// The bits of its mode.
        mode: u32,
    },
    /// There is a symlink in the place of the directory.
    #[error("{0} is a symlink: replace it by a directory with mode 0700")]
    Symlink(PathBuf),
    /// There is a file in the place of the directory.
    #[error("{0} is not a directory: remove it")]
    NotADirectory(PathBuf),
    /// The directory's path leaves no room for the name of a socket.
    #[error("{0} is too long for the name of a socket: set XDG_RUNTIME_DIR to a shorter path")]
    TooLong(PathBuf),
    /// The thread that serves a socket could not be started.
    #[error("the thread of the inbox cannot be started: {0}")]
    Thread(io::Error),
    /// An operation on a path failed.
    #[error("{path}: {source}")]
    Path {
        /// The path.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
}

pub(super) fn at(path: &Path) -> impl FnOnce(io::Error) -> DiscoveryError {
    let path = path.to_owned();
    move |source| DiscoveryError::Path { path, source }
}

/// What the environment of a process says about directories.
#[derive(Clone, Debug, Default)]
pub(super) struct Surroundings {
    /// `XDG_RUNTIME_DIR`.
    pub runtime: Option<PathBuf>,
    /// The directory of this user's session, which need not exist.
    pub session: Option<PathBuf>,
    /// `XDG_STATE_HOME`, or what stands for it.
    pub state: Option<PathBuf>,
    /// The directory for state of a process that has no `XDG_STATE_HOME`.
    pub state_of_home: Option<PathBuf>,
}

impl Surroundings {
    /// Returns those of this process.
    fn here() -> Self {
        Surroundings {
            runtime: xdg::runtime(),
            session: Some(xdg::session()),
            state: xdg::state(),
            state_of_home: xdg::state_of_home(),
        }
    }

    /// Returns the directories that may have sockets, in the order in which a process chooses its own.
    fn candidates(self) -> Vec<Candidate> {
        let Surroundings { runtime, session, state, state_of_home } = self;
        let chosen =
            |base: PathBuf, is_session| Candidate { folder: base.join("askbridge"), base, is_session };
        let mut found: Vec<Candidate> = Vec::new();
        let bases = [(runtime, false), (session, true), (state, false), (state_of_home, false)];
        for (base, is_session) in bases {
            let new = base.filter(|base| found.iter().all(|known| known.base != *base));
            found.extend(new.map(|base| chosen(base, is_session)));
        }
        found
    }
}

/// A directory that may have sockets.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Candidate {
    folder: PathBuf,
    /// The directory that it is in.
    base: PathBuf,
    /// Whether the base is the directory of a session that the environment does not name. A session makes it.
    is_session: bool,
}

impl Candidate {
    /// Returns whether there is a session, where one is needed.
    fn has_session(&self) -> Result<bool, DiscoveryError> {
        match fs::symlink_metadata(&self.base) {
            _ if !self.is_session => Ok(true),
            Ok(metadata) => check(&self.base, &metadata).map(|()| true),
            Err(_) => Ok(false),
        }
    }

    /// Makes the directory for the sockets of this process. `None` if there is no session that it could be in.
    fn make(&self) -> Result<Option<PathBuf>, DiscoveryError> {
        let Candidate { folder, .. } = self;
        if !self.has_session()? {
            return Ok(None);
        }
        let made = may_make(folder).and_then(|()| make(folder));
        match fs::symlink_metadata(folder) {
            // An error about what exists at the path explains more than the error of creating the directory.
            Ok(metadata) => check(folder, &metadata)?,
            Err(error) => return Err(made.err().unwrap_or_else(|| at(folder)(error))),
        }
        made?;
        match SocketAddrUnix::new(folder.join(LONGEST_NAME)) {
            Ok(_) => Ok(Some(folder.clone())),
            Err(_) => Err(DiscoveryError::TooLong(folder.clone())),
        }
    }

    /// Returns the directory, if there is one. It makes none.
    fn found(&self) -> Result<Option<&Path>, DiscoveryError> {
        if !self.has_session()? {
            return Ok(None);
        }
        match fs::symlink_metadata(&self.folder) {
            Ok(metadata) => check(&self.folder, &metadata).map(|()| Some(self.folder.as_path())),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
            Err(error) => Err(at(&self.folder)(error)),
        }
    }
}

/// The directories of the sockets of this user.
#[derive(Clone, Debug)]
pub struct Places {
    own: PathBuf,
    others: Vec<Candidate>,
}

impl From<&Path> for Places {
    /// Returns one directory alone.
    fn from(own: &Path) -> Self {
        Places { own: own.to_owned(), others: Vec::new() }
    }
}

impl Places {
    /// Returns the places of this process, and makes its own directory if it does not exist.
    ///
    /// # Errors
    /// None of them can be used.
    pub fn here() -> Result<Self, DiscoveryError> {
        Places::of(Surroundings::here())
    }

    pub(super) fn of(surroundings: Surroundings) -> Result<Self, DiscoveryError> {
        let candidates = surroundings.candidates();
        let mut first = None;
        for candidate in &candidates {
            match candidate.make() {
                Ok(None) => {}
                Ok(Some(own)) => {
                    let others = candidates.into_iter().filter(|other| other.folder != own).collect();
                    return Ok(Places { own, others });
                }
                Err(error) => drop(first.get_or_insert(error)),
            }
        }
        Err(first.unwrap_or(DiscoveryError::NoFolder))
    }

    /// Returns the directory of this process's own sockets.
    pub fn own(&self) -> &Path {
        &self.own
    }

    /// Returns the directories that can be used now: the own one, and those others that exist.
    pub fn all(&self) -> Vec<PathBuf> {
        let others = self.others.iter().filter_map(|other| other.found().ok().flatten());
        [self.own.as_path()].into_iter().chain(others).map(Path::to_owned).collect()
    }

    /// Returns why directories are not used: others than this user could change what is in them.
    pub fn refused(&self) -> Vec<DiscoveryError> {
        self.others.iter().filter_map(|other| other.found().err()).collect()
    }
}

/// Returns the directories that may have sockets, whether or not they can be used.
pub(super) fn possible() -> impl Iterator<Item = PathBuf> {
    Surroundings::here().candidates().into_iter().map(|candidate| candidate.folder)
}

/// Checks that no other user can change what is in the directory.
pub(super) fn check(folder: &Path, metadata: &fs::Metadata) -> Result<(), DiscoveryError> {
    let path = folder.to_owned();
    let mode = metadata.mode() & 0o7777;
    match () {
        // Another user could change its target.
        () if metadata.is_symlink() => Err(DiscoveryError::Symlink(path)),
        () if !metadata.is_dir() => Err(DiscoveryError::NotADirectory(path)),
        () if metadata.uid() != rustix::process::geteuid().as_raw() => Err(DiscoveryError::NotOwned(path)),
        () if mode & 0o077 != 0 => Err(DiscoveryError::NotPrivate { path, mode }),
        () => Ok(()),
    }
}

/// Checks that a directory would not be made in one of another user, as root with that user's environment would do: that
/// user could not use it.
fn may_make(folder: &Path) -> Result<(), DiscoveryError> {
    let exists = |path: &&Path| path.symlink_metadata().is_ok();
    let Some(above) = folder.ancestors().find(exists) else { return Ok(()) };
    let owner = fs::metadata(above).map_err(at(above))?.uid();
    match owner == 0 || owner == rustix::process::geteuid().as_raw() {
        true => Ok(()),
        false => Err(DiscoveryError::NotOwned(above.to_owned())),
    }
}

pub(super) fn make(folder: &Path) -> Result<(), DiscoveryError> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(at(folder))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use tempfile::TempDir;

    use super::*;

    /// A machine with a home, and with directories for sessions.
    struct World(TempDir);

    impl World {
        fn new() -> Self {
            World(tempfile::tempdir().unwrap())
        }

        fn at(&self, path: &str) -> PathBuf {
            self.0.path().join(path)
        }

        fn make(&self, path: &str, mode: u32) {
            fs::create_dir_all(self.at(path)).unwrap();
            fs::set_permissions(self.at(path), fs::Permissions::from_mode(mode)).unwrap();
        }

        /// Returns the surroundings of a process by the name of its environment.
        fn of(&self, environment: &str) -> Surroundings {
            let home = Some(self.at("home/.local/state"));
            // What the official SDKs pass on, and cron: neither names a directory but the home.
            let few = Surroundings {
                session: Some(self.at("run")),
                state: home.clone(),
                state_of_home: home,
                runtime: None,
            };
            match environment {
                "few" => few,
                "session" => Surroundings { runtime: few.session.clone(), ..few },
                "other runtime" => Surroundings { runtime: Some(self.at("other")), ..few },
                "other state" => Surroundings { state: Some(self.at("state")), ..few },
                "other state in a session" => {
                    Surroundings { runtime: few.session.clone(), state: Some(self.at("state")), ..few }
                }
                // A service of the system that has no home.
                "no home" => Surroundings { session: few.session, ..Surroundings::default() },
                other => panic!("{other}"),
            }
        }

        fn places(&self, environment: &str) -> Places {
            Places::of(self.of(environment)).unwrap()
        }
    }

    const ENVIRONMENTS: [&str; 5] =
        ["few", "session", "other runtime", "other state", "other state in a session"];

    /// When the session of the user begins.
    const SESSIONS: [&str; 4] =
        ["before both", "between both", "before the bridge, after who looks", "never"];

    #[test]
    fn whoever_looks_finds_a_bridge_that_has_another_environment() {
        for (bridge, looks, session) in ENVIRONMENTS
            .iter()
            .flat_map(|bridge| ENVIRONMENTS.iter().map(move |looks| (*bridge, *looks)))
            .flat_map(|(bridge, looks)| SESSIONS.iter().map(move |session| (bridge, looks, *session)))
        {
            // Without a session, no environment names its directory.
            if session == "never" && [bridge, looks].iter().any(|name| name.ends_with("session")) {
                continue;
            }
            let world = World::new();
            let begin = || world.make("run", 0o700);
            let (own, all) = match session {
                "before the bridge, after who looks" => {
                    let places = world.places(looks);
                    begin();
                    let own = world.places(bridge).own().to_owned();
                    (own, places.all())
                }
                _ => {
                    if session == "before both" {
                        begin();
                    }
                    let own = world.places(bridge).own().to_owned();
                    if session == "between both" {
                        begin();
                    }
                    (own, world.places(looks).all())
                }
            };
            // Nothing tells the others of a directory that only the bridge's environment names.
            let is_known = own.starts_with(world.at("run"))
                || own.starts_with(world.at("home"))
                || (own.starts_with(world.at("other")) && looks == bridge)
                || (own.starts_with(world.at("state")) && looks.starts_with("other state"));
            assert_eq!(
                all.contains(&own),
                is_known,
                "{bridge}, {looks}, {session}: {} {all:?}",
                own.display()
            );
            let is_private = bridge == "other runtime" || bridge == "other state";
            assert!(is_known || is_private, "{bridge}, {looks}, {session}");
        }
    }

    #[test]
    fn the_directory_of_a_session_is_used_only_if_no_other_user_can_change_it() {
        for mode in [0o755, 0o770, 0o701] {
            let world = World::new();
            world.make("run", mode);
            let places = world.places("few");
            assert_eq!(places.own(), world.at("home/.local/state/askbridge"));
            let refused: Vec<_> = places.refused().iter().map(ToString::to_string).collect();
            let why = format!(
                "{} can be entered by other users: its mode is {mode:04o} and must be 0700",
                world.at("run").display()
            );
            assert_eq!(refused, [why]);
            assert_eq!(places.all(), [places.own()], "and nothing is read there");
            assert!(!world.at("run/askbridge").exists());
        }
        let world = World::new();
        world.make("elsewhere", 0o700);
        symlink(world.at("elsewhere"), world.at("run")).unwrap();
        assert_eq!(world.places("few").own(), world.at("home/.local/state/askbridge"));
    }

    #[test]
    fn a_directory_that_cannot_be_used_is_left_out_and_named() {
        for (path, mode) in [("run/askbridge", 0o750), ("home/.local/state/askbridge", 0o755)] {
            let world = World::new();
            world.make("run", 0o700);
            world.make(path, mode);
            for environment in ["few", "session"] {
                let places = world.places(environment);
                assert!(!places.all().contains(&world.at(path)), "{path}, {environment}");
                let [DiscoveryError::NotPrivate { path: named, .. }] = &places.refused()[..] else {
                    panic!("{path}, {environment}: {:?}", places.refused());
                };
                assert_eq!(*named, world.at(path));
            }
        }
        let world = World::new();
        fs::write(world.at("other"), "").unwrap();
        assert_eq!(world.places("other runtime").own(), world.at("home/.local/state/askbridge"));
    }

    #[test]
    fn a_path_that_is_too_long_for_sockets_is_not_chosen() {
        let world = World::new();
        let long = world.at(&"x".repeat(100));
        fs::create_dir(&long).unwrap();
        let surroundings = Surroundings { runtime: Some(long.clone()), ..world.of("few") };
        let places = Places::of(surroundings).unwrap();
        assert_eq!(places.own(), world.at("home/.local/state/askbridge"));
        // An earlier version may have put a socket with a shorter name there.
        assert!(places.all().contains(&long.join("askbridge")));
    }

    #[test]
    fn nothing_is_made_in_a_directory_of_another_user() {
        if !rustix::process::geteuid().is_root() {
            // Only root can give a directory away, and write in it.
            return;
        }
        let world = World::new();
        for path in ["run", "home"] {
            world.make(path, 0o700);
            std::os::unix::fs::chown(world.at(path), Some(65_534), None).unwrap();
        }
        let error = Places::of(world.of("session")).unwrap_err();
        assert!(matches!(error, DiscoveryError::NotOwned(_)), "{error}");
        assert!(!world.at("run/askbridge").exists() && !world.at("home/.local").exists());
    }

    #[test]
    fn without_a_home_the_session_is_enough() {
        let world = World::new();
        assert!(matches!(Places::of(world.of("no home")), Err(DiscoveryError::NoFolder)));
        world.make("run", 0o700);
        assert_eq!(world.places("no home").own(), world.at("run/askbridge"));
    }
}
