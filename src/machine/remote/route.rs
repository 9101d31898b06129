//! The command that reaches a machine, and its process.

use std::{
    io::{self, Write},
    os::{fd::OwnedFd, unix::net::UnixStream as StdStream},
    process::{ExitStatus, Stdio},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use askbridge_os::terminal::printable;
use tokio::{
    io::AsyncReadExt,
    net::UnixStream,
    process::{Child, ChildStderr, Command},
    task::JoinHandle,
    time::timeout,
};

use super::failure::{Ended, tail_of};

/// What ssh runs on the machine. A shell that ssh starts reads no profile, so that the places where installers put
/// programs are often missing in its `PATH`.
const DIAL: &str = "sh -c 'PATH=\"$PATH:$HOME/.local/bin:$HOME/.cargo/bin:/usr/local/bin:/opt/homebrew/bin\" \
                    exec askbridge dial'";
/// ssh notices a dead connection after 45 s, and gives up a new one after 10 s.
const OPTIONS: [&str; 6] =
    ["-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=3", "-o", "ConnectTimeout=10"];

/// How long an ended process may take to say why.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// A command that reaches a machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    words: Vec<String>,
    has_terminal: bool,
}

impl Route {
    /// Returns the route over the user's own ssh to this host. Without a terminal, ssh must not ask for a password.
    pub fn ssh(host: &str, has_terminal: bool) -> Self {
        let mut words = vec!["ssh", "-T"];
        words.extend(OPTIONS);
        if !has_terminal {
            words.extend(["-o", "BatchMode=yes"]);
        }
        // Behind `--`, a host is no option.
        words.extend(["--", host, DIAL]);
        Route { words: words.into_iter().map(str::to_owned).collect(), has_terminal }
    }

    /// Returns the route by a command of the user's.
    pub fn command(words: Vec<String>, has_terminal: bool) -> Self {
        Route { words, has_terminal }
    }

    /// Starts the command.
    pub(super) fn start(&self) -> io::Result<Running> {
        let Some((program, arguments)) = self.words.split_first() else {
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
        if !self.has_terminal {
            // Ctrl-C in the terminal is for the command that the person typed.
            command.process_group(0);
        }
        let mut child = command.spawn()?;
        let said = Arc::new(Mutex::new(Vec::new()));
        let reader = child.stderr.take().map(|stderr| {
            let (said, is_shown) = (Arc::clone(&said), self.has_terminal);
            tokio::spawn(async move { read(stderr, &said, is_shown).await })
        });
        Ok(Running { child, stream: Some(UnixStream::from_std(ours)?), said, reader })
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

/// The process of a route. It is killed when this is dropped.
#[derive(Debug)]
pub(super) struct Running {
    child: Child,
    stream: Option<UnixStream>,
    said: Arc<Mutex<Vec<u8>>>,
    reader: Option<JoinHandle<()>>,
}

impl Running {
    /// Returns its stdin and stdout, once.
    pub(super) fn stream(&mut self) -> Option<UnixStream> {
        self.stream.take()
    }

    /// Ends the process, if it has not ended by itself, and returns what it said of why.
    pub(super) async fn end(mut self) -> Ended {
        let status = timeout(LAST_WORDS, self.child.wait()).await.ok().and_then(Result::ok);
        drop(self.child.start_kill());
        // A process that it left behind may keep stderr open.
        if let Some(reader) = self.reader.take() {
            timeout(LAST_WORDS, reader).await.map(drop).unwrap_or_default();
        }
        let said = std::mem::take(&mut *self.said.lock().unwrap_or_else(PoisonError::into_inner));
        Ended { code: status.and_then(|status: ExitStatus| status.code()), said }
    }
}
