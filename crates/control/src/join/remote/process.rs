//! The process of the command that reaches a machine, with those that it started: a shell, a `ProxyCommand` of ssh.
//! None of them outlives the connection.

use std::{
    io::{self, Write},
    os::{fd::OwnedFd, unix::net::UnixStream as StdStream},
    process::Stdio,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use askbridge_os::terminal::printable;
use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process_group};
use tokio::{
    io::AsyncReadExt,
    net::UnixStream,
    process::{Child, ChildStderr, Command},
    runtime::Handle,
    task::JoinHandle,
    time::{sleep, timeout},
};

use super::failure::{Ended, tail_of};
use crate::limits;

/// How long an ended process may take to say why.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// The process of a command. It ends when this is dropped, with those that it started.
#[derive(Debug)]
pub(super) struct Process {
    members: Option<Members>,
    said: Arc<Mutex<Vec<u8>>>,
    has_terminal: bool,
    reader: Option<JoinHandle<()>>,
}

impl Process {
    /// Starts a command, and returns it with its stdin and stdout.
    ///
    /// With `has_terminal`, the command can ask the person for what it needs: it stays in the process group of this
    /// command, since a process of another group cannot read from the terminal.
    pub(super) fn start(words: &[String], has_terminal: bool) -> io::Result<(Self, UnixStream)> {
        let Some((program, arguments)) = words.split_first() else {
            return Err(io::ErrorKind::InvalidInput.into());
        };
        // One socket in place of two pipes: the other end is then like that of a bridge.
        let (ours, theirs) = StdStream::pair()?;
        ours.set_nonblocking(true)?;
        let theirs = OwnedFd::from(theirs);
        let mut command = Command::new(program);
        command
            .args(arguments)
            .stdin(theirs.try_clone()?)
            .stdout(theirs)
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        if !has_terminal {
            // So that Ctrl-C in the terminal is for the command that the person typed, and all processes can be ended.
            command.process_group(0);
        }
        let mut child = command.spawn()?;
        let said = Arc::new(Mutex::new(Vec::new()));
        let reader = child.stderr.take().map(|stderr| {
            let said = Arc::clone(&said);
            tokio::spawn(async move { read(stderr, &said, has_terminal).await })
        });
        let pid = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        let group = Group(pid.filter(|_| !has_terminal));
        let process = Process { members: Some(Members { child, group }), said, has_terminal, reader };
        Ok((process, UnixStream::from_std(ours)?))
    }

    /// Ends the process if it still runs, and returns its exit code and its last messages. It does not wait for the others
    /// that it started, since a person may wait for the next connection.
    pub(super) async fn end(mut self) -> Ended {
        let mut code = None;
        if let Some(members) = &mut self.members {
            let status = timeout(LAST_WORDS, members.child.wait()).await;
            code = status.ok().and_then(Result::ok).and_then(|status| status.code());
            members.terminate();
        }
        // A process that left the group may keep stderr open.
        if let Some(reader) = self.reader.take() {
            timeout(LAST_WORDS, reader).await.map(drop).unwrap_or_default();
        }
        let said = std::mem::take(&mut *self.said.lock().unwrap_or_else(PoisonError::into_inner));
        Ended { code, said, at_terminal: self.has_terminal, is_ours: false }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let Some(members) = self.members.take() else { return };
        members.terminate();
        // Where no runtime is left that could wait, or where it ends meanwhile, the members are killed at once.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(members.ended());
        }
    }
}

/// The process and those that it started. They are killed when this is dropped.
#[derive(Debug)]
struct Members {
    child: Child,
    group: Group,
}

impl Members {
    /// Asks them to end.
    fn terminate(&self) {
        let child = self.child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
        // Either call fails if there is no such process any more.
        match (self.group.0, child) {
            (Some(group), _) => kill_process_group(group, Signal::TERM).unwrap_or_default(),
            (None, Some(child)) => kill_process(child, Signal::TERM).unwrap_or_default(),
            (None, None) => {}
        }
    }

    /// Waits for their end, and kills those that take too long.
    async fn ended(mut self) {
        let all = async {
            // Until it is reaped, the process itself counts as a member of the group.
            drop(self.child.wait().await);
            while self.group.lives() {
                sleep(limits::GROUP_CHECK).await;
            }
        };
        timeout(limits::TERMINATE, all).await.unwrap_or_default();
    }
}

