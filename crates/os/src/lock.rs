//! Files that one process at a time locks. The kernel releases a lock however its process ends, so no stale lock can
//! remain. The files stay: if one were removed, two processes could lock two files of the same name.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io,
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

/// A file that can be locked again and again. Only the user can open it.
#[derive(Debug)]
pub struct LockFile(File);

/// A lock on a [`LockFile`] that is held until it is dropped.
#[derive(Debug)]
pub struct Held<'a>(&'a File);

/// A lock that this process has until it is dropped.
#[derive(Debug)]
pub struct Lock(File);

impl LockFile {
    /// Opens the file, and creates it if there is none.
    ///
    /// # Errors
    /// The file cannot be opened.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).read(true).write(true).mode(0o600).open(path).map(LockFile)
    }

    /// Waits until no other process has the lock.
    ///
    /// # Errors
    /// The file system has no such locks.
    pub fn hold(&self) -> io::Result<Held<'_>> {
        self.0.lock().map(|()| Held(&self.0))
    }

    /// Waits until no other process has the lock, and takes it.
    ///
    /// # Errors
    /// The file system has no such locks.
    pub fn take(self) -> io::Result<Lock> {
        self.0.lock().map(|()| Lock(self.0))
    }

    /// Takes the lock, or gives the file back if another process has it.
    ///
    /// # Errors
    /// The file system has no such locks.
    pub fn try_take(self) -> io::Result<Result<Lock, LockFile>> {
        match is_locked(self.0.try_lock())? {
            true => Ok(Ok(Lock(self.0))),
            false => Ok(Err(self)),
        }
    }

    /// Returns whether another process has the lock alone. The lock is shared with others that look at the same time.
    ///
    /// # Errors
    /// The file system has no such locks.
    pub fn is_taken(&self) -> io::Result<bool> {
        let is_free = is_locked(self.0.try_lock_shared())?;
        if is_free {
            self.0.unlock()?;
        }
        Ok(!is_free)
    }
}

/// Returns whether another process has the lock of this file. It makes no file.
pub fn is_taken(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| LockFile(file).is_taken().unwrap_or(false))
}

impl Lock {
    /// Returns the locked file.
    pub fn file(&mut self) -> &mut File {
        &mut self.0
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // The system drops the lock when the process ends, at the latest.
        self.0.unlock().unwrap_or_default();
    }
}

/// Returns whether the file is locked now. It is not if another process has a lock that excludes this one.
fn is_locked(tried: Result<(), TryLockError>) -> io::Result<bool> {
    match tried {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::{os::unix::fs::MetadataExt, thread};

    use super::*;

    #[test]
    fn one_of_two_has_the_lock_until_it_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.lock");
        assert!(!is_taken(&path) && !path.exists(), "a look makes no file");
        let open = || LockFile::open(&path).unwrap();
        let lock = open().try_take().unwrap().unwrap();
        assert!(is_taken(&path));
        let refused = open().try_take().unwrap().unwrap_err();
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
        let waiting = thread::spawn(move || refused.take().map(drop));
        drop(lock);
        waiting.join().unwrap().unwrap();
        assert!(!is_taken(&path));
    }

    #[test]
    fn a_file_is_locked_again_and_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.lock");
        let file = LockFile::open(&path).unwrap();
        for _ in 0..2 {
            let held = file.hold().unwrap();
            assert!(is_taken(&path));
            drop(held);
            assert!(!is_taken(&path));
        }
    }
}
