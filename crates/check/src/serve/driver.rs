//! Who answers the questions that a client shows: nobody, the client itself, or a command that drives the client in the place
//! of a person.
//! When the command is run is left to `perform.rs`.

use std::{
    ffi::OsString,
    fs::{self, File},
    io::{self, Write},
    os::unix::process::CommandExt,
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread,
};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::peer::Surroundings;

/// Who answers the questions that a client shows.
#[derive(Clone, Debug, Default)]
pub struct Persons {
    /// A command of the shell that is run for each request that waits for an answer. The request is on its stdin.
    pub command: Option<OsString>,
    /// Whether the client answers by itself, by design.
    pub is_automatic: bool,
}

/// A command that drives the client. What it started ends with it.
#[derive(Debug)]
pub(super) struct Driver {
    child: Child,
    /// The ID of the request that it answers.
    pub(super) id: String,
    /// What it wrote to stderr.
    words: PathBuf,
}

/// How far a driver is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    Runs,
    /// It exited with 0.
    Done,
    /// It ended in another way, as a command that cannot give such an answer does.
    Failed,
}

impl Driver {
    /// Starts the command, with the agent's request on its stdin, and the private folder of the client.
    pub(super) fn start(
        command: &OsString,
        id: &str,
        request: &str,
        around: Surroundings<'_>,
    ) -> io::Result<Self> {
        let words = around.folder.join("driver");
        let mut shell = Command::new("sh");
        shell.arg("-c").arg(command).process_group(0);
        shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(File::create(&words)?);
        around.surround(&mut shell);
        let mut child = shell.spawn()?;
        if let Some(mut stdin) = child.stdin.take() {
            let request = format!("{request}\n");
            // The thread waits in the place of the checker for a command that does not read its stdin.
            thread::spawn(move || stdin.write_all(request.as_bytes()).unwrap_or_default());
        }
        Ok(Self { child, id: id.to_owned(), words })
    }

    fn pid(&self) -> Option<Pid> {
        Pid::from_raw(self.child.id().cast_signed())
    }

    /// Returns how far the command is.
    pub(super) fn progress(&self) -> Progress {
        // It is not reaped before it is dropped, so that the group is its own.
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        let status = self.pid().and_then(|pid| waitid(WaitId::Pid(pid), options).ok().flatten());
        match status.map(|status| status.exit_status()) {
            None => Progress::Runs,
            Some(Some(0)) => Progress::Done,
            Some(_) => Progress::Failed,
        }
    }

    /// Returns the last line that it wrote to stderr.
    pub(super) fn last_words(&self) -> Option<String> {
        let words = fs::read(&self.words).unwrap_or_default();
        String::from_utf8_lossy(&words).lines().last().map(str::to_owned)
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // It is reaped only afterwards, so that its ID is its own.
        if let Some(pid) = self.pid() {
            kill_process_group(pid, Signal::KILL).unwrap_or_default();
        }
        self.child.wait().map(drop).unwrap_or_default();
    }
}
