//! The ways to a machine: a command, whose process speaks with it, or a task of this process.

use std::{fmt, future::pending, io, pin::Pin, sync::Arc, time::Duration};

use tokio::{
    io::{AsyncRead, AsyncWrite, DuplexStream, duplex},
    task::JoinHandle,
    time::timeout,
};

use super::{failure::Ended, process::Process};
use crate::limits;

/// What ssh runs on the machine. A shell that ssh starts reads no profile, so that the places where installers put
/// programs are often missing in its `PATH`.
const DIAL: &str = "sh -c 'PATH=\"$PATH:$HOME/.local/bin:$HOME/.cargo/bin:/usr/local/bin:/opt/homebrew/bin\" \
                    exec askbridge dial'";
/// ssh notices a dead connection after 45 s, and gives up a new one after 10 s.
const OPTIONS: [&str; 6] =
    ["-o", "ServerAliveInterval=15", "-o", "ServerAliveCountMax=3", "-o", "ConnectTimeout=10"];

/// How long an ended task may take to say why.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// A stream whose other end is an `askbridge dial`, or something that greets and speaks like one.
pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send> Stream for T {}

/// A way to a machine that is no command.
pub trait Dial: fmt::Debug + Send + Sync {
    /// Carries bytes between the machine and this stream until one of them ends, and returns why it did.
    fn carry(&self, stream: DuplexStream) -> Pin<Box<dyn Future<Output = String> + Send>>;

    /// Waits until the machine says that it can be reached again, which makes a pause pointless. By default, none does.
    fn revived(&self) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(pending())
    }
}

/// A way to a machine.
#[derive(Clone, Debug)]
pub struct Route(Way);

#[derive(Clone, Debug)]
enum Way {
    /// The command, and whether a person is at its terminal.
    Command(Vec<String>, bool),
    Dial(Arc<dyn Dial>),
}

impl PartialEq for Route {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Way::Command(..), Way::Dial(_)) | (Way::Dial(_), Way::Command(..)) => false,
            (Way::Command(one, at_terminal), Way::Command(other, other_at)) => {
                (one, at_terminal) == (other, other_at)
            }
            // A dial does not say where it leads, so two are the same way only if they are one object.
            (Way::Dial(one), Way::Dial(other)) => Arc::ptr_eq(one, other),
        }
    }
}

impl Route {
    /// Returns the route over the user's own ssh to this host. Without a terminal, ssh must not ask for a password.
    pub fn ssh(host: &str, has_terminal: bool) -> Self {
        let mut words = vec!["ssh", "-T"];
        words.extend(OPTIONS);
        // At a terminal, ssh asks there. Its other messages go there as well, and not through our pipe: each stands
        // above the question that follows it.
        words.extend(if has_terminal { ["-E", "/dev/tty"] } else { ["-o", "BatchMode=yes"] });
        // Behind `--`, ssh cannot take the host for an option.
        words.extend(["--", host, DIAL]);
        Route::command(words.into_iter().map(str::to_owned).collect(), has_terminal)
    }

    /// Returns the route by a command of the user's.
    pub fn command(words: Vec<String>, has_terminal: bool) -> Self {
        Route(Way::Command(words, has_terminal))
    }

    /// Returns the route that a task of this process serves. It equals its clones alone.
    pub fn dial(dial: Arc<dyn Dial>) -> Self {
        Route(Way::Dial(dial))
    }

    /// Waits until the machine says that it can be reached again. Behind a command, none does.
    pub(super) async fn revived(&self) {
        match &self.0 {
            Way::Command(..) => pending().await,
            Way::Dial(dial) => dial.revived().await,
        }
    }

    /// Starts the command or the task.
    pub(super) fn start(&self) -> io::Result<Running> {
        match &self.0 {
            Way::Command(words, has_terminal) => {
                let named = |error: io::Error| {
                    let program = words.first().map(String::as_str).unwrap_or_default();
                    io::Error::new(error.kind(), format!("{program}: {error}"))
                };
                let (process, stream) = Process::start(words, *has_terminal).map_err(named)?;
                Ok(Running { stream: Some(Box::new(stream)), carrier: Carrier::Process(Box::new(process)) })
            }
            Way::Dial(dial) => {
                let (ours, theirs) = duplex(limits::remote::STREAM);
                let carrying = tokio::spawn(dial.carry(theirs));
                Ok(Running { stream: Some(Box::new(ours)), carrier: Carrier::Task(carrying) })
            }
        }
    }
}

/// The process or the task of a route. A process ends when this is dropped, a task once its stream is.
pub(super) struct Running {
    stream: Option<Box<dyn Stream>>,
    carrier: Carrier,
}

enum Carrier {
    Process(Box<Process>),
    Task(JoinHandle<String>),
}

impl Running {
    /// Returns the stream to the machine, once.
    pub(super) fn stream(&mut self) -> Option<Box<dyn Stream>> {
        self.stream.take()
    }

    /// Ends the process or the task if it still runs, and returns the reason that it gave.
    pub(super) async fn end(self) -> Ended {
        match self.carrier {
            Carrier::Process(process) => process.end().await,
            Carrier::Task(task) => {
                let said = timeout(LAST_WORDS, task).await.ok().and_then(Result::ok).unwrap_or_default();
                Ended { said: said.into_bytes(), is_ours: true, ..Ended::default() }
            }
        }
    }
}
