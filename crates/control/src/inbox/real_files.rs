//! The file system of this machine, for `guard` and `rule`, which read it through the trait `Files`.

use std::{
    fs,
    io::{self, Read},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

use askbridge_core::guard::Files;
use rustix::fs::{Mode, OFlags};

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

    fn size(&self, path: &Path) -> Option<u64> {
        match fs::metadata(path) {
            Ok(found) if found.is_file() => Some(found.len()),
            // A dangling link is no free place: it leads somewhere.
            Err(error) if error.kind() == io::ErrorKind::NotFound && fs::symlink_metadata(path).is_err() => {
                Some(0)
            }
            _ => None,
        }
    }

    fn contents(&self, path: &Path, most: usize) -> Option<String> {
        let file = opened(&fs::canonicalize(path).ok()?)?;
        let bytes = file.metadata().is_ok_and(|file| file.is_file()).then(|| read(file, most))?;
        Some(String::from_utf8_lossy(&bytes.ok()??).into_owned())
    }

    fn text(&self, path: &Path, most: usize) -> Result<String, &'static str> {
        // The agent names the file, so it is opened only if its name is that of a text for people.
        let is_text = path.extension().and_then(|end| end.to_str()).is_some_and(|end| TEXTS.contains(&end));
        if !path.is_absolute() || !is_text {
            return Err("which is no text file with an absolute path");
        }
        let file = opened(path).ok_or("which cannot be opened")?;
        let found = file.metadata().map_err(|_| "which cannot be opened")?;
        if !found.is_file() || found.uid() != rustix::process::geteuid().as_raw() {
            return Err("which is no regular file of this user");
        }
        let text =
            read(file, most).map_err(|_| "which cannot be read")?.ok_or("which is too long to show")?;
        let text = String::from_utf8(text).map_err(|_| "which is no text")?;
        if text.trim().is_empty() { Err("which is empty") } else { Ok(text) }
    }
}

/// Opens what may be a file. A link could lead to any file, and a pipe would never end.
fn opened(path: &Path) -> Option<fs::File> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    rustix::fs::open(path, flags, Mode::empty()).map(fs::File::from).ok()
}

/// Reads a file. `None` if it has more bytes than these.
fn read(file: fs::File, most: usize) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    let limit = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    file.take(limit).read_to_end(&mut bytes)?;
    Ok(Some(bytes).filter(|bytes| bytes.len() <= most))
}

/// The ends of the names of files that may be read: those of plans.
const TEXTS: [&str; 3] = ["markdown", "md", "txt"];

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_a_short_text_file_of_the_user_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        fs::write(at("plan.md"), "# P\n").expect("a file");
        fs::write(at("empty.md"), " ").expect("a file");
        fs::write(at("long.md"), "x".repeat(11)).expect("a file");
        fs::write(at("key"), "secret").expect("a file");
        fs::write(at("bytes.md"), [0xff]).expect("a file");
        symlink(at("key"), at("link.md")).expect("a link");
        fs::create_dir(at("folder.md")).expect("a folder");
        assert_eq!(RealFiles.text(&at("plan.md"), 10), Ok("# P\n".to_owned()));
        for (name, why) in [
            ("empty.md", "which is empty"),
            ("long.md", "which is too long to show"),
            ("key", "which is no text file with an absolute path"),
            ("bytes.md", "which is no text"),
            ("link.md", "which cannot be opened"),
            ("folder.md", "which is no regular file of this user"),
            ("missing.md", "which cannot be opened"),
        ] {
            assert_eq!(RealFiles.text(&at(name), 10), Err(why), "{name}");
        }
        assert!(RealFiles.text(Path::new("plan.md"), 10).is_err());
        let contents = |name: &str| RealFiles.contents(&at(name), 10);
        assert_eq!(contents("key").as_deref(), Some("secret"));
        assert_eq!(contents("link.md").as_deref(), Some("secret"));
        assert_eq!(contents("bytes.md").as_deref(), Some("\u{fffd}"));
        assert_eq!(["long.md", "folder.md", "missing.md"].map(contents), [None, None, None]);
        let sizes = ["plan.md", "missing.md", "folder.md", "link.md"].map(|name| RealFiles.size(&at(name)));
        assert_eq!(sizes, [Some(4), Some(0), None, Some(6)]);
    }
}
