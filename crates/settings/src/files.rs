//! Finds and reads the settings files, and writes the user's own. Their content is left to the other files of this
//! folder, which are pure.
//!
//! A project's file comes with a repository that may be hostile: it is read only if it is a regular file of this user
//! or root, inside the project, and small (I6).

use std::{
    env,
    fs::{self, File, OpenOptions},
    io::{self, ErrorKind, Read},
    os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, SystemTime},
};

use askbridge_os::{files::replace, xdg};
use rustix::fs::OFlags;

use super::{Problem, Settings, SettingsFile, Sources, keys};
use crate::limits;

/// The name of a project's file.
const PROJECT: &str = ".askbridge.toml";

/// The user's own file and the environment, as they were when they were read.
#[derive(Clone, Debug)]
pub struct UserSources(Sources);

impl UserSources {
    /// Reads both.
    pub fn read() -> Self {
        let mut sources = Sources { home: xdg::home(), ..Sources::default() };
        if let Some(path) = user_file() {
            sources.user = kept(&path, own_file(&path), &mut sources.problems);
        }
        for (name, value) in env::vars_os() {
            let is_setting = |name: &&str| name.starts_with(keys::PREFIX) && *name != xdg::SESSIONS;
            let Some(name) = name.to_str().filter(is_setting) else { continue };
            match value.into_string() {
                Ok(value) => sources.environment.push((name.to_owned(), value)),
                Err(_) => {
                    sources.problems.push(Problem { origin: None, message: format!("{name}: not UTF-8") });
                }
            }
        }
        // The system's order is arbitrary: problems must be reported in a stable order.
        sources.environment.sort();
        UserSources(sources)
    }

    /// Returns the settings. If there is a folder, reads the file of the project that it belongs to, and includes it.
    pub fn settings(&self, folder: Option<&Path>) -> Settings {
        let mut sources = self.0.clone();
        if let Some(path) = folder.and_then(|folder| project_file(folder, sources.home.as_deref())) {
            sources.project = kept(&path.file, path.read(), &mut sources.problems);
        }
        Settings::of(sources)
    }

    /// Returns the settings of the folder that this process was started in.
    pub fn settings_here(&self) -> Settings {
        self.settings(env::current_dir().ok().as_deref())
    }
}

/// Reads the settings. If there is a folder, includes the file of the project that it belongs to.
pub fn read(folder: Option<&Path>) -> Settings {
    UserSources::read().settings(folder)
}

/// Returns the path of the user's own file, whether or not it exists.
pub fn user_file() -> Option<PathBuf> {
    Some(xdg::config()?.join("askbridge/config.toml"))
}

/// The version of a file. It changes with each edit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    device: u64,
    file: u64,
    length: u64,
    /// The ctime in seconds and nanoseconds. Unlike the modification time, no program can set it.
    changed: (i64, i64),
}

impl Version {
    /// Returns when the file was changed to this version.
    pub fn changed_at(&self) -> SystemTime {
        let (seconds, nanoseconds) = self.changed;
        let since =
            Duration::new(seconds.try_into().unwrap_or_default(), nanoseconds.try_into().unwrap_or_default());
        SystemTime::UNIX_EPOCH.checked_add(since).unwrap_or(SystemTime::UNIX_EPOCH)
    }
}

/// Returns the version of the user's own file, without reading it. `None` if there is no file.
pub fn user_version() -> Option<Version> {
    version(&user_file()?)
}

fn version(path: &Path) -> Option<Version> {
    let file = fs::metadata(path).ok()?;
    Some(Version {
        device: file.dev(),
        file: file.ino(),
        length: file.len(),
        changed: (file.ctime(), file.ctime_nsec()),
    })
}

/// The settings of a folder, which are read again when a file has changed.
#[derive(Debug)]
pub struct Live {
    folder: Option<PathBuf>,
    read: Mutex<Option<(Versions, Arc<Settings>)>>,
    first: Versions,
}

/// The versions of the user's own file and of the project's file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Versions([Option<Version>; 2]);

impl Versions {
    /// Returns the earliest time of the changes since `before`. `None` if no file has changed, or if a file is gone,
    /// since the time of its removal is not known.
    pub fn changed_at(&self, before: &Versions) -> Option<SystemTime> {
        let changed = self.0.iter().zip(&before.0).filter(|(now, before)| now != before);
        let times: Option<Vec<_>> = changed.map(|(now, _)| Some(now.as_ref()?.changed_at())).collect();
        times?.into_iter().min()
    }
}

