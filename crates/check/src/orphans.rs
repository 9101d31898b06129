//! Processes that a command under test has left behind: those outside of its process group too, which are found by a
//! variable of their environment.

use std::path::Path;

/// Kills every process in whose environment the variable has this value. Only Linux says what a process was started with;
/// elsewhere, those outside of the group stay.
pub(crate) fn kill(variable: &str, value: &Path) {
    #[cfg(target_os = "linux")]
    linux::kill(variable, value);
    #[cfg(not(target_os = "linux"))]
    drop((variable, value));
}

#[cfg(target_os = "linux")]
mod linux {
    use std::{fs, os::unix::ffi::OsStrExt, path::Path, thread};

    use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

    use crate::limits;

    pub(super) fn kill(variable: &str, value: &Path) {
        let entry = [variable.as_bytes(), b"=", value.as_os_str().as_bytes()].concat();
        for _ in 0..limits::ORPHAN_LOOKS {
            // A process may start another one while the others are looked at.
            let found =
                pids().filter(|pid| has_entry(*pid, &entry)).map(|pid| kill_with(pid, &entry)).count();
            if found == 0 {
                return;
            }
            // The kernel takes a moment to end what was killed.
            thread::sleep(limits::LOOK);
        }
    }

    fn pids() -> impl Iterator<Item = Pid> {
        let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
        entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
    }

    /// Returns whether the environment of a process has this entry. One that has ended has none, and one of another user
    /// cannot be read.
    fn has_entry(pid: Pid, entry: &[u8]) -> bool {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|own| own == entry)
    }

    /// Kills a process, unless its ID is another's by now.
    fn kill_with(pid: Pid, entry: &[u8]) {
        let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else { return };
        if has_entry(pid, entry) {
            pidfd_send_signal(&process, Signal::KILL).unwrap_or_default();
        }
    }
}
