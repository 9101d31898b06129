//! SIGTERM, SIGINT and SIGHUP: the open questions are rejected, and the agent is brought to its end, one rung
//! after the other (I8). Where time is measured, the bounds are those that tell one rung from the next.

use std::{
    fs,
    io::{self, BufReader, PipeReader, PipeWriter},
    os::{fd::AsFd, unix::net::UnixStream},
    time::{Duration, Instant},
};

use rustix::{
    fs::fcntl_getfl,
    process::{Pid, Signal, kill_process},
};

use crate::{
    client::{Client, rejected},
    program::{Running, bridge, bridge_with, eventually, read_line, sh},
};

/// Says what happens to it, and ends only by SIGKILL.
const STUBBORN: &str =
    "trap 'echo term' TERM; echo ready; cat >/dev/null; echo eof; while :; do sleep 0.05; done";
/// What the ladder waits for on its first rung.
const DRAIN: Duration = Duration::from_secs(3);

fn send(signal: Signal, pid: u32) {
    kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), signal).unwrap();
}

/// Starts a bridge, and waits until its agent is ready.
fn start(options: &[&str], script: &str) -> (Running, PipeWriter, PipeReader) {
    let ((stdin, input), (mut output, stdout)) = (io::pipe().unwrap(), io::pipe().unwrap());
    let running = Running::start(bridge_with(options, &sh(script)), stdin, stdout);
    assert_eq!(read_line(&mut output), "ready\n");
    (running, input, output)
}

#[test]
fn each_of_the_signals_ends_the_agents_input_and_its_exit_code_is_ours() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let (mut running, _input, mut output) = start(&[], "echo ready; cat >/dev/null; echo end; exit 6");
        send(signal, running.pid());
        assert_eq!(io::read_to_string(&mut output).unwrap(), "end\n");
        assert_eq!(running.wait().code(), Some(6), "the agent's, after {signal:?}");
    }
}

#[test]
fn a_signal_rejects_the_open_questions_and_tells_the_client() {
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
    // The agent lives on: the last words of one that has ended reach the client, whatever they are.
    let asked = r#"{"id":1,"method":"_sandboxagent/session/request_question","params":{"sessionId":"s","prompt":"?","options":["A"]}}"#;
    let script = format!("echo ready; cat >/dev/null; echo '{asked}'; echo end; exec sleep 1000");
    let (mut running, _input, mut output) = start(&[], &script);
    send(Signal::TERM, running.pid());
    assert_eq!(read_line(&mut output), "end\n");
    send(Signal::TERM, running.pid());
    assert_eq!(read_line(&mut output), "");
    assert_eq!(running.wait().code(), Some(143));
}

#[test]
fn each_further_signal_skips_to_the_next_rung() {
    // Close its input; SIGTERM; SIGKILL. All before the first rung would have been left by itself.
    let started = Instant::now();
    let (mut running, _input, mut output) = start(&[], STUBBORN);
    send(Signal::INT, running.pid());
    assert_eq!(read_line(&mut output), "eof\n");
    send(Signal::TERM, running.pid());
    assert_eq!(read_line(&mut output), "term\n");
    send(Signal::INT, running.pid());
    assert_eq!(read_line(&mut output), "");
    assert_eq!(running.wait().code(), Some(137));
    assert!(started.elapsed() < DRAIN, "it took {:?}", started.elapsed());
}

#[test]
fn one_signal_leads_to_the_end_by_itself() {
    // 3 s for the end of its input, 2 s for SIGTERM, then SIGKILL.
    let (mut running, _input, mut output) = start(&[], STUBBORN);
    let started = Instant::now();
    send(Signal::HUP, running.pid());
    assert_eq!(read_line(&mut output), "eof\n");
    assert!(started.elapsed() < DRAIN);
    assert_eq!(read_line(&mut output), "term\n");
    assert!(started.elapsed() >= DRAIN);
    assert_eq!(read_line(&mut output), "");
    assert_eq!(running.wait().code(), Some(137));
    let elapsed = started.elapsed();
    assert!(elapsed >= Duration::from_secs(5) && elapsed < Duration::from_secs(12), "it took {elapsed:?}");
}

#[test]
fn the_first_signal_after_the_client_has_gone_drains_and_the_second_skips() {
    // The client's end drains the agent already, so that the first signal is no further one.
    let started = Instant::now();
    let ((stdin, input), (mut output, stdout)) = (io::pipe().unwrap(), io::pipe().unwrap());
    let (errors, stderr) = io::pipe().unwrap();
    let mut command = bridge_with(&["--grace", "1h", "--log", "debug"], &sh(STUBBORN));
    command.stderr(stderr);
    let mut running = Running::start(command, stdin, stdout);
    let mut log = BufReader::new(errors);
    let mut signal = || {
        send(Signal::TERM, running.pid());
        // Two signals that come too close are one.
        while !read_line(&mut log).contains("event=Signal") {}
    };
    assert_eq!(read_line(&mut output), "ready\n");
    drop(input);
    assert_eq!(read_line(&mut output), "eof\n");
    signal();
    signal();
    assert_eq!(read_line(&mut output), "term\n");
    signal();
    assert_eq!(read_line(&mut output), "");
    assert!(started.elapsed() < DRAIN, "it took {:?}", started.elapsed());
    assert_eq!(running.wait().code(), Some(137));
}

#[test]
fn enough_signals_end_it_though_nobody_reads_and_the_flags_are_put_back() {
    // The client's socket is full, and stays so. It belongs to others too, who do not expect it to be non-blocking.
    let (theirs, ours) = UnixStream::pair().unwrap();
    let shared = theirs.try_clone().unwrap();
    let before = fcntl_getfl(shared.as_fd()).unwrap();
    let (mut errors, stderr) = io::pipe().unwrap();
    let mut command = bridge(&sh("echo ready >&2; exec cat /dev/zero"));
    command.stderr(stderr);
    let stdin = std::os::fd::OwnedFd::from(theirs.try_clone().unwrap());
    let mut running = Running::start(command, stdin, std::os::fd::OwnedFd::from(theirs));
    assert_eq!(read_line(&mut errors), "ready\n");
    let started = Instant::now();
    let pid = running.pid();
    eventually("the end of the bridge", || {
        if running.child.try_wait().unwrap().is_some() {
            return true;
        }
        send(Signal::TERM, pid);
        false
    });
    assert!(started.elapsed() < DRAIN, "it took {:?}", started.elapsed());
    assert!(running.wait().code().is_some());
    assert_eq!(fcntl_getfl(shared.as_fd()).unwrap(), before);
    drop(ours);
}

#[test]
fn a_rejection_by_a_signal_is_the_one_response() {
    // I4: the answer that comes behind it is dropped, or was there first.
    let file = tempfile::NamedTempFile::new().unwrap();
    let asked = r#"{"id":1,"method":"_sandboxagent/session/request_question","params":{"sessionId":"s","prompt":"?","options":["A"]}}"#;
    let script = format!("echo '{asked}'; cat >\"$0\"");
    let agent = [&sh(&script)[..], &[file.path().to_str().unwrap()]].concat();
    let mut client = Client::start(&mut bridge(&agent));
    client.question();
    send(Signal::TERM, client.process.id());
    client.answer(1, rejected("user"));
    let (rest, code) = client.rest();
    assert!(rest.len() <= 1 && code == Some(0), "{rest:?}, {code:?}");
    let heard = fs::read_to_string(file.path()).unwrap();
    assert_eq!(heard.lines().count(), 1, "{heard}");
}
