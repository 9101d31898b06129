//! What Linux tells of a process under test.

use std::fs;

/// Returns the most memory of its own that a process had so far, in KiB. The pages of files (the program and its
/// libraries) are left out, as their number says more of the build than of what was done. It only grows, so that no
/// more than these were part of the peak.
pub(crate) fn peak_kib(pid: u32) -> usize {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let kib = |name: &str| -> usize {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim().trim_end_matches(" kB").parse().unwrap()
    };
    kib("VmHWM:").saturating_sub(kib("RssFile:"))
}
