//! A file that one process of the user locks: which of them does something for all. The lock ends with the process.

use std::{
    fs::File,
    io::{self, Read, Seek, Write},
    path::Path,
};

use askbridge_os::lock::{self, LockFile};
use tokio::time::sleep;

use crate::limits as limit;

/// A lock that this process has until it is dropped.
#[derive(Debug)]
pub struct Lock(lock::Lock);

impl Lock {
    /// Takes the lock of this name in the directory of the sockets. `None` if another process has it.
    ///
    /// # Errors
    /// The file cannot be opened or locked.
    pub async fn take(folder: &Path, name: &str) -> io::Result<Option<Self>> {
        let mut file = LockFile::open(&folder.join(name))?;
        for _ in 0..limit::LOCK_TRIES {
            file = match file.try_take()? {
                Ok(lock) => return Ok(Some(Lock(lock))),
                Err(file) => file,
            };
            // Processes that look whether the lock is taken share it for a moment, unlike one that has it.
            if file.is_taken()? {
                return Ok(None);
            }
            sleep(limit::LOOK).await;
        }
        Ok(None)
    }

    /// Returns whether another process has the lock of this name. It makes no file, and keeps nobody from the lock.
    pub fn is_taken(folder: &Path, name: &str) -> bool {
        lock::is_taken(&folder.join(name))
    }

    /// Writes a text for the other processes into the file, in place of what is in it.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&mut self, text: &str) -> io::Result<()> {
        let file = self.0.file();
        file.set_len(0)?;
        file.rewind()?;
        file.write_all(text.as_bytes())
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

#[cfg(test)]
mod tests {
    use std::{
        sync::atomic::{AtomicUsize, Ordering},
        thread,
    };

    use tokio::runtime::Builder;

    use super::*;

    #[test]
    fn those_who_look_keep_nobody_from_the_lock() {
        let folder = tempfile::tempdir().unwrap();
        let is_taken = || Lock::is_taken(folder.path(), "a.lock");
        let runtime = Builder::new_current_thread().enable_time().build().unwrap();
        let take = || runtime.block_on(Lock::take(folder.path(), "a.lock")).unwrap();
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
