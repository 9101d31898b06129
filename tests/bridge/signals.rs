//! Signals: the open questions are rejected, and the agent is brought to its end, one rung of the ladder after the other
//! (I8). The times of the ladder are held in `fixtures/transcripts`; here are its order and its outcome.

use std::{
    fs,
    io::{self, BufReader, PipeReader, PipeWriter},
    os::{fd::AsFd, unix::net::UnixStream},
    process::Command,
    thread,
    time::Instant,
};

use askbridge::limits;
use rustix::{
    fs::fcntl_getfl,
    process::{Pid, Signal, kill_process},
};

use crate::bridge::client::{Client, rejected};
use crate::bridge::program::{
    ASKBRIDGE, Running, after, bridge, bridge_with, eventually, native_bridge, read_line, sh, sockets,
};
use crate::support::Process;
use crate::support::running::DEADLINE;

/// An agent that reports the end of its input and SIGTERM, and is ended by nothing but SIGKILL.
const STUBBORN: &str =
    "trap 'echo term' TERM; echo ready; cat >/dev/null; echo eof; while :; do sleep 0.05; done";

/// HUP, INT, QUIT, TRAP, ABRT, USR1, USR2, ALRM, TERM, STKFLT, XCPU, VTALRM, PROF, IO, PWR, SYS, and real-time ones.
#[cfg(target_os = "linux")]
pub(crate) const DEADLY: [i32; 19] = [1, 2, 3, 5, 6, 10, 12, 14, 15, 16, 24, 26, 27, 29, 30, 31, 35, 48, 64];

pub(crate) fn send(signal: Signal, pid: u32) {
    kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), signal).unwrap();
}

/// Starts a bridge, and waits until its agent is ready.
fn start(command: Command) -> (Running, PipeWriter, PipeReader) {
    let ((stdin, input), (mut output, stdout)) = (io::pipe().unwrap(), io::pipe().unwrap());
    let running = Running::start(command, stdin, stdout);
    assert_eq!(read_line(&mut output), "ready\n");
    (running, input, output)
}

/// Returns how many signals the engine was told of, by a log at the level debug.
fn signals_in(log: &str) -> usize {
    log.matches("event=Signal").count()
}

#[test]
#[cfg(target_os = "linux")]
fn every_signal_that_is_deadly_by_default_ends_the_agent_and_removes_the_socket() {
    let folder = tempfile::tempdir().unwrap();
    for number in DEADLY {
        let mut command = bridge(&sh("echo ready; cat >/dev/null; echo end; exit 6"));
        command.env("XDG_RUNTIME_DIR", folder.path()).env("XDG_STATE_HOME", folder.path().join("state"));
        let (mut running, _input, mut output) = start(command);
        assert_eq!(sockets(folder.path()).len(), 1, "before signal {number}");
        // rustix has no names for real-time signals.
        let kill = format!("kill -{number} {}", running.pid());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        assert_eq!(io::read_to_string(&mut output).unwrap(), "end\n", "after signal {number}");
        assert_eq!(running.wait().code(), Some(6), "after signal {number}");
        assert!(sockets(folder.path()).is_empty(), "after signal {number}");
    }
}

#[test]
fn signals_that_are_not_deadly_change_nothing() {
    let mut bridge = Process::spawn(&mut bridge_with(&["--log", "debug"], &["cat"]));
    for signal in [Signal::WINCH, Signal::CONT, Signal::URG, Signal::CHILD, Signal::PIPE, Signal::XFSZ] {
        bridge.send("before");
        assert_eq!(bridge.next_line().as_deref(), Some(&b"before\n"[..]));
        send(signal, bridge.id());
        bridge.send("after");
        assert_eq!(bridge.next_line().as_deref(), Some(&b"after\n"[..]), "after {signal:?}");
    }
    bridge.close_stdin();
    assert_eq!(bridge.wait().code(), Some(0));
    assert_eq!(signals_in(&bridge.whole_stderr()), 0);
}

#[test]
fn a_log_file_that_reaches_the_largest_file_size_does_not_end_the_bridge() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let options = ["--log", "debug", "--log-file", file.path().to_str().unwrap()];
    let mut client =
        Client::start(&mut after("ulimit -f 1", &bridge_with(&options, &[ASKBRIDGE, "mock-agent"])));
    client.open_session();
    for _ in 0..20 {
        let id = client.ask("a question");
        client.answer(id, rejected("user"));
        client.response("turn");
    }
    client.process.close_stdin();
    assert_eq!(client.rest(), (vec![], Some(0)));
    // A block of `ulimit -f` has 512 bytes, or 1024 in some shells.
    let length = file.as_file().metadata().unwrap().len();
    assert!(length == 512 || length == 1024, "the log file has {length} bytes");
}

