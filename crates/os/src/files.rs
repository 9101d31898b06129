//! Files that other processes may read, write or put in the way.
//!
//! A regular file is opened by a path that another process controls: no FIFO and no device, not even through a symbolic
//! link. Links to regular files are followed for reading, since people keep the folders of their agents elsewhere, but
//! never for writing. What is read from the file is left to the callers.
//!
//! A file is replaced as a whole or not at all, so that no reader sees a part of it.

use std::{
    fs::{self, File, OpenOptions},
    hash::{BuildHasher, RandomState},
    io::{self, Write},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::Path,
};

use rustix::fs::{Gid, OFlags, Uid, fchmod, fchown};

/// Opens a regular file for reading. Anything else is refused at once: a FIFO or a device may block for ever.
pub fn open_regular(path: &Path) -> io::Result<File> {
    open(OpenOptions::new().read(true), OFlags::empty(), path)
}

/// Opens a regular file of our own in this way, for writing. Anything else is refused at once, and so is a symbolic link:
/// whoever made it would choose which file is written to.
pub fn open_own_as(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    open(options, OFlags::NOFOLLOW, path)
}

fn open(options: &mut OpenOptions, flags: OFlags, path: &Path) -> io::Result<File> {
    // Without NONBLOCK, opening a FIFO waits for its other end. The flag changes nothing for regular files.
    let flags = (flags | OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed();
    let file = options.custom_flags(flags).open(path)?;
    // This checks the open file: the path may name another file by now.
    match file.metadata()?.is_file() {
        true => Ok(file),
        false => Err(io::Error::other("it is not a regular file")),
    }
}

/// Replaces a file as a whole, or creates it. An existing file keeps its mode and its owner; a new one can be read by the
/// user alone, since it may hold keys.
pub fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mut name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?.to_owned();
    // Each `RandomState` is another one, so no other draft has this name.
    name.push(format!(".{:016x}", RandomState::new().hash_one(std::process::id())));
    // The draft is beside the file, because a rename cannot cross file systems.
    let draft = path.with_file_name(name);
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft)?;
    let written = fill(&file, path, text).and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        // Ignore this error: the first one says more. Only the user can read the draft.
        drop(fs::remove_file(&draft));
    }
    written?;
    // This makes the rename durable. Not every file system can do it, and the file is in place, so a failure is
    // ignored.
    drop(path.parent().map(|folder| File::open(folder).and_then(|folder| folder.sync_all())));
    Ok(())
}

/// Writes the draft of a file.
fn fill(mut draft: &File, path: &Path, text: &str) -> io::Result<()> {
    draft.write_all(text.as_bytes())?;
    if let Ok(metadata) = fs::metadata(path) {
        let own = draft.metadata()?;
        if (own.uid(), own.gid()) != (metadata.uid(), metadata.gid()) {
            fchown(draft, Some(Uid::from_raw(metadata.uid())), Some(Gid::from_raw(metadata.gid())))?;
        }
        // The mode is set after the owner, because changing the owner clears some bits of the mode.
        fchmod(draft, (metadata.mode() & 0o7777).into())?;
    }
    // The draft is synced before the rename: otherwise a crash could leave an empty file in its place.
    draft.sync_all()
}

#[cfg(test)]
mod tests {
    use std::{
        io::Read,
        os::unix::{fs::PermissionsExt, net::UnixListener},
        sync::mpsc::sync_channel,
        thread,
        time::Duration,
    };

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    #[test]
    fn only_a_regular_file_is_opened_and_nothing_else_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        mknodat(CWD, path("fifo"), FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
        let _listener = UnixListener::bind(path("socket")).unwrap();
        fs::create_dir(path("folder")).unwrap();
        std::os::unix::fs::symlink(path("fifo"), path("link")).unwrap();
        let refused = ["fifo", "socket", "folder", "link", "missing"].map(path);
        let others = ["/dev/zero", "/dev/null", "/dev/tty"].map(Into::into);
        let (sender, opened) = sync_channel(8);
        thread::spawn(move || {
            for path in refused.into_iter().chain(others) {
                let is_read = open_regular(&path).is_ok();
                let is_written = open_own_as(OpenOptions::new().append(true), &path).is_ok();
                sender.send((is_read || is_written, path)).unwrap();
            }
        });
        for _ in 0..8 {
            let (is_opened, path) =
                opened.recv_timeout(Duration::from_secs(20)).expect("nothing is waited for");
            assert!(!is_opened, "{}", path.display());
        }
        fs::write(path("file"), "text").unwrap();
        std::os::unix::fs::symlink(path("file"), path("link-to-file")).unwrap();
        for name in ["file", "link-to-file"] {
            let mut text = String::new();
            open_regular(&path(name)).unwrap().read_to_string(&mut text).unwrap();
            assert_eq!(text, "text");
        }
        let create =
            |name: &str| open_own_as(OpenOptions::new().write(true).create(true).truncate(true), &path(name));
        create("link-to-file").unwrap_err();
        assert_eq!(fs::read_to_string(path("file")).unwrap(), "text", "no link leads to what is written");
        create("file").unwrap();
    }

    #[test]
    fn a_replaced_file_keeps_its_mode_and_a_new_one_is_private() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let mode = || fs::metadata(&path).unwrap().mode() & 0o777;
        replace(&path, "new").unwrap();
        assert_eq!(mode(), 0o600);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let reader = File::open(&path).unwrap();
        replace(&path, "newer").unwrap();
        assert_eq!((mode(), fs::read_to_string(&path).unwrap()), (0o644, "newer".to_owned()));
        assert_eq!(io::read_to_string(reader).unwrap(), "new", "a reader never sees a part of the new text");
        fs::create_dir(folder.path().join("folder")).unwrap();
        replace(&folder.path().join("folder"), "text").unwrap_err();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "no draft is left");
    }
}
