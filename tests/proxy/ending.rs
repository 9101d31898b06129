//! How a component ends: with the conductor, or because it was told to. Every open question is rejected first.

use std::{
    io::{self, PipeReader, PipeWriter, Write},
    thread,
    time::Instant,
};

use askbridge::limits;
use rustix::{
    fs::{OFlags, fcntl_getfl, fcntl_setfl},
    process::{Pid, Signal, kill_process},
};

use crate::{
    conductor::{Conductor, SPELLINGS, cancel, piped},
    running::{DEADLINE, Running},
};

fn send(signal: Signal, pid: u32) {
    kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), signal).unwrap();
}

#[test]
fn a_conductor_that_leaves_ends_it_and_its_questions() {
    for spelling in SPELLINGS {
        let mut conductor = Conductor::new(spelling);
        conductor.question("\"one\"");
        conductor.question("\"two\"");
        conductor.process.close_stdin();
        conductor.hears_rejection("\"one\"", "client_gone");
        conductor.hears_rejection("\"two\"", "client_gone");
        conductor.ends(0);
    }
}

#[test]
fn a_conductor_that_said_nothing_may_leave() {
    Conductor::silent("proxy", &[]).leaves();
}

#[test]
fn a_signal_rejects_the_open_questions_and_ends_it() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT] {
        let mut conductor = Conductor::new("proxy");
        conductor.question("\"one\"");
        conductor.question("\"two\"");
        send(signal, conductor.process.id());
        for id in ["\"one\"", "\"two\""] {
            conductor.hears_rejection(id, "shutdown");
            conductor.hears(&cancel(id));
        }
        conductor.ends(0);
    }
}

/// What a pipe holds.
const PIPE: usize = 64 * 1024;

/// Says so much to a component that nobody listens to that it reads no more.
fn stuffed() -> (Running, PipeWriter, PipeReader) {
    let (running, mut input, output) = piped();
    let part = format!("{{\"id\":1,\"result\":\"{}\"}}\n", "x".repeat(10_000)).repeat(100);
    fcntl_setfl(&input, fcntl_getfl(&input).unwrap() | OFlags::NONBLOCK).unwrap();
    let mut said = 0;
    let deadline = Instant::now() + DEADLINE;
    // What both pipes hold, and what was read and is not written.
    while said <= 2 * PIPE + part.len() {
        match input.write(&part.as_bytes()[said % part.len()..]) {
            Ok(length) => said += length,
            Err(_) if said > 2 * PIPE => break,
            Err(_) => assert!(Instant::now() < deadline, "only {said} bytes were read"),
        }
    }
    (running, input, output)
}

#[test]
fn a_conductor_that_does_not_read_keeps_it_no_longer_than_a_moment() {
    let (mut running, _input, _output) = stuffed();
    send(Signal::TERM, running.pid());
    assert_eq!(running.wait().code(), Some(0));
}

#[test]
fn a_second_signal_does_not_wait() {
    let (mut running, _input, _output) = stuffed();
    let started = Instant::now();
    // Two that come at once may be taken for one.
    while running.child.try_wait().unwrap().is_none() {
        send(Signal::TERM, running.pid());
    }
    assert_eq!(running.wait().code(), Some(0));
    assert!(started.elapsed() < limits::FLUSH, "{:?}", started.elapsed());
}

#[test]
fn a_conductor_that_reads_no_more_ends_it() {
    let (mut running, mut input, output) = piped();
    drop(output);
    input.write_all(b"{\"id\":1,\"method\":\"x\"}\n").unwrap();
    assert_eq!(running.wait().code(), Some(0));
}

#[test]
fn the_half_of_a_long_line_is_ended_before_the_rejections() {
    let (mut running, mut input, mut output) = piped();
    let question = r#"{"id":"q","method":"proxy/successor","params":{"method":"_sandboxagent/session/request_question","params":{"sessionId":"s","prompt":"?"}}}"#;
    let half = format!(r#"{{"id":2,"method":"x","params":"{}"#, "x".repeat(2 << 20));
    let writer = thread::spawn(move || input.write_all(format!("{question}\n{half}").as_bytes()).unwrap());
    let text = io::read_to_string(&mut output).unwrap();
    writer.join().unwrap();
    let lines: Vec<_> = text.lines().collect();
    let [_, half, rejection] = lines[..] else { panic!("{} lines", lines.len()) };
    let begins = r#"{"jsonrpc":"2.0","id":2,"method":"proxy/successor","params":{"method":"x","params":"xx"#;
    assert!(half.starts_with(begins) && half.len() > 2 << 20, "{} bytes", half.len());
    assert!(rejection.contains("client_gone"), "{rejection}");
    assert_eq!(running.wait().code(), Some(0));
}