/// The process group of a command; `None` if the command has none of its own. It is killed when this is dropped.
#[derive(Debug)]
struct Group(Option<Pid>);

impl Group {
    /// Returns whether a process of the group is left. Once none is, this forgets the group, since the system may give
    /// its number to another one.
    fn lives(&mut self) -> bool {
        self.0 = self.0.filter(|group| test_kill_process_group(*group).is_ok());
        self.0.is_some()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            kill_process_group(group, Signal::KILL).unwrap_or_default();
        }
    }
}

/// Keeps the end of what a process says. If `is_shown`, a person reads it as well, as with a command that they typed.
async fn read(mut stderr: ChildStderr, said: &Mutex<Vec<u8>>, is_shown: bool) {
    let mut bytes = [0; 1024];
    while let Ok(count @ 1..) = stderr.read(&mut bytes).await {
        if is_shown {
            // If our own stderr is closed, the result of the command still says why.
            let text = String::from_utf8_lossy(&bytes[..count]).replace("\r\n", "\n");
            drop(io::stderr().write_all(printable(&text).as_bytes()));
        }
        tail_of(&mut said.lock().unwrap_or_else(PoisonError::into_inner), &bytes[..count]);
    }
}

#[cfg(test)]
mod tests {
    use std::{path::Path, time::Instant};

    use rustix::process::test_kill_process;
    use tokio::task::yield_now;

    use super::*;
    use crate::rpc::played::soon;

    /// A command that leaves a process behind which ignores SIGTERM, and writes the IDs of both into a file.
    const STUBBORN: &str = r#"(trap "" TERM; echo "$$" >>"$1.new"; exec sleep 1000) & echo "$!" >>"$1.new"
        while [ "$(wc -l <"$1.new")" -lt 2 ]; do :; done; mv "$1.new" "$1"; exec cat"#;

    fn started(file: &Path) -> Process {
        let words = ["sh", "-c", STUBBORN, "sh", &file.to_string_lossy()].map(str::to_owned);
        let (process, stream) = Process::start(&words, false).unwrap();
        // The stream stays open: the end of stdin must not be what ends them.
        std::mem::forget(stream);
        process
    }

    /// Waits for the file, and returns the process that is left behind, and its parent.
    async fn pids(file: &Path) -> Vec<Pid> {
        let written = async {
            while !file.exists() {
                yield_now().await;
            }
        };
        soon(written).await;
        let text = std::fs::read_to_string(file).unwrap();
        text.lines().map(|pid| Pid::from_raw(pid.parse().unwrap()).unwrap()).collect()
    }

    /// Waits until none of these processes is left, or is a zombie that its new parent has not reaped.
    async fn gone(pids: &[Pid]) {
        let gone = async {
            let lives = |pid: &Pid| {
                let id = pid.as_raw_nonzero().get().cast_unsigned();
                test_kill_process(*pid).is_ok() && askbridge_os::processes::is_running(id)
            };
            while pids.iter().any(lives) {
                yield_now().await;
            }
        };
        soon(gone).await;
    }

    #[tokio::test]
    async fn nothing_that_a_command_started_outlives_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pids");
        let process = started(&file);
        let pids = pids(&file).await;
        assert_eq!(pids.len(), 2);
        let begun = Instant::now();
        let ended = soon(process.end()).await;
        assert_eq!(ended.code, None, "it did not end by itself");
        gone(&pids).await;
        assert!(begun.elapsed() >= limits::TERMINATE, "a stubborn process has its time to end");
    }

    #[tokio::test]
    async fn a_dropped_command_ends_with_what_it_started() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pids");
        let process = started(&file);
        let pids = pids(&file).await;
        drop(process);
        gone(&pids).await;
    }

    #[test]
    fn the_end_of_the_runtime_ends_them_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pids");
        let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let first = runtime();
        let pids = first.block_on(async {
            let process = started(&file);
            let pids = pids(&file).await;
            // The task that waits for them is not run any more.
            drop(process);
            pids
        });
        drop(first);
        runtime().block_on(gone(&pids));
    }
}
