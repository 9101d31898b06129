//! A bridge between whatever stands for its stdin and stdout, which are read and written by simply blocking: one
//! that takes too long is killed, which ends them.

use std::{
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel},
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process};

/// How long anything may take. Nothing that works comes near it.
pub(crate) const DEADLINE: Duration = Duration::from_secs(20);

/// A running bridge, which is killed when it takes too long and when this is dropped.
pub(crate) struct Running {
    pub child: Child,
    /// Dropped, it calls the watchdog off.
    in_time: Option<SyncSender<()>>,
}

impl Running {
    /// Starts it. Its ends of stdin and stdout are closed here, so that both can end.
    pub(crate) fn start(mut command: Command, stdin: impl Into<Stdio>, stdout: impl Into<Stdio>) -> Self {
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

    /// Waits for its end.
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