#[test]
#[cfg(target_os = "linux")]
fn a_bridge_leaves_signals_alone_that_were_ignored_when_it_started() {
    // As under `nohup`, or behind `trap '' INT` in a script.
    let mut bridge =
        Process::spawn(&mut after("trap '' HUP INT ALRM", &bridge_with(&["--log", "debug"], &["cat"])));
    for signal in [Signal::HUP, Signal::INT, Signal::ALARM] {
        bridge.send("before");
        assert_eq!(bridge.next_line().as_deref(), Some(&b"before\n"[..]));
        send(signal, bridge.id());
        // A bridge that has seen a signal passes nothing on any more.
        for line in ["one", "two"] {
            bridge.send(line);
            assert_eq!(bridge.next_line(), Some(format!("{line}\n").into_bytes()), "after {signal:?}");
        }
    }
    send(Signal::TERM, bridge.id());
    assert_eq!(bridge.wait().code(), Some(0));
    assert_eq!(signals_in(&bridge.whole_stderr()), 1);
}

#[test]
#[cfg(target_os = "linux")]
fn commands_that_wait_leave_signals_alone_that_were_ignored_when_they_started() {
    let folder = tempfile::tempdir().unwrap();
    let askbridge = |args: &[&str]| {
        let mut command = Command::new(ASKBRIDGE);
        command
            .args(args)
            .env("XDG_RUNTIME_DIR", folder.path())
            .env("XDG_STATE_HOME", folder.path().join("state"));
        command
    };
    let mut ask = Process::spawn(&mut after(
        "trap '' INT HUP",
        &askbridge(&["ask", "--question", "Which?", "--option", "a"]),
    ));
    let said = ask.expect_stderr("the question", |text| text.contains("waits"));
    let id = said.split_whitespace().nth(2).unwrap();
    send(Signal::INT, ask.id());
    send(Signal::HUP, ask.id());
    assert!(askbridge(&["answer", id, "a"]).output().unwrap().status.success());
    assert_eq!(ask.next_line().as_deref(), Some(&b"a\n"[..]));
    assert_eq!(ask.wait().code(), Some(0));

    let mut inbox =
        Process::spawn(&mut after("trap '' HUP", &askbridge(&["inbox", "--addr", "127.0.0.1:0"])));
    inbox.expect_stderr("an address", |text| text.contains("listening on"));
    send(Signal::HUP, inbox.id());
    let question = askbridge(&["list"]).output().unwrap();
    assert!(question.status.success(), "{question:?}");
    send(Signal::TERM, inbox.id());
    assert_eq!(inbox.wait().code(), Some(143), "SIGTERM was not ignored");
    assert!(sockets(folder.path()).is_empty());
}

#[test]
fn a_signal_right_after_the_start_leaves_no_socket() {
    // The socket exists for a moment before the agent is started. Each run sends the signal as soon as it sees the socket.
    for _ in 0..50 {
        let folder = tempfile::tempdir().unwrap();
        let mut command = bridge(&["cat"]);
        command.env("XDG_RUNTIME_DIR", folder.path()).env("XDG_STATE_HOME", folder.path().join("state"));
        let ((stdin, _input), (_output, stdout)) = (io::pipe().unwrap(), io::pipe().unwrap());
        let mut running = Running::start(command, stdin, stdout);
        let deadline = Instant::now() + DEADLINE;
        while sockets(folder.path()).is_empty() {
            assert!(Instant::now() < deadline, "no socket");
            thread::yield_now();
        }
        send(Signal::TERM, running.pid());
        assert_eq!(running.wait().code(), Some(0));
        assert!(sockets(folder.path()).is_empty());
    }
}

#[test]
fn a_signal_rejects_the_open_questions_and_withdraws_them_from_the_client() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let mut client = Client::new();
        client.prompt("turn", "several questions");
        let ids: Vec<u64> = (0..3).map(|_| client.question().0).collect();
        send(signal, client.process.id());
        ids.into_iter().for_each(|id| client.cancelled(id));
        let (reason, said) = client.end_of("turn");
        assert_eq!(reason, "end_turn");
        assert_eq!(said.matches("The question was rejected: shutdown").count(), 3, "{said}");
        assert_eq!(client.rest(), (vec![], Some(0)));
    }
}

#[test]
fn a_question_asked_after_a_signal_is_not_shown() {
    // The agent stays alive: what an agent wrote before its end reaches the client in any case.
    let asked = r#"{"id":1,"method":"_sandboxagent/session/request_question","params":{"sessionId":"s","prompt":"?","options":["A"]}}"#;
    let script = format!("echo ready; cat >/dev/null; echo '{asked}'; echo end; exec sleep 1000");
    let (mut running, _input, mut output) = start(native_bridge(&sh(&script)));
    send(Signal::TERM, running.pid());
    assert_eq!(read_line(&mut output), "end\n");
    send(Signal::TERM, running.pid());
    assert_eq!(read_line(&mut output), "");
    assert_eq!(running.wait().code(), Some(143));
}

