//! The agent's process as the client has it: its pipes, and what happens on them in one channel.
//! What the lines say is left to `conversation.rs`.

use std::{
    io::{self, Read, Write},
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, ExitStatus, Stdio},
    sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};

use crate::mock::lines::{Input, Wire};

/// How many lines may wait to be looked at, before the child must wait.
const EVENTS: usize = 64;

/// Everything that can happen to the client.
#[derive(Debug)]
pub(super) enum Event {
    /// The child wrote a line.
    Line(Vec<u8>),
    /// The child said a line on stderr, which is listened to.
    Said(Vec<u8>),
    /// The child has ended, and nothing more will come from it.
    Ended,
    /// The line that was asked for was typed, or stdin has ended.
    Typed(Option<String>),
}

/// The child, and where its lines and ours come together.
pub(in crate::mock) struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
    events: Receiver<Event>,
    keyboard: SyncSender<()>,
    keyboard_asked: bool,
    /// Whether its stderr is listened to.
    pub(super) is_heard: bool,
}

impl Process {
    /// Starts the command, and reads a line of `typed` each time that one is asked for. Its stderr is an event
    /// each line if the command has a pipe for it.
    pub(in crate::mock) fn start(
        command: &mut Command,
        typed: impl Read + Send + 'static,
    ) -> io::Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let (sender, events) = sync_channel(EVENTS);
        let (keyboard, asked) = sync_channel(1);
        let stdin = child.stdin.take();
        if let (Some(stdout), Some(pid)) = (child.stdout.take(), Pid::from_raw(child.id().cast_signed())) {
            let sender = sender.clone();
            thread::spawn(move || read_child(stdout, pid, &sender));
        }
        let stderr = child.stderr.take();
        let is_heard = stderr.is_some();
        if let Some(stderr) = stderr {
            let sender = sender.clone();
            thread::spawn(move || read_stderr(stderr, &sender));
        }
        thread::spawn(move || read_typed(typed, &asked, &sender));
        Ok(Self { child, stdin, events, keyboard, keyboard_asked: false, is_heard })
    }

    /// Writes a line. If the child is gone, its end will be the next event, and says more.
    pub(super) fn send(&mut self, line: &[u8]) {
        let Some(stdin) = &mut self.stdin else { return };
        let written = stdin.write_all(line).and_then(|()| stdin.write_all(b"\n"));
        if written.is_err() {
            self.stdin = None;
        }
    }

    /// Asks for one typed line, unless one was asked for and has not come yet.
    pub(super) fn ask_keyboard(&mut self) {
        if !self.keyboard_asked {
            self.keyboard_asked = self.keyboard.try_send(()).is_ok();
        }
    }

    /// Waits for the next event; for ever, if no time is given.
    pub(super) fn next_event(&mut self, within: Option<Duration>) -> Option<Event> {
        let event = match within {
            None => self.events.recv().map_err(RecvTimeoutError::from),
            Some(time) => self.events.recv_timeout(time),
        };
        match event {
            Ok(event) => {
                self.keyboard_asked &= !matches!(event, Event::Typed(_));
                Some(event)
            }
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => Some(Event::Ended),
        }
    }

    /// Ends the child's stdin, so that it ends as well.
    pub(super) fn close(&mut self) {
        self.stdin = None;
    }

    /// Asks the child to end, whatever it is doing. If that is not possible, it has ended.
    pub(super) fn terminate(&self) {
        if let Some(pid) = Pid::from_raw(self.child.id().cast_signed()) {
            kill_process(pid, Signal::TERM).unwrap_or_default();
        }
    }

    /// Returns how the child ended, and ends it by force if it has not.
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
        // Nobody is left to be told that the child could not be ended.
        self.reap().map(drop).unwrap_or_default();
    }
}

/// Hands on the child's lines, and its end once it can be reaped without waiting.
fn read_child(stdout: ChildStdout, pid: Pid, events: &SyncSender<Event>) {
    let mut input = Input::new(stdout, Wire::default());
    while let Ok(Some(line)) = input.next_line() {
        if events.send(Event::Line(line.to_owned())).is_err() {
            return;
        }
    }
    // The child is left to be reaped by who owns it; an error means that it was already.
    waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT).map(drop).unwrap_or_default();
    events.send(Event::Ended).unwrap_or_default();
}

/// Hands on what the child says on stderr.
fn read_stderr(stderr: ChildStderr, events: &SyncSender<Event>) {
    let mut input = Input::new(stderr, Wire::default());
    while let Ok(Some(line)) = input.next_line() {
        if events.send(Event::Said(line.to_owned())).is_err() {
            return;
        }
    }
}

/// Reads a line each time that one is asked for, and none ahead, so that little is held.
fn read_typed(typed: impl Read, asked: &Receiver<()>, events: &SyncSender<Event>) {
    let mut input = Input::new(typed, Wire::default());
    while let Ok(()) = asked.recv() {
        let line = match input.next_line() {
            Ok(Some(line)) => Some(String::from_utf8_lossy(line).into_owned()),
            Ok(None) | Err(_) => None,
        };
        if events.send(Event::Typed(line)).is_err() {
            return;
        }
    }
}
