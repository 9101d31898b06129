//! The bridge's child processes: the agent, and the orphans of its tree. Each is reaped when it ends.
//! Which of them are signalled is left to `agent`.
//!
//! The bridge is a child subreaper: where a process of the agent's tree ends before its children, the kernel makes the
//! bridge their parent, and not PID 1. So every descendant of the agent stays a descendant of the bridge, by which the
//! inbox tells the agent's own processes from others (I12).

use std::{io, os::unix::process::ExitStatusExt, process::ExitStatus};

use rustix::process::{Pid, WaitOptions, wait};
use tokio::{
    signal::unix::{Signal as SignalStream, SignalKind, signal},
    sync::oneshot,
    task::yield_now,
};

use crate::limits;

/// What tells that a child has ended.
pub(super) struct Children(SignalStream);

impl Children {
    /// Makes the bridge the parent of orphans from now on. Must be called before the agent starts: what it leaves
    /// behind earlier would leave its tree.
    pub(super) fn adopt() -> io::Result<Self> {
        adopt_orphans();
        Ok(Children(signal(SignalKind::child())?))
    }

    /// Reaps the children as they end, in a task of its own. The status of this one is kept for the receiver.
    ///
    /// The system call that reaps says only afterwards which child it was, so all are reaped in one place.
    pub(super) fn reap(mut self, agent: Pid) -> oneshot::Receiver<ExitStatus> {
        let (sender, receiver) = oneshot::channel();
        let mut sender = Some(sender);
        tokio::spawn(async move {
            // One signal may stand for several children.
            while self.0.recv().await.is_some() {
                while reap_some(|pid, status| {
                    // Once the agent is reaped, an orphan may have its number.
                    if pid == agent
                        && let Some(sender) = sender.take()
                    {
                        // Without a receiver, the bridge is ending.
                        sender.send(status).unwrap_or_default();
                    }
                }) {
                    yield_now().await;
                }
            }
        });
        receiver
    }
}

/// Reaps children that have ended. Returns whether there may be more: lines are forwarded on this thread (I7).
pub(super) fn reap_some(mut reaped: impl FnMut(Pid, ExitStatus)) -> bool {
    for _ in 0..limits::REAPED_AT_ONCE {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) => reaped(pid, ExitStatus::from_raw(status.as_raw())),
            // None has ended, or there is no child.
            Ok(None) | Err(_) => return false,
        }
    }
    true
}

#[cfg(target_os = "linux")]
fn adopt_orphans() {
    use rustix::process::{getpid, set_child_subreaper};
    if let Err(error) = set_child_subreaper(Some(getpid())) {
        tracing::warn!(%error, "processes that the agent leaves behind may answer its questions");
    }
}

#[cfg(not(target_os = "linux"))]
fn adopt_orphans() {}