#[test]
fn each_further_signal_skips_to_the_next_rung() {
    // End of input, SIGTERM, SIGKILL.
    let (mut errors, stderr) = io::pipe().unwrap();
    let mut command = bridge_with(&["--log", "debug"], &sh(STUBBORN));
    command.stderr(stderr);
    let (mut running, _input, mut output) = start(command);
    send(Signal::INT, running.pid());
    assert_eq!(read_line(&mut output), "eof\n");
    send(Signal::TERM, running.pid());
    assert_eq!(read_line(&mut output), "term\n");
    send(Signal::INT, running.pid());
    assert_eq!(read_line(&mut output), "");
    assert_eq!(running.wait().code(), Some(137));
    let log = io::read_to_string(&mut errors).unwrap();
    // On a machine that stands still for seconds, a rung may be left by itself, which the log shows as a tick.
    assert!(signals_in(&log) == 3 || log.contains("event=Tick"), "{log}");
}

#[test]
fn one_signal_leads_to_the_end_by_itself() {
    let (mut running, _input, mut output) = start(bridge(&sh(STUBBORN)));
    let started = Instant::now();
    send(Signal::HUP, running.pid());
    assert_eq!(read_line(&mut output), "eof\n");
    assert_eq!(read_line(&mut output), "term\n");
    assert!(started.elapsed() >= limits::DRAIN, "the agent had its time to end by itself");
    assert_eq!(read_line(&mut output), "");
    assert_eq!(running.wait().code(), Some(137));
    assert!(started.elapsed() >= limits::DRAIN + limits::TERMINATE, "it had its time after SIGTERM");
}

#[test]
fn the_first_signal_after_the_end_of_the_client_drains_and_the_second_skips() {
    // The end of the client has closed the agent's input already. Nevertheless, the first signal is not a further one.
    let ((stdin, input), (mut output, stdout)) = (io::pipe().unwrap(), io::pipe().unwrap());
    let (errors, stderr) = io::pipe().unwrap();
    let mut command = bridge_with(&["--grace", "1h", "--log", "debug"], &sh(STUBBORN));
    command.stderr(stderr);
    let mut running = Running::start(command, stdin, stdout);
    let mut log = BufReader::new(errors);
    let mut signal = || {
        send(Signal::TERM, running.pid());
        // Wait for each signal: two that arrive together count as one.
        loop {
            let line = read_line(&mut log);
            assert!(!line.is_empty(), "the log ended before the signal");
            if signals_in(&line) == 1 {
                return;
            }
        }
    };
    assert_eq!(read_line(&mut output), "ready\n");
    drop(input);
    assert_eq!(read_line(&mut output), "eof\n");
    signal();
    signal();
    assert_eq!(read_line(&mut output), "term\n");
    signal();
    assert_eq!(read_line(&mut output), "");
    assert_eq!(running.wait().code(), Some(137));
}

#[test]
fn enough_signals_end_a_bridge_whose_client_does_not_read_and_the_flags_are_restored() {
    // The client's socket stays full. Other processes share it, and do not expect it to be non-blocking.
    let (theirs, ours) = UnixStream::pair().unwrap();
    let shared = theirs.try_clone().unwrap();
    let before = fcntl_getfl(shared.as_fd()).unwrap();
    let (mut errors, stderr) = io::pipe().unwrap();
    let mut command = bridge(&sh("echo ready >&2; exec cat /dev/zero"));
    command.stderr(stderr);
    let stdin = std::os::fd::OwnedFd::from(theirs.try_clone().unwrap());
    let mut running = Running::start(command, stdin, std::os::fd::OwnedFd::from(theirs));
    assert_eq!(read_line(&mut errors), "ready\n");
    let pid = running.pid();
    eventually("the end of the bridge", || {
        if running.child.try_wait().unwrap().is_some() {
            return true;
        }
        send(Signal::TERM, pid);
        false
    });
    assert!(running.wait().code().is_some());
    assert_eq!(fcntl_getfl(shared.as_fd()).unwrap(), before);
    drop(ours);
}

#[test]
fn a_rejection_by_a_signal_is_the_only_response() {
    // I4: the client's answer arrives after the rejection and is dropped, or arrived before it.
    let file = tempfile::NamedTempFile::new().unwrap();
    let asked = r#"{"id":1,"method":"_sandboxagent/session/request_question","params":{"sessionId":"s","prompt":"?","options":["A"]}}"#;
    let script = format!("echo '{asked}'; cat >\"$0\"");
    let agent = [&sh(&script)[..], &[file.path().to_str().unwrap()]].concat();
    let mut client = Client::start(&mut native_bridge(&agent));
    client.question();
    send(Signal::TERM, client.process.id());
    client.answer(1, rejected("user"));
    let (rest, code) = client.rest();
    assert!(rest.len() <= 1 && code == Some(0), "{rest:?}, {code:?}");
    let heard = fs::read_to_string(file.path()).unwrap();
    assert_eq!(heard.lines().count(), 1, "{heard}");
}
