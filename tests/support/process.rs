//! A process under test with its three pipes, for tests of the whole program.
//! Every wait has a deadline, and a failure shows the transcript so far.

use std::{
    collections::VecDeque,
    io::{BufRead, BufReader, Read, Write},
    os::unix::process::{CommandExt, ExitStatusExt},
    process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid};

/// The hang guard of every wait: far more than a passing test needs, also on a slow machine.
pub(crate) const DEADLINE: Duration = Duration::from_secs(120);
/// The capacity of the channels for lines to and from the process.
const LINES: usize = 1 << 17;
const LONGEST_TRANSCRIPT: usize = 200;
const LONGEST_SHOWN: usize = 400;
const LONGEST_STDERR: usize = 1 << 16;

/// A child process, which is killed with its process group on drop.
pub(crate) struct Process {
    child: Child,
    stdin: Option<SyncSender<Vec<u8>>>,
    stdout: Receiver<Vec<u8>>,
    stderr: Arc<Stderr>,
    ended: Receiver<ExitStatus>,
    status: Option<ExitStatus>,
    transcript: VecDeque<String>,
}

impl Process {
    /// Starts the command in a process group of its own, with pipes for stdin, stdout and stderr.
    pub(crate) fn spawn(command: &mut Command) -> Self {
        without_settings(command);
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child =
            command.process_group(0).spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let stderr = Arc::new(Stderr::default());
        let (sender, stdout) = sync_channel(LINES);
        let (stdin, receiver) = sync_channel(LINES);
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (errors, shared) = (child.stderr.take().unwrap(), Arc::clone(&stderr));
        thread::spawn(move || write_lines(input, &receiver));
        thread::spawn(move || read_lines(output, &sender));
        thread::spawn(move || shared.read(errors));
        let (end, ended) = sync_channel(1);
        let pid = pid(&child);
        thread::spawn(move || wait_for_end(pid).map(|status| end.send(status)));
        let transcript = VecDeque::new();
        Self { child, stdin: Some(stdin), stdout, stderr, ended, status: None, transcript }
    }

    /// Sends a line and its newline.
    pub(crate) fn send(&mut self, line: &str) {
        self.send_bytes(format!("{line}\n").as_bytes());
    }

    /// Sends bytes as they are.
    pub(crate) fn send_bytes(&mut self, bytes: &[u8]) {
        self.note(">", bytes);
        let stdin = self.stdin.as_ref().expect("stdin was closed by the test");
        match stdin.try_send(bytes.to_owned()) {
            Ok(()) => {}
            Err(TrySendError::Full(_)) => self.fail("the process does not read what is sent"),
            Err(TrySendError::Disconnected(_)) => self.note(">", b"(the process has closed its stdin)"),
        }
    }

    /// Closes the process's stdin once everything that was sent before is written.
    pub(crate) fn close_stdin(&mut self) {
        self.note(">", b"(end)");
        self.stdin = None;
    }

    /// Waits for the next line of stdout. Returns it with its newline, or `None` at the end of stdout.
    pub(crate) fn next_line(&mut self) -> Option<Vec<u8>> {
        self.line_before(Instant::now() + DEADLINE, "the next line")
    }

    /// Waits for a line of stdout that fits, and skips others. Returns it without its newline.
    pub(crate) fn expect(&mut self, what: &str, mut fits: impl FnMut(&str) -> bool) -> String {
        let deadline = Instant::now() + DEADLINE;
        while let Some(line) = self.line_before(deadline, what) {
            let line = String::from_utf8_lossy(&line);
            let line = line.strip_suffix('\n').unwrap_or(&line);
            if fits(line) {
                return line.to_owned();
            }
        }
        self.fail(&format!("stdout ended before {what}"));
    }

    /// Waits until the stderr so far fits, and returns it.
    pub(crate) fn expect_stderr(&self, what: &str, fits: impl Fn(&str) -> bool) -> String {
        let text = self.stderr.text.lock().unwrap();
        let waited = self.stderr.more.wait_timeout_while(text, DEADLINE, |text| !fits(text)).unwrap();
        if waited.1.timed_out() {
            drop(waited);
            self.fail(&format!("stderr did not have {what}"));
        }
        waited.0.clone()
    }

    /// Waits for the end of stderr and returns its text, up to a limit.
    pub(crate) fn whole_stderr(&self) -> String {
        self.expect_stderr("an end", |_| self.stderr.ended.load(Ordering::Relaxed))
    }

    /// Waits for the end of the process and returns its status. Its output can still be read after that.
    pub(crate) fn wait(&mut self) -> ExitStatus {
        if self.status.is_none() {
            self.status = self.ended.recv_timeout(DEADLINE).ok();
        }
        self.status.unwrap_or_else(|| self.fail("waited too long for the end of the process"))
    }

