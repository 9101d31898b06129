//! A file that one process of the user locks: which of them does something for all. The lock ends with the process.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Seek, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
    thread,
};

use rustix::{
    fs::{FlockOperation, flock},
    io::Errno,
};

use crate::limits::fleet as limit;

/// A lock that this process has until it is dropped.
#[derive(Debug)]
pub struct Lock(File);

impl Lock {
    /// Takes the lock of this name in the directory of the sockets. `None` if another process has it.
    ///
    /// # Errors
    /// The file cannot be opened or locked.
    pub fn take(folder: &Path, name: &str) -> io::Result<Option<Self>> {
        let mut options = OpenOptions::new();
        options.create(true).truncate(false).read(true).write(true).mode(0o600);
        let file = options.open(folder.join(name))?;
        // The kernel releases the lock however the process ends, so no stale lock can remain. The file stays: if it
        // were removed, two processes could lock two files of the same name.
        for _ in 0..limit::LOCK_TRIES {
            if locks(&file, FlockOperation::NonBlockingLockExclusive)? {
                return Ok(Some(Lock(file)));
            }
            // Processes that look whether the lock is taken share it for a moment, unlike one that has it.
            if !locks(&file, FlockOperation::NonBlockingLockShared)? {
                return Ok(None);
            }
            flock(&file, FlockOperation::Unlock)?;
            thread::sleep(limit::LOOK);
        }
        Ok(None)
    }

    /// Returns whether another process has the lock of this name. It makes no file, and keeps nobody from the lock.
    pub fn is_taken(folder: &Path, name: &str) -> bool {
        let file = File::open(folder.join(name));
        // The file is closed at once, which releases the lock.
        file.is_ok_and(|file| matches!(locks(&file, FlockOperation::NonBlockingLockShared), Ok(false)))
    }

    /// Writes a text for the other processes into the file, in place of what is in it.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&mut self, text: &str) -> io::Result<()> {
        self.0.set_len(0)?;
        self.0.rewind()?;
        self.0.write_all(text.as_bytes())
    }

    /// Returns the text that the last process with the lock has written.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn read(folder: &Path, name: &str) -> io::Result<String> {
        let mut text = String::new();
        File::open(folder.join(name))?.take(limit::ENTRY as u64).read_to_string(&mut text)?;
        Ok(text)
    }
}

/// Returns whether the file is locked now. It is not if another process has a lock that excludes this one.
fn locks(file: &File, operation: FlockOperation) -> io::Result<bool> {
    match flock(file, operation) {
        Ok(()) => Ok(true),
        Err(Errno::WOULDBLOCK) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn those_who_look_keep_nobody_from_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let is_taken = || Lock::is_taken(folder.path(), "a.lock");
        let take = || Lock::take(folder.path(), "a.lock").unwrap();
        assert!(!is_taken() && !folder.path().join("a.lock").exists(), "a look makes no file");
        let looking = AtomicUsize::new(2);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for _ in 0..10_000 {
                        is_taken();
                    }
                    looking.fetch_sub(1, Ordering::Relaxed);
                });
            }
            while looking.load(Ordering::Relaxed) > 0 {
                assert!(take().is_some());
            }
        });
        let lock = take();
        assert!(lock.is_some() && is_taken() && take().is_none());
        drop(lock);
        assert!(!is_taken());
    }
}
