//! The bridge around an agent as a process, with the transcript of its stdin, stdout and stderr.

use std::{
    collections::VecDeque,
    os::{fd::OwnedFd, unix::net::UnixStream as StdUnixStream},
    process::{ExitStatus, Stdio},
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite},
    net::UnixStream,
    process::{Child, Command},
    task::JoinHandle,
    time::timeout,
};
use tokio_util::io::{InspectReader, InspectWriter};

/// The hang guard of every wait: far more than a passing test needs, also on a slow machine.
pub(crate) const DEADLINE: Duration = Duration::from_secs(120);
const LONGEST_TRANSCRIPT: usize = 200;

pub(crate) type Reader = Box<dyn AsyncRead + Send + Unpin>;
pub(crate) type Writer = Box<dyn AsyncWrite + Send + Unpin>;

/// The type of the bridge's stdin and stdout.
#[derive(Clone, Copy)]
pub(crate) enum Ends {
    Pipes,
    /// Two sockets, as Node gives them to a child.
    Sockets,
}

/// A running bridge, which is killed on drop.
pub(crate) struct Bridge {
    child: Child,
    stderr: JoinHandle<String>,
    pub(crate) transcript: Transcript,
}

impl Bridge {
    /// Starts `askbridge run` around an agent. Returns it with the client's ends of its stdin and stdout.
    pub(crate) fn start(agent: &[&str], ends: Ends) -> (Self, Writer, Reader) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_askbridge"));
        // Keeps the questions out of the inbox of the user who runs the tests.
        command.env("XDG_RUNTIME_DIR", env!("CARGO_TARGET_TMPDIR")).env("ASKBRIDGE_JOURNAL_ENABLED", "false");
        // The client takes native requests, although it declares nothing.
        command
            .args(["run", "--client-questions", "native", "--"])
            .args(agent)
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        let (mut child, stdin, stdout) = match ends {
            Ends::Pipes => {
                let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
                let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
                (child, Box::new(stdin) as Writer, Box::new(stdout) as Reader)
            }
            Ends::Sockets => {
                let ((stdin, its_stdin), (stdout, its_stdout)) = (socket(), socket());
                let child = command.stdin(its_stdin).stdout(its_stdout).spawn().unwrap();
                (child, Box::new(stdin) as Writer, Box::new(stdout) as Reader)
            }
        };
        // The command holds the bridge's ends of the sockets: with them open, the client would see no end of stdout.
        drop(command);
        let transcript = Transcript::default();
        let (sent, said, complained) = (transcript.clone(), transcript.clone(), transcript.clone());
        let stdin = InspectWriter::new(stdin, move |bytes| sent.note(">", bytes));
        let stdout = InspectReader::new(stdout, move |bytes| said.note("<", bytes));
        let stderr = child.stderr.take().unwrap();
        let mut stderr = InspectReader::new(stderr, move |bytes| complained.note("!", bytes));
        let stderr = tokio::spawn(async move {
            let mut text = String::new();
            stderr.read_to_string(&mut text).await.map_or_else(|error| error.to_string(), |_| text)
        });
        (Self { child, stderr, transcript }, Box::new(stdin), Box::new(stdout))
    }

    /// Waits for the end of the process. Returns its exit status and its stderr.
    pub(crate) async fn end(mut self) -> (ExitStatus, String) {
        let ended = async { (self.child.wait().await.unwrap(), (&mut self.stderr).await.unwrap()) };
        match timeout(DEADLINE, ended).await {
            Ok(ended) => ended,
            Err(_) => self.transcript.fail("waited too long for the end of the bridge"),
        }
    }
}

fn socket() -> (UnixStream, OwnedFd) {
    let (ours, its) = StdUnixStream::pair().unwrap();
    ours.set_nonblocking(true).unwrap();
    (UnixStream::from_std(ours).unwrap(), its.into())
}

/// The bytes of the three streams, in the order in which they came.
#[derive(Clone, Default)]
pub(crate) struct Transcript(Arc<Mutex<VecDeque<String>>>);

impl Transcript {
    fn note(&self, direction: &str, bytes: &[u8]) {
        let text = String::from_utf8_lossy(bytes);
        let mut entries = self.0.lock().unwrap();
        match entries.back_mut() {
            Some(last) if last.starts_with(direction) && !last.ends_with('\n') => last.push_str(&text),
            _ => entries.push_back(format!("{direction} {text}")),
        }
        if entries.len() > LONGEST_TRANSCRIPT {
            entries.pop_front();
        }
    }

    /// Fails the test and shows the transcript so far.
    pub(crate) fn fail(&self, why: &str) -> ! {
        let entries: String = self.0.lock().unwrap().iter().map(String::as_str).collect();
        panic!("{why}\n--- transcript ---\n{entries}");
    }
}
