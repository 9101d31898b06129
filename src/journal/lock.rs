//! One writer at a time, over all processes: a lock of the operating system, which wakes the next one at once.
//! SQLite would only ask again after pauses, so that of forty writers some wait for seconds.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use rustix::fs::{FlockOperation, flock};

/// A file beside the journal. Its content does not matter.
#[derive(Debug)]
pub(super) struct Lock(File);

/// The lock, while it is held.
#[derive(Debug)]
pub(super) struct LockGuard<'a>(&'a File);

impl Lock {
    /// Opens the lock of a journal. It is no lock on the journal itself: to close a second descriptor of that would end
    /// SQLite's own locks.
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let path = path.with_extension("lock");
        OpenOptions::new().create(true).append(true).mode(0o600).open(path).map(Lock)
    }

    /// Waits until no other process writes. Returns `None` where the file system has no locks: SQLite has its own.
    pub(super) fn hold(&self) -> Option<LockGuard<'_>> {
        flock(&self.0, FlockOperation::LockExclusive).ok().map(|()| LockGuard(&self.0))
    }
}

impl Drop for LockGuard<'_> {
    fn drop(&mut self) {
        // It ends with the process at the latest.
        flock(self.0, FlockOperation::Unlock).unwrap_or_default();
    }
}
