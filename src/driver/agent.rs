//! The agent's process and its process group, and how the bridge reaps its children. When to signal the agent is left
//! to the engine.
//!
//! A wrapper such as `npx` or a shell script leaves the real agent behind when it is killed alone. Therefore signals go
//! to the whole group, and the group does not outlive the bridge (I8).
//!
//! The bridge is a child subreaper: when a process of the agent's tree ends before its children, the kernel makes the
//! bridge their parent instead of PID 1. So every descendant of the agent stays a descendant of the bridge, and the
//! inbox can tell the agent's own processes from others (I12).

use std::{
    ffi::OsString,
    io,
    os::unix::process::{CommandExt, ExitStatusExt},
    process::{Command, ExitStatus, Stdio},
};

use rustix::process::{Pid, Signal, WaitOptions, kill_process_group, test_kill_process_group, wait};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::{ChildStderr, ChildStdin, ChildStdout},
    signal::unix::{Signal as SignalStream, SignalKind, signal},
    sync::oneshot,
    task::{JoinHandle, yield_now},
};

use super::{
    FatalError,
    stdio::{Reader, Writer},
};
use crate::limits;

/// A running agent. Dropping it kills the rest of its group.
pub(super) struct Agent {
    status: oneshot::Receiver<ExitStatus>,
    group: Option<Pid>,
    stderr: Option<JoinHandle<Vec<u8>>>,
}

impl Agent {
    /// Starts the agent, and returns it with its stdin and stdout.
    ///
    /// SIGCHLD must be caught before, as [`Signals::catch`](askbridge_os::signals::Signals::catch) does: if a parent
    /// left it ignored, the kernel would reap the agent and its exit code would be lost.
    pub(super) fn start(command: &[OsString]) -> Result<(Self, Writer, Reader), FatalError> {
        let [program, arguments @ ..] = command else {
            let source = io::ErrorKind::NotFound.into();
            return Err(FatalError::Spawn { command: String::new(), source });
        };
        let set_up = |source| FatalError::SetUp { what: "the signals", source };
        let children = Children::adopt().map_err(set_up)?;
        // This is not tokio's `Command`, which would wait for the child itself: `Children` reaps every child.
        let spawned = Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // In a group of its own, the agent gets no Ctrl-C from the terminal: the bridge gets it, and ends the
            // agent in order. One signal to the group reaches whatever the agent started.
            .process_group(0)
            .spawn();
        let fail = |source| FatalError::Spawn { command: program.to_string_lossy().into_owned(), source };
        let mut child = spawned.map_err(fail)?;
        let pid = Pid::from_child(&child);
        let status = children.reap(pid);
        // From here on, every error path drops `agent` and thereby ends the group.
        let mut agent = Agent { status, group: Some(pid), stderr: None };
        let (Some(stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(fail(io::ErrorKind::BrokenPipe.into()));
        };
        let stderr = ChildStderr::from_std(stderr).map_err(fail)?;
        agent.stderr = Some(tokio::spawn(pass_stderr(stderr)));
        let stdin = ChildStdin::from_std(stdin).and_then(Writer::own).map_err(fail)?;
        let stdout = ChildStdout::from_std(stdout).and_then(Reader::own).map_err(fail)?;
        Ok((agent, stdin, stdout))
    }

    /// Waits for the process to exit. The caller must not call this again after it has returned.
    pub(super) async fn exit(&mut self) -> Option<ExitStatus> {
        (&mut self.status).await.ok()
    }

    /// Waits for the process to exit, for at most [`limits::FLUSH`].
    pub(super) async fn exit_soon(&mut self) -> Option<ExitStatus> {
        tokio::time::timeout(limits::FLUSH, self.exit()).await.ok()?
    }

    /// Returns whether the group still has a process after the agent has ended. Once it has none, this forgets the
    /// group, since the system may give its number to another one.
    pub(super) fn group_lives(&mut self) -> bool {
        // Zombies count as members, so orphans that were not reaped would keep the group alive, and every end would
        // take the whole ladder of signals.
        reap_some(|_, _| {});
        self.group = self.group.filter(|group| test_kill_process_group(*group).is_ok());
        self.group.is_some()
    }

    /// Sends SIGTERM to the group.
    pub(super) fn terminate(&mut self) {
        self.signal(Signal::TERM);
    }

    /// Sends SIGKILL to the group.
    pub(super) fn kill(&mut self) {
        self.signal(Signal::KILL);
    }

    /// Waits until the agent's stderr is copied to ours, for at most [`limits::FLUSH`], and returns its tail.
    pub(super) async fn last_words(&mut self) -> Vec<u8> {
        let Some(stderr) = self.stderr.take() else { return Vec::new() };
        let words = tokio::time::timeout(limits::FLUSH, stderr).await;
        words.ok().and_then(Result::ok).unwrap_or_default()
    }

    fn signal(&mut self, signal: Signal) {
        // The group may end by itself just before the signal, so a failure is no warning.
        if let Some(group) = self.group
            && let Err(error) = kill_process_group(group, signal)
        {
            tracing::debug!(?signal, %error, "the agent's process group could not be signalled");
        }
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        if self.group_lives() {
            self.kill();
        }
    }
}

/// Copies the agent's stderr to ours, and returns its tail at the end.
async fn pass_stderr(mut stderr: ChildStderr) -> Vec<u8> {
    let mut own = tokio::io::stderr();
    let mut buffer = [0; limits::STDERR_TAIL];
    let mut tail = Vec::new();
    while let Ok(length @ 1..) = stderr.read(&mut buffer).await {
        let words = &buffer[..length];
        tail.extend_from_slice(words);
        tail.drain(..tail.len().saturating_sub(limits::STDERR_TAIL));
        // Even if our stderr is closed, the agent's must be read, or the agent would block on a full pipe.
        if own.write_all(words).await.is_ok() {
            drop(own.flush().await);
        }
    }
    tail
}

/// Receives SIGCHLD, to reap the children of the bridge.
pub(super) struct Children(SignalStream);

impl Children {
    /// Makes the bridge the parent of orphans from now on. Must be called before the agent starts, since earlier
    /// orphans of the agent would leave its tree.
    pub(super) fn adopt() -> io::Result<Self> {
        adopt_orphans();
        Ok(Children(signal(SignalKind::child())?))
    }

