//! Signals in the first milliseconds of a bridge, a command and a hook leave nothing behind (I8).

use std::{
    fs,
    io::{self, PipeReader, Read, Write},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use rustix::process::Signal;
use tempfile::TempDir;

use crate::bridge::program::{ASKBRIDGE, Running, bridge, eventually, runs, sockets};
use crate::bridge::signals::{DEADLY, send};

/// A shell that sends signals, also those that rustix has no names for. It is there before they are sent, since to start
/// one takes longer than a bridge.
struct Sender {
    shell: Child,
    sent: PipeReader,
}

impl Sender {
    fn start() -> Self {
        let script = "while read -r number pid; do kill -$number $pid; echo; done";
        let (sent, stdout) = io::pipe().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", script]).stdin(Stdio::piped()).stdout(stdout).stderr(Stdio::null());
        Sender { shell: command.spawn().unwrap(), sent }
    }

    /// Sends a signal; returns once that is done. The process may have ended.
    fn send(&mut self, number: i32, pid: u32) {
        writeln!(self.shell.stdin.as_mut().unwrap(), "{number} {pid}").unwrap();
        self.sent.read_exact(&mut [0]).unwrap();
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        drop(self.shell.stdin.take());
        self.shell.wait().map(drop).unwrap_or_default();
    }
}

/// Runs a command again and again in folders of its own, sends a signal at another moment of its start each time, and
/// ends it. Returns the folders. The last moments are some time behind the one at which its socket is there.
fn interrupted_early(rounds: u32, stdin: &str, command: impl Fn(&Path) -> Command) -> Vec<TempDir> {
    let mut sender = Sender::start();
    let start = |folder: &TempDir| {
        let mut command = command(folder.path());
        command.env("XDG_RUNTIME_DIR", folder.path()).env("XDG_STATE_HOME", folder.path().join("state"));
        command.env("ASKBRIDGE_JOURNAL_ENABLED", "false").stderr(Stdio::null());
        let (input, mut own) = io::pipe().unwrap();
        own.write_all(stdin.as_bytes()).unwrap();
        let begun = Instant::now();
        // A hook reads its stdin to the end; an agent's input stays open.
        let own = stdin.is_empty().then_some(own);
        (begun, Running::start(command, input, Stdio::null()), own)
    };
    let end = |mut running: Running| {
        // Each further signal skips a rung: the agent ends by SIGTERM.
        while running.child.try_wait().unwrap().is_none() {
            send(Signal::TERM, running.pid());
            thread::yield_now();
        }
    };
    let first = TempDir::new().unwrap();
    let (begun, running, _input) = start(&first);
    eventually("a socket", || !sockets(first.path()).is_empty());
    let window = begun.elapsed() + Duration::from_millis(10);
    end(running);
    let folders = (0..rounds).map(|round| {
        let folder = TempDir::new().unwrap();
        let (begun, running, _input) = start(&folder);
        while begun.elapsed() < window * round / rounds {
            thread::yield_now();
        }
        let number = DEADLY[usize::try_from(round).unwrap() % DEADLY.len()];
        sender.send(number, running.pid());
        end(running);
        folder
    });
    folders.collect()
}

#[test]
fn a_signal_during_the_start_leaves_no_socket_and_no_agent() {
    let script = r#"echo $$ >"$0/pid"; exec sleep 1000"#;
    let folders = interrupted_early(95, "", |folder| bridge(&["sh", "-c", script, folder.to_str().unwrap()]));
    let started = folders.iter().filter_map(|folder| fs::read_to_string(folder.path().join("pid")).ok());
    // The shell may have been ended before it wrote into the file that it had made.
    let started: Vec<_> = started.filter(|pid| pid.ends_with('\n')).collect();
    let left: Vec<_> = started.iter().map(|pid| pid.trim()).filter(|pid| runs(pid)).collect();
    for pid in &left {
        send(Signal::KILL, pid.parse().unwrap());
    }
    assert!(left.is_empty(), "{} of {} agents are left", left.len(), started.len());
    assert!(!started.is_empty(), "no signal came after the agent had started");
    let sockets: Vec<_> = folders.iter().flat_map(|folder| sockets(folder.path())).collect();
    assert!(sockets.is_empty(), "{sockets:?}");
}

#[test]
fn a_signal_during_the_start_leaves_no_socket_of_a_command_or_a_hook() {
    let command = |args: &'static [&'static str]| {
        move |_: &Path| {
            let mut command = Command::new(ASKBRIDGE);
            command.args(args);
            command
        }
    };
    let call = r#"{"session_id":"s","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"ls"}}"#;
    for (stdin, args) in [
        ("", &["ask", "--confirm", "Deploy?"][..]),
        (call, &["hook", "claude"]),
        ("", &["inbox", "--addr", "127.0.0.1:0", "--detached"]),
    ] {
        let folders = interrupted_early(38, stdin, command(args));
        let sockets: Vec<_> = folders.iter().flat_map(|folder| sockets(folder.path())).collect();
        assert!(sockets.is_empty(), "{args:?}: {sockets:?}");
    }
}
