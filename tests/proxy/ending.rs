//! A component ends with the conductor, or by a signal. Every open question is rejected first. The time that it gives
//! the conductor to read is held by `Chain`; here are the order and the outcome.

use std::{
    io::{self, PipeReader, PipeWriter, Write},
    process::Command,
    thread,
    time::Instant,
};

use rustix::{
    fs::{OFlags, fcntl_getfl, fcntl_setfl},
    process::{Pid, Signal, kill_process},
};

use crate::proxy::conductor::{Conductor, SPELLINGS, cancel, piped, proxy};
use crate::support::running::{DEADLINE, Running};

fn send(signal: Signal, pid: u32) {
    kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), signal).unwrap();
}

#[test]
fn the_end_of_the_conductor_rejects_the_open_questions_and_ends_the_component() {
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
fn a_conductor_that_sent_nothing_ends_the_component() {
    Conductor::silent("proxy", &[]).leaves();
}

#[test]
fn a_signal_rejects_the_open_questions_and_ends_the_component() {
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

/// Bytes that a pipe holds.
const PIPE: usize = 64 * 1024;

/// Writes to a component until back-pressure stops it: its output is not read.
fn stuffed(command: Command) -> (Running, PipeWriter, PipeReader) {
    let ((stdin, mut input), (output, stdout)) = (io::pipe().unwrap(), io::pipe().unwrap());
    let running = Running::start(command, stdin, stdout);
    let part = format!("{{\"id\":1,\"result\":\"{}\"}}\n", "x".repeat(10_000)).repeat(100);
    fcntl_setfl(&input, fcntl_getfl(&input).unwrap() | OFlags::NONBLOCK).unwrap();
    let mut said = 0;
    let deadline = Instant::now() + DEADLINE;
    // Both pipes are full, and so is the component's own buffer.
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
fn a_conductor_that_does_not_read_does_not_hold_up_the_end() {
    let (mut running, _input, _output) = stuffed(proxy(&[]));
    send(Signal::TERM, running.pid());
    assert_eq!(running.wait().code(), Some(0));
}

#[test]
fn a_second_signal_ends_a_component_whose_conductor_does_not_read() {
    let (errors, stderr) = io::pipe().unwrap();
    let mut command = proxy(&["--log", "debug"]);
    command.stderr(stderr);
    let (mut running, _input, _output) = stuffed(command);
    // Signals that arrive together count as one.
    while running.child.try_wait().unwrap().is_none() {
        send(Signal::TERM, running.pid());
    }
    assert_eq!(running.wait().code(), Some(0));
    // The second signal is the last event: the bridge ends at once.
    assert_eq!(io::read_to_string(errors).unwrap().matches("event=Signal").count(), 2);
}

#[test]
#[cfg(target_os = "linux")]
fn signals_that_were_ignored_when_the_component_started_stay_ignored() {
    let proxy = proxy(&["--log", "debug"]);
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' HUP INT; exec \"$@\"", "sh"]).arg(proxy.get_program()).args(proxy.get_args());
    let mut conductor = Conductor::of("proxy", &mut shell).initialized();
    conductor.question("\"one\"");
    send(Signal::HUP, conductor.process.id());
    send(Signal::INT, conductor.process.id());
    // A component that has seen a signal reads no more.
    conductor.question("\"two\"");
    send(Signal::TERM, conductor.process.id());
    for id in ["\"one\"", "\"two\""] {
        conductor.hears_rejection(id, "shutdown");
        conductor.hears(&cancel(id));
    }
    conductor.ends(0);
}

#[test]
fn a_conductor_that_closes_its_reading_end_ends_the_component() {
    let (mut running, mut input, output) = piped();
    drop(output);
    input.write_all(b"{\"id\":1,\"method\":\"x\"}\n").unwrap();
    assert_eq!(running.wait().code(), Some(0));
}

#[test]
fn half_of_a_long_line_is_terminated_before_the_rejections() {
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
