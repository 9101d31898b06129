//! What Linux tells of processes, under `/proc`. What follows from it is left to `agent_tree`.

use std::{fs, io, os::unix::fs::MetadataExt};

use rustix::process::{WaitId, WaitIdOptions, waitid};

/// A process at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    /// The process ID of its parent; 0 where that is outside of our PID namespace.
    pub parent: u32,
    /// When it started, in clock ticks since the machine started. Together with its ID, it names one process: IDs are
    /// used again.
    pub started: u64,
    /// Whether it has ended and waits to be reaped.
    pub has_ended: bool,
}

/// Reads a process.
///
/// # Errors
/// Those of the file, such as `NotFound`; `InvalidData` where it has another shape.
pub fn read(pid: u32) -> io::Result<Process> {
    let stat = fs::read(format!("/proc/{pid}/stat"))?;
    parse(&String::from_utf8_lossy(&stat)).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Returns the inode of this process's PID namespace; 0 where that is not known.
pub fn namespace() -> u64 {
    fs::metadata("/proc/self/ns/pid").map_or(0, |namespace| namespace.ino())
}

/// Reads a line of `/proc/PID/stat`, as proc_pid_stat(5) describes it.
fn parse(stat: &str) -> Option<Process> {
    // The second field is the command's name in parentheses. The name may have parentheses and spaces of its own.
    let (_, rest) = stat.rsplit_once(')')?;
    // The rest begins with the third field.
    let mut fields = rest.split_ascii_whitespace();
    let has_ended = matches!(fields.next()?, "Z" | "X");
    let parent = fields.next()?.parse().ok()?;
    let started = fields.nth(22 - 5)?.parse().ok()?;
    Some(Process { parent, started, has_ended })
}

/// Returns the child processes of the calling thread. Those of other threads are not among them.
pub fn children() -> Vec<u32> {
    // Asking whether there is one at all takes a tenth of the time, and a bridge must start fast.
    let any = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    if waitid(WaitId::All, any).is_err() {
        return Vec::new();
    }
    // The file is missing where the kernel was built without it.
    let children = fs::read_to_string("/proc/thread-self/children").unwrap_or_default();
    children.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_command_does_not_shift_the_fields_behind_it() {
        let rest = "7 42 42 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 1234 5 6 7";
        for name in ["sh", "", "a b", ")", "((", "x) Z 9 9 9", "a)\n(b", "(sd-pam)"] {
            let expected = Process { parent: 7, started: 1234, has_ended: false };
            assert_eq!(parse(&format!("43 ({name}) S {rest}\n")), Some(expected), "{name:?}");
            for ended in ["Z", "X"] {
                let process = parse(&format!("43 ({name}) {ended} {rest}\n")).expect("a process");
                assert!(process.has_ended && process.parent == 7, "{name:?}");
            }
        }
        for text in ["", "43", "43 (sh", "43 (sh)", "43 (sh) S", "43 (sh) S 7 42", "43 (sh) S x 42 42 0"] {
            assert_eq!(parse(text), None, "{text:?}");
        }
        assert_eq!(parse(&format!("43 (sh) S {}", rest.replace("1234", "-1"))), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_is_read() {
        let process = read(std::process::id()).expect("this process");
        assert_eq!(process.parent, std::os::unix::process::parent_id());
        assert!(!process.has_ended && process.started > 0);
        assert_eq!(read(u32::MAX).expect_err("no process").kind(), io::ErrorKind::NotFound);
    }
}