impl Live {
    /// Follows the user's own file alone. Reads nothing yet.
    pub fn of_user() -> Self {
        Self::of(None)
    }

    /// Follows the files of the folder that this process was started in. Reads nothing yet.
    pub fn here() -> Self {
        Self::of(env::current_dir().ok())
    }

    /// Follows the user's own file and, if there is a folder, the file of its project. Reads nothing yet.
    pub fn of(folder: Option<PathBuf>) -> Self {
        let mut live = Live { folder, read: Mutex::default(), first: Versions::default() };
        live.first = live.versions();
        live
    }

    /// Returns whether a file has changed since this was created.
    pub fn has_changed(&self) -> bool {
        self.versions() != self.first
    }

    /// Returns the earlier of the times at which the files were changed last. `None` if there is no file.
    pub fn written_at(&self) -> Option<SystemTime> {
        self.versions().changed_at(&Versions::default())
    }

    /// Returns the current versions of the files, without reading them.
    pub fn versions(&self) -> Versions {
        let project = self.folder.as_deref().and_then(|folder| project_file(folder, xdg::home().as_deref()));
        Versions([user_version(), project.and_then(|project| version(&project.file))])
    }

    /// Returns the current settings.
    pub fn settings(&self) -> Arc<Settings> {
        // The lock is held while the files are read, so that several services read them only once.
        let mut kept = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        // The versions are taken before the files are read, so that a change in between is noticed the next time.
        let versions = self.versions();
        match &*kept {
            Some((known, settings)) if *known == versions => Arc::clone(settings),
            _ => {
                let settings = Arc::new(read(self.folder.as_deref()));
                *kept = Some((versions, Arc::clone(&settings)));
                settings
            }
        }
    }
}

/// Converts the result of reading a file. A missing file is not a problem.
fn kept(path: &Path, read: io::Result<String>, problems: &mut Vec<Problem>) -> Option<SettingsFile> {
    match read {
        Ok(text) => {
            let is_readable_by_others = fs::metadata(path).is_ok_and(|metadata| metadata.mode() & 0o044 != 0);
            Some(SettingsFile { path: path.to_owned(), text, is_readable_by_others })
        }
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => {
            problems
                .push(Problem { origin: None, message: format!("{} is ignored: {error}", path.display()) });
            None
        }
    }
}

/// Reads the user's own file. It may be a symlink: people keep such files in a repository of their own.
pub fn own_file(path: &Path) -> io::Result<String> {
    text(open(path, OFlags::empty())?)
}

/// Opens a file for reading. Without `NONBLOCK`, opening a pipe would wait for a writer.
fn open(path: &Path, flags: OFlags) -> io::Result<File> {
    let flags = (OFlags::NONBLOCK | OFlags::NOCTTY | flags).bits().cast_signed();
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

fn text(file: File) -> io::Result<String> {
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::Error::other("it is not a regular file"));
    }
    let most = limits::SETTINGS_FILE as u64;
    let mut text = String::new();
    // The file may grow while it is read.
    let read = file.take(most + 1).read_to_string(&mut text);
    if text.len() as u64 > most || metadata.len() > most {
        return Err(io::Error::other(format!("it is larger than {} KiB", most / 1024)));
    }
    read.map(|_| text)
}

/// The file of a project, before it is read.
struct ProjectFile {
    file: PathBuf,
    /// The folder that the file must be in.
    root: PathBuf,
}

/// Finds the file of the project that a folder belongs to: in the folder or above it, up to the root of the repository
/// or the user's home. If neither is above the folder, only the folder itself is searched: those above it may belong to
/// others.
fn project_file(folder: &Path, home: Option<&Path>) -> Option<ProjectFile> {
    let folders: Vec<_> = folder.ancestors().take(limits::SETTINGS_FOLDERS).collect();
    let is_root = |folder: &&Path| folder.join(".git").symlink_metadata().is_ok() || home == Some(folder);
    let end = folders.iter().position(is_root).unwrap_or(0);
    let root = *folders.get(end)?;
    let mut files = folders.iter().take(end + 1).map(|folder| folder.join(PROJECT));
    let file = files.find(|file| file.symlink_metadata().is_ok())?;
    Some(ProjectFile { file, root: root.to_owned() })
}

