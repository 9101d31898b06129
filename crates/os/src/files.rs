//! Opens a regular file by a path that another process controls: no FIFO and no device, not even through a symbolic
//! link. Links to regular files are followed for reading, since people keep the folders of their agents elsewhere, but
//! never for writing. What is read from the file is left to the callers.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use rustix::fs::OFlags;

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

#[cfg(test)]
mod tests {
    use std::{fs, io::Read, os::unix::net::UnixListener, sync::mpsc::sync_channel, thread, time::Duration};

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
}
