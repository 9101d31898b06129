//! I8: nobody of the agent's process group outlives the bridge, however the agent or the bridge ends.

use std::{
    io::{self, PipeReader, PipeWriter},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::program::{Running, bridge, bridge_with, eventually, read_line, runs, sh};

/// Starts a wrapper that leaves a child behind, and returns the child's process id.
fn start(options: &[&str], script: &str) -> (Running, PipeWriter, PipeReader, String) {
    let ((stdin, input), (mut output, stdout)) = (io::pipe().unwrap(), io::pipe().unwrap());
    let running = Running::start(bridge_with(options, &sh(script)), stdin, stdout);
    let child = read_line(&mut output).trim().to_owned();
    assert!(runs(&child), "the child {child:?} is there");
    (running, input, output, child)
}

#[track_caller]
fn assert_gone(child: &str) {
    // The kernel may take a moment after SIGKILL; the bridge has done its part when it ends.
    eventually(&format!("the end of {child}"), || !runs(child));
}

#[test]
fn children_that_an_agent_leaves_behind_are_ended() {
    let (mut running, input, mut output, child) = start(&[], "sleep 1000 & echo $!; read -r line; exit 3");
    drop(input);
    assert_eq!(read_line(&mut output), "");
    assert_eq!(running.wait().code(), Some(3));
    assert_gone(&child);
}

#[test]
fn children_of_an_agent_that_was_killed_are_ended() {
    let (mut running, input, mut output, child) =
        start(&[], "sleep 1000 & echo $!; read -r line; kill -KILL $$");
    drop(input);
    assert_eq!(read_line(&mut output), "");
    assert_eq!(running.wait().code(), Some(137));
    assert_gone(&child);
}

#[test]
fn a_wrapper_that_waits_is_ended_with_its_children_when_the_client_is_gone() {
    let (mut running, input, mut output, child) = start(&["--grace", "100ms"], "sleep 1000 & echo $!; wait");
    drop(input);
    assert_eq!(read_line(&mut output), "");
    assert_eq!(running.wait().code(), Some(143));
    assert_gone(&child);
}

#[test]
fn a_wrapper_that_waits_is_ended_with_its_children_by_signals() {
    let (mut running, _input, mut output, child) = start(&[], "sleep 1000 & echo $!; echo ready; wait");
    assert_eq!(read_line(&mut output), "ready\n");
    let pid = Pid::from_raw(running.pid().cast_signed()).unwrap();
    // Two signals at once may count as one.
    eventually("the end of the bridge", || {
        if running.child.try_wait().unwrap().is_some() {
            return true;
        }
        kill_process(pid, Signal::TERM).unwrap();
        false
    });
    let code = running.wait().code();
    assert!(matches!(code, Some(143 | 137)), "{code:?}");
    assert_gone(&child);
}

#[test]
fn a_child_that_ignores_sigterm_is_killed_and_does_not_hold_the_output() {
    // It has the agent's output open; the client sees the end all the same.
    let script = "(trap '' TERM; sh -c 'echo $$; exec sleep 1000') & read -r line; exit 4";
    let (mut running, input, mut output, child) = start(&[], script);
    let started = Instant::now();
    drop(input);
    assert_eq!(io::read_to_string(&mut output).unwrap(), "");
    assert_eq!(running.wait().code(), Some(4));
    assert!(started.elapsed() >= Duration::from_secs(2), "it had its time after SIGTERM");
    assert_gone(&child);
}

#[test]
fn a_process_outside_of_the_group_does_not_keep_the_bridge() {
    // It has left the group on purpose, as a daemon does, and holds the agent's output open. It is not ours to end.
    let script = "setsid sh -c 'echo $$; exec sleep 1000' & read -r line; exit 5";
    let (mut running, input, mut output, daemon) = start(&[], script);
    drop(input);
    assert_eq!(io::read_to_string(&mut output).unwrap(), "");
    assert_eq!(running.wait().code(), Some(5));
    assert!(runs(&daemon));
    let daemon = Pid::from_raw(daemon.parse().unwrap()).unwrap();
    kill_process(daemon, Signal::KILL).unwrap();
}

#[test]
fn a_process_outside_of_the_group_that_writes_on_does_not_keep_the_bridge() {
    // What it writes behind the agent's last words is nobody's any more.
    let script = "setsid sh -c 'echo $$; while :; do echo chatter; done' & read -r line; exit 6";
    let (mut running, input, output, daemon) = start(&[], script);
    drop(input);
    // The client reads on, as clients do.
    let reader = std::thread::spawn(move || io::copy(&mut { output }, &mut io::sink()));
    assert_eq!(running.wait().code(), Some(6));
    reader.join().unwrap().unwrap();
    let daemon = Pid::from_raw(daemon.parse().unwrap()).unwrap();
    // It may have died of the closed pipe.
    kill_process(daemon, Signal::KILL).ok();
}

#[test]
fn a_bridge_that_is_killed_leaves_an_agent_that_sees_the_end_of_its_input() {
    // Nothing can be done against SIGKILL but what the kernel does: the pipes close.
    let ((stdin, _input), (mut output, stdout)) = (io::pipe().unwrap(), io::pipe().unwrap());
    let mut running = Running::start(bridge(&sh("echo $$; exec cat")), stdin, stdout);
    let agent = read_line(&mut output).trim().to_owned();
    assert!(runs(&agent));
    running.child.kill().unwrap();
    running.wait();
    assert_gone(&agent);
}
