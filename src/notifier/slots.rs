//! How many notifiers run at once for one user, over all bridges. Each holds the lock of one of so many files; the kernel
//! gives it back however the process ends.

use std::{
    fs::{File, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt,
    path::Path,
};

use rustix::fs::{FlockOperation, flock};

use crate::limits;

/// What a notifier says on stderr, alone on a line, where as many run already as may.
pub const BUSY: &str = "busy";

/// One of the places, until this is dropped.
#[derive(Debug)]
pub struct Slot {
    number: usize,
    _file: File,
}

impl Slot {
    /// Returns whether it was the last free place when it was taken: its holder says how many more questions wait.
    pub fn is_last(&self) -> bool {
        self.number + 1 == limits::NOTIFIERS
    }
}

/// Takes a place, if there is one. `folder` is that of the sockets.
pub fn take(folder: &Path) -> io::Result<Option<Slot>> {
    for number in 0..limits::NOTIFIERS {
        let path = folder.join(format!("notify-{number}.lock"));
        let file = OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path)?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => return Ok(Some(Slot { number, _file: file })),
            Err(error) if error == rustix::io::Errno::WOULDBLOCK => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn there_are_only_so_many_places_and_each_is_given_back() {
        let folder = tempfile::tempdir().expect("a folder");
        let next = || take(folder.path()).expect("a folder");
        let mut held: Vec<_> = (0..limits::NOTIFIERS).map(|_| next().expect("a place")).collect();
        assert!(held.pop().is_some_and(|last| last.is_last()));
        held.extend(next());
        assert!(next().is_none());
        held.remove(3);
        // A process that another test starts at this moment holds the lock until it runs its program.
        let deadline = Instant::now() + Duration::from_secs(120);
        let free = loop {
            if let Some(slot) = next() {
                break slot;
            }
            assert!(Instant::now() < deadline, "the place is not given back");
            std::thread::yield_now();
        };
        assert!(!free.is_last());
    }
}
