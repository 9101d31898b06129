//! Starts a subject with its agent, reads and writes as their client, and kills them after a timeout.
//! The messages are left to `measure`.

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
    lines::{self, Speech, Tally},
    procfs::{self, Memory},
    subscribers::{self, Subscribers},
};

/// The largest read of the output: more than the buffer of a pipe or a socket.
const READ: usize = 256 << 10;
/// How long a failed subject may take to end, so that the error can show its exit status.
const EXIT_TIMEOUT: Duration = Duration::from_millis(500);

/// A running proxy with its agent, or an agent alone, which is killed on drop.
pub(crate) struct Subject {
    kind: Kind,
    child: Arc<Mutex<Child>>,
    input: Box<dyn Write>,
    output: BufReader<Box<dyn Read>>,
    began: Instant,
    limit: Duration,
    _watch: SyncSender<()>,
}

/// Runs `work` with a subject. The whole run, the end of the subject included, may take `limit`.
pub(crate) fn with<T>(
    kind: Kind,
    channel: Channel,
    speech: Speech,
    agent: &[String],
    limit: Duration,
    work: impl FnOnce(&mut Subject) -> io::Result<T>,
) -> io::Result<T> {
    let mut subject = Subject::start(kind, channel, speech, agent, limit)?;
    let worked = work(&mut subject).and_then(|value| subject.finish().map(|()| value));
    worked.map_err(|error| subject.explain(&error))
}

impl Subject {
    fn start(
        kind: Kind,
        channel: Channel,
        speech: Speech,
        agent: &[String],
        limit: Duration,
    ) -> io::Result<Self> {
        let command = kind.command(speech, agent)?;
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

    /// Attaches subscribers to its questions, if it has an inbox.
    pub(crate) fn follow(&self, count: usize) -> io::Result<Option<Subscribers>> {
        if self.kind != Kind::Bridge || count == 0 {
            return Ok(None);
        }
        subscribers::attach(&subscribers::folder()?, count).map(Some)
    }

    /// Returns the time of the start.
    pub(crate) fn began(&self) -> Instant {
        self.began
    }

    /// Returns the writer of the agent's input.
    pub(crate) fn input(&mut self) -> &mut dyn Write {
        &mut self.input
    }

    /// Reads the next line into `line`.
    pub(crate) fn read_line(&mut self, line: &mut Vec<u8>) -> io::Result<()> {
        line.clear();
        self.output.read_until(b'\n', line)?;
        if line.last() == Some(&b'\n') { Ok(()) } else { Err(io::Error::other("the output ended")) }
    }

    /// Reads the next line, which must contain `part`.
    pub(crate) fn expect_line(&mut self, part: &str) -> io::Result<Vec<u8>> {
        let mut line = Vec::new();
        self.read_line(&mut line)?;
        if lines::has(&line, part) {
            return Ok(line);
        }
        Err(io::Error::other(format!("no {part} in {}", lines::excerpt(&line))))
    }

    /// Reads until `total` bytes have come, without copying them out of the buffer.
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

    /// Returns the CPU time of the proxy, without its agent.
    pub(crate) fn cpu(&self) -> Option<Duration> {
        procfs::cpu(self.proxy()?)
    }

    /// Returns the memory of the proxy, without its agent.
    pub(crate) fn memory(&self) -> Option<Memory> {
        procfs::memory(self.proxy()?)
    }

    fn proxy(&self) -> Option<u32> {
        (self.kind != Kind::Direct).then(|| self.child().id())
    }

    fn child(&self) -> MutexGuard<'_, Child> {
        self.child.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Closes the subject's input, and checks that it then ends with success and without further output.
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

    /// Waits for the end by polling: its output has ended already, so it ends soon.
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

    /// Returns an error with the state of the subject.
    fn explain(&mut self, error: &io::Error) -> io::Error {
        let status = match self.wait(EXIT_TIMEOUT) {
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
        // Both fail only if the child has ended already.
        drop(child.kill());
        drop(child.wait());
    }
}

/// Pins this process and its children to the last allowed CPU; the first CPU serves the most interrupts.
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

/// Does nothing, because other systems have no such call.
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

/// Starts the command as Node's `spawn` does. Dropping the command at the end closes our copies of the far ends.
fn spawn_on_sockets(mut command: Command) -> io::Result<Started> {
    let (input, its_stdin) = UnixStream::pair()?;
    let (output, its_stdout) = UnixStream::pair()?;
    let child = command.stdin(OwnedFd::from(its_stdin)).stdout(OwnedFd::from(its_stdout)).spawn()?;
    Ok((child, Box::new(input), Box::new(output)))
}

/// Kills the child after `limit`, unless the returned sender is dropped before.
///
/// `Child::kill` does not signal a child that was waited for, whose process ID could be in use again.
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