    /// Spawns a task that reaps the children as they end. The receiver gets the exit status of `agent`.
    ///
    /// The system call reaps any child, and reports only afterwards which one it was. So all children are reaped in one
    /// place.
    pub(super) fn reap(mut self, agent: Pid) -> oneshot::Receiver<ExitStatus> {
        let (sender, receiver) = oneshot::channel();
        let mut sender = Some(sender);
        tokio::spawn(async move {
            // The kernel may merge the signals of several children into one, hence the inner loop.
            while self.0.recv().await.is_some() {
                while reap_some(|pid, status| {
                    // Only the first match is the agent: once it is reaped, an orphan may get its process ID.
                    if pid == agent
                        && let Some(sender) = sender.take()
                    {
                        // The receiver is gone if the bridge is ending; ignore the send error.
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

/// Reaps a bounded number of children that have ended, since this thread also forwards lines (I7). Returns whether
/// there may be more.
pub(super) fn reap_some(mut reaped: impl FnMut(Pid, ExitStatus)) -> bool {
    for _ in 0..limits::REAPED_AT_ONCE {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) => reaped(pid, ExitStatus::from_raw(status.as_raw())),
            // No child has ended, or there is none.
            Ok(None) | Err(_) => return false,
        }
    }
    true
}

#[cfg(target_os = "linux")]
fn adopt_orphans() {
    use rustix::process::getpid;
    use rustix::process::set_child_subreaper;
    if let Err(error) = set_child_subreaper(Some(getpid())) {
        tracing::warn!(%error, "processes that the agent leaves behind may answer its questions");
    }
}

#[cfg(not(target_os = "linux"))]
fn adopt_orphans() {}
