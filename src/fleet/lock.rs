//! A file that one process of the user locks: which of them does something for all. The lock ends with the process.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Seek, Write},
    os::unix::fs::OpenOptionsExt,
    path::Path,
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
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Some(Lock(file))),
            Err(Errno::WOULDBLOCK) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns whether another process has the lock of this name. It makes no file.
    pub fn is_taken(folder: &Path, name: &str) -> bool {
        folder.join(name).exists() && matches!(Self::take(folder, name), Ok(None))
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
