//! What Linux tells of processes, under `/proc`. What follows from it is left to `agent_tree`.

use std::{
    fs, io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use rustix::process::{WaitId, WaitIdOptions, waitid};

/// Clock ticks of a second in `/proc`, which Linux has on all machines but Alpha.
const TICKS: f64 = 100.0;

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
pub fn read_process(pid: u32) -> io::Result<Process> {
    let stat = fs::read(format!("/proc/{pid}/stat"))?;
    parse_stat(&String::from_utf8_lossy(&stat)).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Returns the inode of this process's PID namespace; 0 where that is not known.
pub fn namespace() -> u64 {
    fs::metadata("/proc/self/ns/pid").map_or(0, |namespace| namespace.ino())
}

/// Reads a line of `/proc/PID/stat`, as proc_pid_stat(5) describes it.
fn parse_stat(stat: &str) -> Option<Process> {
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

/// Returns when a process started, in milliseconds since 1970.
pub fn started(pid: u32) -> Option<f64> {
    let uptime = fs::read_to_string("/proc/uptime").ok()?;
    let uptime: f64 = uptime.split_ascii_whitespace().next()?.parse().ok()?;
    #[expect(clippy::cast_precision_loss, reason = "a clock of 2^53 ticks has run for millions of years")]
    let started = read_process(pid).ok()?.started as f64 / TICKS;
    let age = Duration::try_from_secs_f64((uptime - started).max(0.0)).ok()?;
    let since = SystemTime::now().checked_sub(age)?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
    Some(since.as_secs_f64() * 1000.0)
}

/// Returns whether a process still runs. Where that is not known, it does.
pub fn is_running(pid: u32) -> bool {
    match read_process(pid) {
        Ok(process) => !process.has_ended,
        Err(error) => error.kind() != io::ErrorKind::NotFound || !Path::new("/proc/self").exists(),
    }
}

/// Returns the folder that a process works in.
pub fn folder(pid: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/cwd")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_command_does_not_shift_the_fields_behind_it() {
        let rest = "7 42 42 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 1234 5 6 7";
        for name in ["sh", "", "a b", ")", "((", "x) Z 9 9 9", "a)\n(b", "(sd-pam)"] {
            let expected = Process { parent: 7, started: 1234, has_ended: false };
            assert_eq!(parse_stat(&format!("43 ({name}) S {rest}\n")), Some(expected), "{name:?}");
            for ended in ["Z", "X"] {
                let process = parse_stat(&format!("43 ({name}) {ended} {rest}\n")).expect("a process");
                assert!(process.has_ended && process.parent == 7, "{name:?}");
            }
        }
        for text in ["", "43", "43 (sh", "43 (sh)", "43 (sh) S", "43 (sh) S 7 42", "43 (sh) S x 42 42 0"] {
            assert_eq!(parse_stat(text), None, "{text:?}");
        }
        assert_eq!(parse_stat(&format!("43 (sh) S {}", rest.replace("1234", "-1"))), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_process_is_read() {
        let process = read_process(std::process::id()).expect("this process");
        assert_eq!(process.parent, std::os::unix::process::parent_id());
        assert!(!process.has_ended && process.started > 0);
        assert_eq!(read_process(u32::MAX).expect_err("no process").kind(), io::ErrorKind::NotFound);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_started_in_the_past() {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("a clock").as_secs_f64();
        let started = started(std::process::id()).expect("a time");
        assert!(started / 1000.0 <= now + 1.0 && started > 0.0, "{started}");
    }
}
