//! Starts a subject with its agent, talks to both as their client, and sees to it that they end.
//! Does not know what is said; a wait that never ends is ended here, by killing the subject.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    os::{fd::OwnedFd, unix::net::UnixStream},
    process::{Child, Command, ExitStatus, Stdio},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        mpsc::{RecvTimeoutError, SyncSender, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use crate::{
    kind::{Channel, Kind},
    lines::{self, Tally},
    procfs,
    subscribers::{self, Subscribers},
};

/// How much of the output is read at a time, at most: more than a pipe or a socket holds.
const READ: usize = 256 << 10;
/// How long a subject that broke off may take to end, so that its exit status can be told.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// A running proxy with its agent, or an agent alone; dropping it kills it.
pub(crate) struct Subject {
    kind: Kind,
    child: Arc<Mutex<Child>>,
    input: Box<dyn Write>,
    output: BufReader<Box<dyn Read>>,
    began: Instant,
    limit: Duration,
    _watch: SyncSender<()>,
}

/// Runs `work` with a subject; all of it, the subject's end included, within `limit`.
pub(crate) fn with<T>(
    kind: Kind,
    channel: Channel,
    agent: &[String],
    limit: Duration,
    work: impl FnOnce(&mut Subject) -> io::Result<T>,
) -> io::Result<T> {
    let mut subject = Subject::start(kind, channel, agent, limit)?;
    let worked = work(&mut subject).and_then(|value| subject.finish().map(|()| value));
    worked.map_err(|error| subject.explain(&error))
}

impl Subject {
    fn start(kind: Kind, channel: Channel, agent: &[String], limit: Duration) -> io::Result<Self> {
        let command = kind.command(agent)?;
        let began = Instant::now();
        let (child, input, output) = match channel {
            Channel::Pipes => spawn_on_pipes(command)?,
            Channel::Sockets => spawn_on_sockets(command)?,
        };
        let child = Arc::new(Mutex::new(child));
        let watch = kill_after(limit, Arc::clone(&child));
        let output = BufReader::with_capacity(READ, output);
        Ok(Subject { kind, child, input, output, began, limit, _watch: watch })
    }

    /// Has so many others follow its questions, where there is an inbox for that.
    pub(crate) fn follow(&self, count: usize) -> io::Result<Option<Subscribers>> {
        if self.kind != Kind::Bridge || count == 0 {
            return Ok(None);
        }
        subscribers::attach(&subscribers::folder()?, count).map(Some)
    }

    /// When the subject was started.
    pub(crate) fn began(&self) -> Instant {
        self.began
    }

    /// Where to write what the agent is to read.
    pub(crate) fn input(&mut self) -> &mut dyn Write {
        &mut self.input
    }

    /// Puts the next line in the place of `line`.
    pub(crate) fn read_line(&mut self, line: &mut Vec<u8>) -> io::Result<()> {
        line.clear();
        self.output.read_until(b'\n', line)?;
        if line.last() == Some(&b'\n') { Ok(()) } else { Err(io::Error::other("the output ended")) }
    }

    /// Reads the next line, which must have `part` in it.
    pub(crate) fn expect_line(&mut self, part: &str) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        self.read_line(&mut line)?;
        if lines::has(&line, part) {
            return Ok(line);
        }
        Err(io::Error::other(format!("no {part} in {}", lines::excerpt(&line))))
    }

    /// Reads until `total` bytes came, from the buffer that they were read into.
    pub(crate) fn drain(&mut self, total: u64, tally: &mut Tally) -> io::Result<()> {
        while tally.bytes < total {
            let bytes = self.output.fill_buf()?;
            if bytes.is_empty() {
                return Err(io::Error::other(format!("{} of {total} bytes came", tally.bytes)));
            }
            let length = bytes.len();
            tally.add(bytes);
            self.output.consume(length);
        }
        Ok(())
    }

    /// The time that the proxy itself has spent on a CPU, without its agent.
    pub(crate) fn cpu(&self) -> Option<Duration> {
        procfs::cpu(self.proxy()?)
    }

    /// The most memory that the proxy itself had, in bytes.
    pub(crate) fn peak_memory(&self) -> Option<u64> {
        procfs::peak_memory(self.proxy()?)
    }

    fn proxy(&self) -> Option<u32> {
        (self.kind != Kind::Direct).then(|| self.child().id())
    }

    fn child(&self) -> MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends the subject's input, and checks that it then ends well and without another word.
    fn finish(&mut self) -> io::Result<()> {
        self.input = Box::new(io::sink());
        let mut rest = Vec::new();
        self.output.read_to_end(&mut rest)?;
        if !rest.is_empty() {
            return Err(io::Error::other(format!("{} bytes too many came", rest.len())));
        }
        match self.wait(self.limit)? {
            Some(status) if status.success() => Ok(()),
            _ => Err(io::Error::other("it did not end well")),
        }
    }

    /// Its output has ended when this is called, so it is not long until it has ended itself.
    fn wait(&self, limit: Duration) -> io::Result<Option<ExitStatus>> {
        let began = Instant::now();
        loop {
            match self.child().try_wait()? {
                None if began.elapsed() < limit => {}
                status => return Ok(status),
            }
            thread::sleep(Duration::from_micros(500));
        }
    }

    /// What went wrong, and how the subject is doing.
    fn explain(&mut self, error: &io::Error) -> io::Error {
        let status = match self.wait(LAST_WORDS) {
            _ if self.began.elapsed() >= self.limit => format!("killed after {:?}", self.limit),
            Ok(Some(status)) => status.to_string(),
            Ok(None) => "it was still running".to_owned(),
            Err(error) => error.to_string(),
        };
        io::Error::other(format!("{error} ({status})"))
    }
}

