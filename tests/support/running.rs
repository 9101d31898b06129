//! A bridge whose stdin and stdout the test chooses, for tests that read and write them with blocking calls.
//! A watchdog kills a bridge that takes too long, which ends the blocking calls.

use std::{
    fs,
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

/// The time after which the watchdog kills the bridge: far more than a passing test needs.
pub(crate) const DEADLINE: Duration = Duration::from_secs(120);

/// A running bridge, which is killed by the watchdog and on drop.
pub(crate) struct Running {
    pub child: Child,
    /// Stops the watchdog on drop.
    in_time: Option<SyncSender<()>>,
}

impl Running {
    /// Starts the bridge and closes our copies of its ends of stdin and stdout, so that the streams can end.
    pub(crate) fn start(mut command: Command, stdin: impl Into<Stdio>, stdout: impl Into<Stdio>) -> Self {
        // The developer's own settings and sessions are not those of the test.
        for name in ["XDG_CONFIG_HOME", "HOME", "ASKBRIDGE_RUN_USER"] {
            if !command.get_envs().any(|(other, _)| other == name) {
                command.env(name, env!("CARGO_TARGET_TMPDIR"));
            }
        }
        let child = command.stdin(stdin).stdout(stdout).spawn().unwrap();
        let (in_time, late) = sync_channel(0);
        let pid = pid(&child);
        thread::spawn(move || {
            if late.recv_timeout(DEADLINE) == Err(RecvTimeoutError::Timeout) {
                kill_process(pid, Signal::KILL).unwrap_or_default();
            }
        });
        Running { child, in_time: Some(in_time) }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the end of the bridge.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        let status = self.child.wait().unwrap();
        self.in_time = None;
        status
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.child.kill().unwrap_or_default();
        self.child.wait().map(drop).unwrap_or_default();
    }
}

fn pid(child: &Child) -> Pid {
    Pid::from_raw(child.id().cast_signed()).expect("no process has the id 0")
}

/// Waits until this holds. For events that the system does not report, such as the end of another process's child.
#[track_caller]
pub(crate) fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + DEADLINE;
    while !holds() {
        assert!(Instant::now() < deadline, "waited too long: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Returns whether a process runs. A zombie does not.
pub(crate) fn runs(pid: &str) -> bool {
    match fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => {
            let state = stat.rsplit_once(") ").map(|(_, rest)| rest.as_bytes()[0]);
            !matches!(state, Some(b'Z' | b'X'))
        }
        Err(_) if cfg!(target_os = "linux") => false,
        Err(_) => Command::new("kill").args(["-0", pid]).stderr(Stdio::null()).status().unwrap().success(),
    }
}
