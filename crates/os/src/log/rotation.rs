//! Bounds the file that stderr goes to, if this program chose that file: the log of the inbox in the background. A full
//! file is renamed, and a new one takes its place.

use std::{
    fs::{self, File, Metadata, OpenOptions},
    io::{self, Write},
    os::{
        fd::{AsFd, BorrowedFd},
        unix::fs::{MetadataExt, OpenOptionsExt},
    },
    path::{Path, PathBuf},
    sync::OnceLock,
};

use rustix::stdio;

use crate::limits;

/// The file that stderr goes to, if it has a bound.
static FILE: OnceLock<PathBuf> = OnceLock::new();

/// Bounds the file at this path from now on, if stderr goes to it.
pub fn bound_stderr(path: &Path) {
    if is_same(fs::metadata(path), metadata(io::stderr().as_fd())) {
        // `set` fails only if this function was called before.
        drop(FILE.set(path.to_owned()));
    }
}

fn metadata(open: BorrowedFd<'_>) -> io::Result<Metadata> {
    // The descriptor is duplicated, since dropping a `File` closes its descriptor.
    File::from(open.try_clone_to_owned()?).metadata()
}

fn is_same(one: io::Result<Metadata>, other: io::Result<Metadata>) -> bool {
    one.and_then(|one| Ok((one, other?)))
        .is_ok_and(|(one, other)| (one.dev(), one.ino()) == (other.dev(), other.ino()))
}

/// Opens the log at this path, to append to it. A full log is renamed to `….1` before, and replaces an earlier one.
pub fn open_bounded(path: &Path) -> io::Result<File> {
    let is_full = fs::metadata(path).is_ok_and(|metadata| metadata.len() >= limits::LOG);
    if is_full { rotate(path) } else { open(path) }
}

fn rotate(path: &Path) -> io::Result<File> {
    let mut older = path.as_os_str().to_owned();
    older.push(".1");
    fs::rename(path, older)?;
    open(path)
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().create(true).read(true).append(true).mode(0o600).open(path)
}

/// Writes whole lines to stderr, and keeps the bound of its file.
#[derive(Debug, Default)]
pub(super) struct Stderr;

impl Write for Stderr {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if let Some(path) = FILE.get() {
            make_room(path, line.len());
        }
        io::stderr().write_all(line).map(|()| line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        io::stderr().flush()
    }
}

fn make_room(path: &Path, length: usize) {
    let size = metadata(io::stderr().as_fd()).map_or(0, |metadata| metadata.len());
    if size == 0 || size.saturating_add(length as u64) <= limits::LOG {
        return;
    }
    let rotated = rotate(path).and_then(|file| {
        // stdout goes to the log as well, once the command that started this process has read from it.
        if is_same(metadata(io::stdout().as_fd()), metadata(io::stderr().as_fd())) {
            stdio::dup2_stdout(&file)?;
        }
        Ok(stdio::dup2_stderr(&file)?)
    });
    if rotated.is_err() {
        // If no other file can be created, the log starts over in this one.
        let emptied = io::stderr().as_fd().try_clone_to_owned().and_then(|file| File::from(file).set_len(0));
        emptied.unwrap_or_default();
    }
}