impl Drop for Subject {
    fn drop(&mut self) {
        let mut child = self.child();
        // Both fail only for a child that is gone already, which is what is wanted.
        drop(child.kill());
        drop(child.wait());
    }
}

/// Keeps us, and all that we start from now on, on the last CPU that we may use; the first one has the most
/// interrupts to serve.
#[cfg(target_os = "linux")]
pub(crate) fn stay_on_one_cpu() -> io::Result<()> {
    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
    let allowed = sched_getaffinity(None)?;
    let mut one = CpuSet::new();
    if let Some(last) = (0..CpuSet::MAX_CPU).rev().find(|&cpu| allowed.is_set(cpu)) {
        one.set(last);
        sched_setaffinity(None, &one)?;
    }
    Ok(())
}

/// Other systems have no such wish to be granted.
#[cfg(not(target_os = "linux"))]
pub(crate) fn stay_on_one_cpu() -> io::Result<()> {
    Ok(())
}

type Started = (Child, Box<dyn Write>, Box<dyn Read>);

fn spawn_on_pipes(mut command: Command) -> io::Result<Started> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (input, output) =
        child.stdin.take().zip(child.stdout.take()).ok_or_else(|| io::Error::other("no pipes"))?;
    Ok((child, Box::new(input), Box::new(output)))
}

/// As Node's `spawn` does it. The command is dropped at the end, and with it our copies of the far ends.
fn spawn_on_sockets(mut command: Command) -> io::Result<Started> {
    let (input, its_stdin) = UnixStream::pair()?;
    let (output, its_stdout) = UnixStream::pair()?;
    let child = command.stdin(OwnedFd::from(its_stdin)).stdout(OwnedFd::from(its_stdout)).spawn()?;
    Ok((child, Box::new(input), Box::new(output)))
}

/// Kills the child once `limit` is over, unless what is returned is dropped before.
/// A child that was waited for is not killed: its number may be somebody else's by then.
fn kill_after(limit: Duration, child: Arc<Mutex<Child>>) -> SyncSender<()> {
    let (watch, dropped) = sync_channel(0);
    thread::spawn(move || {
        if dropped.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
            let mut child = child.lock().unwrap_or_else(PoisonError::into_inner);
            drop(child.kill());
        }
    });
    watch
}