    /// Fails the test and shows the transcript so far.
    pub(crate) fn fail(&self, why: &str) -> ! {
        let transcript: Vec<&str> = self.transcript.iter().map(String::as_str).collect();
        let stderr = self.stderr.text.lock().unwrap();
        panic!("{why}\n--- transcript ---\n{}\n--- stderr ---\n{stderr}", transcript.join("\n"));
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill_process(pid(&self.child), signal).unwrap();
    }

    fn line_before(&mut self, deadline: Instant, what: &str) -> Option<Vec<u8>> {
        match self.stdout.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(line) => {
                self.note("<", &line);
                Some(line)
            }
            Err(RecvTimeoutError::Disconnected) => {
                self.note("<", b"(end)");
                None
            }
            Err(RecvTimeoutError::Timeout) => self.fail(&format!("waited too long for {what}")),
        }
    }

    fn note(&mut self, direction: &str, line: &[u8]) {
        if self.transcript.len() == LONGEST_TRANSCRIPT {
            self.transcript.pop_front();
        }
        let shown = String::from_utf8_lossy(&line[..line.len().min(LONGEST_SHOWN)]);
        self.transcript.push_back(format!("{direction} {}", shown.trim_end_matches('\n')));
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The process was not reaped, so its ID is not reused yet; the signal also reaches the rest of its group.
        kill_process_group(pid(&self.child), Signal::KILL).unwrap_or_default();
        self.child.wait().map(drop).unwrap_or_default();
    }
}

/// Keeps the developer's own settings and sessions out of a test, unless it brings some.
fn without_settings(command: &mut Command) {
    let brought: Vec<_> = command.get_envs().map(|(name, _)| name.to_owned()).collect();
    let elsewhere = env!("CARGO_TARGET_TMPDIR");
    for name in ["XDG_CONFIG_HOME", "HOME", "ASKBRIDGE_RUN_USER"] {
        if !brought.iter().any(|other| other == name) {
            command.env(name, elsewhere);
        }
    }
    let brought: Vec<_> = command.get_envs().map(|(name, _)| name.to_owned()).collect();
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("ASKBRIDGE_") && !brought.contains(&name) {
            command.env_remove(name);
        }
    }
}

fn pid(child: &Child) -> Pid {
    Pid::from_raw(child.id().cast_signed()).expect("no process has the id 0")
}

/// Waits for the end of a process without reaping it.
fn wait_for_end(pid: Pid) -> Option<ExitStatus> {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    let status = waitid(WaitId::Pid(pid), options).ok()??;
    let raw = status.exit_status().map(|code| code << 8).or(status.terminating_signal())?;
    Some(ExitStatus::from_raw(raw))
}

fn write_lines(mut stdin: ChildStdin, lines: &Receiver<Vec<u8>>) {
    while let Ok(line) = lines.recv() {
        if stdin.write_all(&line).is_err() {
            return;
        }
    }
}

fn read_lines(stdout: ChildStdout, lines: &SyncSender<Vec<u8>>) {
    let mut stdout = BufReader::new(stdout);
    loop {
        let mut line = Vec::new();
        match stdout.read_until(b'\n', &mut line) {
            Ok(1..) if lines.send(line).is_ok() => {}
            _ => return,
        }
    }
}

#[derive(Default)]
struct Stderr {
    text: Mutex<String>,
    more: Condvar,
    /// Changed only while the text is locked, so that the condition variable misses no change.
    ended: AtomicBool,
}

impl Stderr {
    /// Reads stderr to its end, so that the process never blocks on it. Keeps the beginning.
    fn read(&self, mut stderr: impl Read) {
        let mut chunk = [0; 4096];
        while let Ok(read @ 1..) = stderr.read(&mut chunk) {
            let mut text = self.text.lock().unwrap();
            if text.len() < LONGEST_STDERR {
                text.push_str(&String::from_utf8_lossy(&chunk[..read]));
            }
            self.more.notify_all();
        }
        let _text = self.text.lock().unwrap();
        self.ended.store(true, Ordering::Relaxed);
        self.more.notify_all();
    }
}

#[test]
fn a_process_is_written_to_read_and_awaited() {
    let mut process = Process::spawn(Command::new("sh").args(["-c", "echo ready >&2; cat; exit 3"]));
    process.expect_stderr("ready", |text| text.contains("ready"));
    process.send("one");
    process.send_bytes(b"two\nthree");
    assert_eq!(process.expect("two", |line| line == "two"), "two");
    process.close_stdin();
    assert_eq!(process.next_line().as_deref(), Some(&b"three"[..]));
    assert_eq!(process.next_line(), None);
    assert_eq!(process.wait().code(), Some(3));
    assert_eq!(process.whole_stderr(), "ready\n");
    assert!(process.id() > 1);

    let mut process = Process::spawn(Command::new("sh").args(["-c", "kill -TERM $$"]));
    assert_eq!(process.wait().signal(), Some(15));
}
