//! The command under test as a process: its pipes, the last words on its stderr, its exit, and the end of all processes
//! that it has started.
//! What goes through the pipes is left to `end.rs`, finding the processes to `orphans.rs`.

use std::{
    ffi::OsString,
    fmt,
    io::{self, PipeReader, Read},
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{Arc, Mutex, OnceLock, PoisonError},
    thread,
};

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process, kill_process_group, waitid,
};

use crate::{end::End, kind::Kind, limits, orphans};

/// The variable that has the private folder of a case. All processes that a command starts inherit it.
pub(crate) const FOLDER: &str = "XDG_RUNTIME_DIR";

/// The command under test. It is reaped when it is dropped, so its ID and that of its group are its own until then.
#[derive(Debug)]
pub(crate) struct Peer {
    child: Child,
    /// Ends once `status` is known.
    exit: PipeReader,
    status: Arc<OnceLock<Exit>>,
    stderr: Arc<Mutex<Vec<u8>>>,
    /// The private folder of the case.
    folder: PathBuf,
}

/// How a process has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Code(i32),
    Signal(i32),
    /// The system does not say.
    Unknown,
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
        command.env(FOLDER, self.folder);
        if self.kind.is_between() {
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
        let (pid, status) = (pid(&child), Arc::new(OnceLock::new()));
        let known = Arc::clone(&status);
        thread::spawn(move || {
            // NOWAIT leaves the zombie to this peer, which reaps it.
            let waited =
                pid.map(|pid| waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT));
            known.get_or_init(|| {
                waited.and_then(|waited| waited.ok().flatten()).map_or(Exit::Unknown, Exit::of)
            });
            drop(holder);
        });
        let folder = around.folder.to_owned();
        Ok((Self { child, exit, status, stderr, folder }, end))
    }

    /// Returns the descriptor that ends once the process has ended.
    pub(crate) fn exit(&self) -> &PipeReader {
        &self.exit
    }

    /// Returns how the process has ended, if it has.
    pub(crate) fn status(&self) -> Option<Exit> {
        self.status.get().copied()
    }

    /// Sends a signal to the process alone.
    pub(crate) fn signal(&self, signal: Signal) {
        if let Some(pid) = pid(&self.child) {
            kill_process(pid, signal).unwrap_or_default();
        }
    }

    /// Sends a signal to the process and its group, of which other processes may run after it has ended.
    pub(crate) fn signal_group(&self, signal: Signal) {
        if let Some(pid) = pid(&self.child) {
            kill_process_group(pid, signal).unwrap_or_default();
        }
    }

    /// Returns whether a process has the command's stderr open, or bytes in it are still unread.
    pub(crate) fn is_still_writing(&self) -> bool {
        // Each thread that reads has a copy until its output ends.
        Arc::strong_count(&self.stderr) > 1
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
        orphans::kill(FOLDER, &self.folder);
        // A run has hundreds of cases, whose processes would all stay as zombies until its end.
        self.child.wait().map(drop).unwrap_or_default();
    }
}

impl Exit {
    fn of(status: WaitIdStatus) -> Self {
        match (status.exit_status(), status.terminating_signal()) {
            (Some(code), _) => Self::Code(code),
            (_, Some(signal)) => Self::Signal(signal),
            _ => Self::Unknown,
        }
    }
}

impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
            Self::Unknown => f.write_str("an unknown status"),
        }
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
