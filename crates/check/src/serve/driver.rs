//! Who answers the questions that a client shows: nobody, the client itself, or a command that drives the client in the place
//! of a person.

use std::{
    ffi::OsString,
    io::{self, Write},
    os::unix::process::CommandExt,
    process::{Child, Command, Stdio},
    thread,
};

use rustix::process::{Pid, Signal, kill_process_group};

/// Who answers the questions that a client shows.
#[derive(Clone, Debug, Default)]
pub struct Persons {
    /// A command of the shell that is run when a question is open. The request is on its stdin.
    pub command: Option<OsString>,
    /// Whether the client answers by itself, by design.
    pub is_automatic: bool,
}

/// A running command, which ends with the question that it answers.
#[derive(Debug)]
pub(super) struct Driver(Child);

impl Driver {
    /// Starts the command, with the agent's request on its stdin.
    pub(super) fn start(command: &OsString, request: &str) -> io::Result<Self> {
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(command).process_group(0);
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = shell.spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            let request = format!("{request}\n");
            // The thread waits in the place of the checker for a command that does not read its stdin.
            thread::spawn(move || stdin.write_all(request.as_bytes()).unwrap_or_default());
        }
        Ok(Self(child))
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // It is reaped only afterwards, so that its ID is its own.
        if let Some(pid) = Pid::from_raw(self.0.id().cast_signed()) {
            kill_process_group(pid, Signal::KILL).unwrap_or_default();
        }
        self.0.wait().map(drop).unwrap_or_default();
    }
}