impl ProjectFile {
    fn read(&self) -> io::Result<String> {
        // Symlinks are resolved here. `NOFOLLOW` then fails if the file has been replaced by a symlink since.
        let file = fs::canonicalize(&self.file)?;
        if !file.starts_with(fs::canonicalize(&self.root)?) {
            return Err(io::Error::other("it is a link to a file outside of the project"));
        }
        let file = open(&file, OFlags::NOFOLLOW)?;
        let owner = file.metadata()?.uid();
        if owner != rustix::process::geteuid().as_raw() && owner != 0 {
            return Err(io::Error::other("it belongs to another user"));
        }
        text(file)
    }
}

/// Replaces the user's own file, or creates it with its folder. Keeps its mode, its owner and symlinks to it.
pub fn write(path: &Path, text: &str) -> io::Result<()> {
    // A rename would replace a symlink, so its target is replaced instead.
    let path = &fs::canonicalize(path).or_else(|error| match error.kind() {
        ErrorKind::NotFound => Ok(path.to_owned()),
        _ => Err(error),
    })?;
    if let Some(folder) = path.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    replace(path, text)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;
    use crate::limits;

    fn found(folder: &Path, home: &Path) -> Option<Result<String, String>> {
        let file = project_file(folder, Some(home))?;
        Some(file.read().map_err(|error| error.to_string()))
    }

    #[test]
    fn a_project_ends_at_its_repository_or_at_home() {
        let home = tempfile::tempdir().unwrap();
        let (home, repository) = (home.path(), home.path().join("src/shop"));
        let deep = repository.join("web/page");
        fs::create_dir_all(&deep).unwrap();
        fs::write(home.join(PROJECT), "home").unwrap();
        assert_eq!(found(&deep, home), Some(Ok("home".to_owned())));
        fs::create_dir(repository.join(".git")).unwrap();
        assert_eq!(found(&deep, home), None, "the search ends at the repository's root");
        fs::write(repository.join(PROJECT), "shop").unwrap();
        assert_eq!(found(&deep, home), Some(Ok("shop".to_owned())));
        fs::write(deep.join(PROJECT), "page").unwrap();
        assert_eq!(found(&deep, home), Some(Ok("page".to_owned())));
        // Above it there may be a folder into which other users write.
        let elsewhere = tempfile::tempdir().unwrap();
        fs::create_dir(elsewhere.path().join("a")).unwrap();
        fs::write(elsewhere.path().join(PROJECT), "of others").unwrap();
        assert_eq!(found(&elsewhere.path().join("a"), home), None);
    }

    #[test]
    fn links_pipes_and_large_files_of_a_project_do_not_count() {
        let folder = tempfile::tempdir().unwrap();
        let (root, file) = (folder.path().join("shop"), folder.path().join("shop").join(PROJECT));
        fs::create_dir_all(root.join(".git")).unwrap();
        fs::write(folder.path().join("outside"), "x").unwrap();
        fs::write(root.join("inside"), "inside").unwrap();
        let refused = |expected: &str| {
            let error = found(&root, Path::new("/")).and_then(Result::err).unwrap_or_default();
            assert!(error.contains(expected), "{expected}: {error}");
            fs::remove_file(&file).unwrap();
        };
        symlink("../outside", &file).unwrap();
        refused("outside of the project");
        symlink("/dev/zero", &file).unwrap();
        refused("outside of the project");
        symlink("nowhere", &file).unwrap();
        refused("No such file");
        symlink(PROJECT, &file).unwrap();
        refused("symbolic links");
        rustix::fs::mkfifoat(rustix::fs::CWD, &file, rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
        refused("not a regular file");
        fs::write(&file, vec![b'#'; limits::SETTINGS_FILE + 1]).unwrap();
        refused("larger than 64 KiB");
        fs::write(&file, [0xff]).unwrap();
        refused("UTF-8");
        symlink("inside", &file).unwrap();
        assert_eq!(found(&root, Path::new("/")), Some(Ok("inside".to_owned())));
    }

    #[test]
    fn a_written_file_keeps_its_mode_and_the_link_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config/askbridge/config.toml");
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        write(&path, "a").unwrap();
        assert_eq!((fs::read_to_string(&path).unwrap(), mode(&path)), ("a".to_owned(), 0o600));
        let real = folder.path().join("dotfiles.toml");
        fs::rename(&path, &real).unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&real, &path).unwrap();
        write(&path, "b").unwrap();
        assert!(path.symlink_metadata().unwrap().is_symlink());
        assert_eq!((fs::read_to_string(&real).unwrap(), mode(&real)), ("b".to_owned(), 0o640));
        assert_eq!(own_file(&path).unwrap(), "b");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1, "a draft is left");
    }
}
