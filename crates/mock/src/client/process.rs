//! The peer's process and its pipes. One channel carries the events of the pipes and of the keyboard.
//! The meaning of the lines is left to `conversation.rs`.

use std::{
    io::{self, Read, Write},
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    thread,
    time::Duration,
};

use askbridge_os::keyboard;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use crate::lines::{LineReader, WireTrace};

/// The capacity of the event channel. When it is full, the readers block, and so does the child.
const EVENTS: usize = 64;

/// An event of the client.
#[derive(Debug)]
pub(super) enum ClientEvent {
    /// The child wrote a line.
    Line(Vec<u8>),
    /// The child wrote a line on stderr.
    Stderr(Vec<u8>),
    /// The child has ended, and all its lines have been delivered.
    Ended,
    /// The requested line was typed; `None` if stdin has ended.
    Typed(Option<String>),
    /// This many lines were typed at once: a paste, of which nothing is taken.
    Pasted(usize),
}

/// Where typed lines come from.
pub(crate) enum TypedLines {
    /// A person at the terminal on stdin.
    Terminal,
    /// A program, or nobody.
    Input(Box<dyn Read + Send>),
}

/// The child process and its events.
pub(crate) struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
    events: Receiver<ClientEvent>,
    keyboard: SyncSender<()>,
    keyboard_asked: bool,
    /// Whether the child's stderr is read.
    pub(super) reads_stderr: bool,
}

impl Process {
    /// Starts the command, and the threads that read from it. One thread reads a line of `typed` for each request.
    /// Another reads the command's stderr, if it is a pipe.
    pub(crate) fn start(command: &mut Command, typed: TypedLines) -> io::Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (sender, events) = sync_channel(EVENTS);
        let (keyboard, asked) = sync_channel(1);
        let stdin = child.stdin.take();
        // The system has signed process IDs; only the standard library makes them unsigned.
        if let (Some(stdout), Some(pid)) = (child.stdout.take(), Pid::from_raw(child.id().cast_signed())) {
            let sender = sender.clone();
            thread::spawn(move || read_child(stdout, pid, &sender));
        }
        let stderr = child.stderr.take();
        let reads_stderr = stderr.is_some();
        if let Some(stderr) = stderr {
            let sender = sender.clone();
            thread::spawn(move || read_stderr(stderr, &sender));
        }
        // This thread is never joined: it may wait for a line until the process ends.
        thread::spawn(move || read_typed(typed, &asked, &sender));
        Ok(Self { child, stdin, events, keyboard, keyboard_asked: false, reads_stderr })
    }

    /// Writes a line. An error is ignored, because [`ClientEvent::Ended`] follows and says more.
    pub(super) fn send(&mut self, line: &[u8]) {
        let Some(stdin) = &mut self.stdin else { return };
        let written = stdin.write_all(line).and_then(|()| stdin.write_all(b"\n"));
        if written.is_err() {
            self.stdin = None;
        }
    }

    /// Requests one typed line, unless a request is pending.
    pub(super) fn ask_keyboard(&mut self) {
        if !self.keyboard_asked {
            self.keyboard_asked = self.keyboard.try_send(()).is_ok();
        }
    }

    /// Waits for the next event, without a limit if no time is given.
    pub(super) fn next_event(&mut self, within: Option<Duration>) -> Option<ClientEvent> {
        let event = match within {
            None => self.events.recv().map_err(RecvTimeoutError::from),
            Some(time) => self.events.recv_timeout(time),
        };
        match event {
            Ok(event) => {
                self.keyboard_asked &= !matches!(event, ClientEvent::Typed(_) | ClientEvent::Pasted(_));
                Some(event)
            }
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(ClientEvent::Ended),
        }
    }

    /// Closes the child's stdin, which asks it to end.
    pub(super) fn close(&mut self) {
        self.stdin = None;
    }

    /// Sends SIGTERM to the child. An error means that it has ended already.
    pub(super) fn terminate(&self) {
        if let Some(pid) = Pid::from_raw(self.child.id().cast_signed()) {
            kill_process(pid, Signal::TERM).unwrap_or_default();
        }
    }

    /// Returns the child's exit status, and kills it if it has not ended.
    pub(super) fn finish(mut self) -> io::Result<ExitStatus> {
        self.reap()
    }

    fn reap(&mut self) -> io::Result<ExitStatus> {
        if self.child.try_wait()?.is_none() {
            self.child.kill()?;
        }
        self.child.wait()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // An error cannot be reported from here.
        self.reap().map(drop).unwrap_or_default();
    }
}

/// Forwards the child's lines, and its end once it can be reaped without blocking.
fn read_child(stdout: ChildStdout, pid: Pid, events: &SyncSender<ClientEvent>) {
    let mut input = LineReader::new(stdout, WireTrace::default());
    while let Ok(Some(line)) = input.next_line() {
        if events.send(ClientEvent::Line(line.to_owned())).is_err() {
            return;
        }
    }
    // NOWAIT leaves the zombie to `Process`, which reaps it; an error means that it did so already.
    waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).map(drop).unwrap_or_default();
    events.send(ClientEvent::Ended).unwrap_or_default();
}

/// Forwards the child's stderr.
fn read_stderr(stderr: ChildStderr, events: &SyncSender<ClientEvent>) {
    let mut input = LineReader::new(stderr, WireTrace::default());
    while let Ok(Some(line)) = input.next_line() {
        if events.send(ClientEvent::Stderr(line.to_owned())).is_err() {
            return;
        }
    }
}

/// Reads one line for each request, and none ahead, so that input after the demo is left to the shell.
fn read_typed(typed: TypedLines, asked: &Receiver<()>, events: &SyncSender<ClientEvent>) {
    let (input, is_terminal): (Box<dyn Read + Send>, _) = match typed {
        TypedLines::Terminal => (Box::new(io::stdin()), true),
        TypedLines::Input(input) => (input, false),
    };
    let mut input = LineReader::new(input, WireTrace::default());
    while let Ok(()) = asked.recv() {
        let line = match input.next_line() {
            Ok(Some(line)) => Some(String::from_utf8_lossy(line).into_owned()),
            Ok(None) | Err(_) => None,
        };
        let mut count = 1;
        // Lines that come at once are a paste: none of them answers a question that it was not typed for.
        while line.is_some() && is_terminal && keyboard::more_lines() {
            match input.next_line() {
                Ok(Some(_)) => count += 1,
                Ok(None) | Err(_) => break,
            }
        }
        let event = if count > 1 { ClientEvent::Pasted(count) } else { ClientEvent::Typed(line) };
        if events.send(event).is_err() {
            return;
        }
    }
}
