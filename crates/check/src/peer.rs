//! The command under test as a process: its pipes, the last words on its stderr, its exit, and its end.
//! What goes through the pipes is left to `end.rs`.

use std::{
    ffi::OsString,
    io::{self, PipeReader, Read},
    os::unix::process::{CommandExt, ExitStatusExt},
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError},
    thread,
};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid};

use crate::{case::Kind, end::End, limits};

/// The command under test.
#[derive(Debug)]
pub(crate) struct Peer {
    child: Child,
    /// Ends once the process can be reaped.
    exit: PipeReader,
    stderr: Arc<Mutex<Vec<u8>>>,
}

/// Where a command runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Surroundings<'a> {
    pub(crate) kind: Kind,
    /// A private folder of this case.
    pub(crate) folder: &'a Path,
}

impl Surroundings<'_> {
    /// Gives a command a private place for its sockets. A bridge gets private settings and a private state as well: those of
    /// the user must not count. An agent or a client keeps them, because it needs its account.
    pub(crate) fn surround(self, command: &mut Command) {
        command.env("XDG_RUNTIME_DIR", self.folder);
        if self.kind == Kind::Bridge {
            for (name, folder) in [("XDG_CONFIG_HOME", "config"), ("XDG_STATE_HOME", "state")] {
                command.env(name, self.folder.join(folder));
            }
        }
    }
}

impl Peer {
    /// Starts the command in a process group of its own. Returns the end that its stdin and stdout are, unless it is a
    /// client, which talks to the agent that it starts.
    pub(crate) fn start(command: &[OsString], around: Surroundings<'_>) -> io::Result<(Self, Option<End>)> {
        let (program, arguments) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(program);
        // The processes that the command starts belong to this group, so that one signal reaches them all.
        command.args(arguments).process_group(0).stderr(Stdio::piped());
        around.surround(&mut command);
        let is_client = around.kind == Kind::Client;
        command.stdin(if is_client { Stdio::null() } else { Stdio::piped() }).stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let stderr = Arc::new(Mutex::new(Vec::new()));
        for output in [child.stderr.take().map(boxed), child.stdout.take_if(|_| is_client).map(boxed)] {
            let shared = Arc::clone(&stderr);
            output.map(|output| thread::spawn(move || keep_tail(output, &shared)));
        }
        let end = match (child.stdin.take(), child.stdout.take()) {
            (Some(stdin), Some(stdout)) => Some(End::new(stdin.into(), stdout.into())),
            _ => None,
        };
        let (exit, holder) = io::pipe()?;
        let pid = pid(&child);
        thread::spawn(move || {
            // NOWAIT leaves the zombie to this peer, which reaps it; an error means that it did so already.
            let waited =
                pid.map(|pid| waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT));
            drop((waited, holder));
        });
        Ok((Self { child, exit, stderr }, end))
    }

    /// Returns the descriptor that ends once the process has ended.
    pub(crate) fn exit(&self) -> &PipeReader {
        &self.exit
    }

    /// Returns the exit status, if the process has ended.
    pub(crate) fn status(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().ok().flatten()
    }

    /// Sends a signal to the process alone.
    pub(crate) fn signal(&mut self, signal: Signal) {
        // A process that has ended is not reaped before `status`, so the ID is its own.
        if let (None, Some(pid)) = (self.status(), pid(&self.child)) {
            kill_process(pid, signal).unwrap_or_default();
        }
    }

    /// Sends a signal to the process and its group, unless the process has ended.
    pub(crate) fn signal_group(&mut self, signal: Signal) {
        if let (None, Some(pid)) = (self.status(), pid(&self.child)) {
            kill_process_group(pid, signal).unwrap_or_default();
        }
    }

    /// Returns the last words on stderr; of a client, those on stdout as well.
    pub(crate) fn last_words(&self) -> String {
        let kept = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept).into_owned()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.signal_group(Signal::KILL);
        // A run has hundreds of cases, whose processes would all stay as zombies until its end.
        self.child.wait().map(drop).unwrap_or_default();
    }
}

/// Returns what a status says, such as `exit code 7` or `signal 9`.
pub(crate) fn described(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (_, Some(signal)) => format!("signal {signal}"),
        _ => "an unknown status".to_owned(),
    }
}

fn boxed(output: impl Read + Send + 'static) -> Box<dyn Read + Send> {
    Box::new(output)
}

fn pid(child: &Child) -> Option<Pid> {
    Pid::from_raw(child.id().cast_signed())
}

/// Reads to the end, so that the command never blocks on it, and keeps the last part.
fn keep_tail(mut output: Box<dyn Read + Send>, kept: &Mutex<Vec<u8>>) {
    let mut chunk = [0; 4096];
    while let Ok(count @ 1..) = output.read(&mut chunk) {
        let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(chunk.get(..count).unwrap_or_default());
        // A command may write more than fits in memory, and the reason of its end is in the last lines.
        let excess = kept.len().saturating_sub(limits::STDERR);
        kept.drain(..excess);
    }
}
