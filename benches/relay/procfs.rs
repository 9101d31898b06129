//! Reads the CPU time and the memory of a running process from `/proc`; returns `None` on other systems.

use std::time::Duration;

/// Returns the CPU time of all threads of a process.
#[cfg(target_os = "linux")]
pub(crate) fn cpu(pid: u32) -> Option<Duration> {
    cpu_of_threads(pid).or_else(|| cpu_in_ticks(pid))
}

/// Returns it with nanosecond resolution, if the kernel has schedstat.
#[cfg(target_os = "linux")]
fn cpu_of_threads(pid: u32) -> Option<Duration> {
    let mut nanoseconds = 0;
    for task in std::fs::read_dir(format!("/proc/{pid}/task")).ok()? {
        // A thread can end while the directory is read.
        let Ok(line) = std::fs::read_to_string(task.ok()?.path().join("schedstat")) else { continue };
        nanoseconds += line.split(' ').next()?.parse::<u64>().ok()?;
    }
    (nanoseconds > 0).then(|| Duration::from_nanos(nanoseconds))
}

/// Returns it in ticks of commonly 10 ms, user and system time together.
#[cfg(target_os = "linux")]
fn cpu_in_ticks(pid: u32) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The second field, the program's name in brackets, can contain anything, so the fields count from behind it.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    let a_second = rustix::param::clock_ticks_per_second();
    Some(Duration::from_nanos(ticks * 1_000_000_000 / a_second))
}

/// The memory of a process, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Memory {
    /// The most that was resident.
    pub(crate) peak: u64,
    /// The most that was resident and belongs to no file: what the process costs by itself. The kernel does not record
    /// this peak. It is taken as what the resident peak has beyond the pages of files now, which only become more.
    pub(crate) anonymous: u64,
}

impl Memory {
    /// Returns the larger of each.
    pub(crate) fn max(self, other: Memory) -> Memory {
        Memory { peak: self.peak.max(other.peak), anonymous: self.anonymous.max(other.anonymous) }
    }
}

/// Returns the memory of a process.
#[cfg(target_os = "linux")]
pub(crate) fn memory(pid: u32) -> Option<Memory> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let bytes = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
    };
    let peak = bytes("VmHWM:")?;
    let anonymous = bytes("RssAnon:")?.max(peak.saturating_sub(bytes("RssFile:")?));
    Some(Memory { peak, anonymous })
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn cpu(_pid: u32) -> Option<Duration> {
    None
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn memory(_pid: u32) -> Option<Memory> {
    None
}
