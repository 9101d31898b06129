//! The page beside `askbridge demo`: an inbox of the demo's own, which ends with it, and a browser that shows it.
//! The conversation at the terminal is left to `demo.rs`.

use std::{
    io::{self, BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

use rustix::process::{Pid, Signal, kill_process};

/// What the person is told beside the page.
pub(super) const ELSEWHERE: &str =
    "Answer there, here, or in another terminal with askbridge tui or askbridge next.";

/// An inbox that serves the page.
pub(super) struct Inbox(Child);

impl Inbox {
    /// Starts an inbox on a free port, and waits until it serves.
    pub(super) fn start(program: &Path) -> io::Result<Self> {
        let mut command = Command::new(program);
        command.args(["inbox", "--addr", "127.0.0.1:0"]).stdin(Stdio::null()).stdout(Stdio::null());
        let mut inbox = Inbox(command.stderr(Stdio::piped()).spawn()?);
        let mut said = String::new();
        if let Some(stderr) = inbox.0.stderr.take() {
            BufReader::new(stderr).read_line(&mut said)?;
        }
        if said.contains("listening on") { Ok(inbox) } else { Err(io::Error::other(said.trim().to_owned())) }
    }

    /// Shows the page in a browser. Returns what there is to say about it: where it was opened, or its address.
    pub(super) fn open(&self, program: &Path) -> io::Result<String> {
        let opened = Command::new(program).arg("open").stdin(Stdio::null()).output()?;
        let text = if opened.status.success() { opened.stdout } else { opened.stderr };
        let text = String::from_utf8_lossy(&text);
        let text = text.trim();
        // An address is what is left to say where there is no browser to start.
        let is_address = text.starts_with("http");
        Ok(if is_address { format!("Open this in a browser:\n{text}") } else { text.to_owned() })
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        // A signal, so that it takes its socket with it.
        if let Some(pid) = i32::try_from(self.0.id()).ok().and_then(Pid::from_raw) {
            kill_process(pid, Signal::TERM).unwrap_or_default();
            drop(self.0.wait());
        }
    }
}
