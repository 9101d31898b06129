//! I8: no process of the agent's group outlives the bridge, however the agent or the bridge ends.

#[cfg(target_os = "linux")]
use std::fs;
use std::{
    io::{self, PipeReader, PipeWriter},
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::bridge::program::{Running, bridge, bridge_with, eventually, read_line, runs, sh};

/// Starts a wrapper script that prints the process id of its child, and returns that id as well.
fn start(options: &[&str], script: &str) -> (Running, PipeWriter, PipeReader, String) {
    let ((stdin, input), (mut output, stdout)) = (io::pipe().unwrap(), io::pipe().unwrap());
    let running = Running::start(bridge_with(options, &sh(script)), stdin, stdout);
    let child = read_line(&mut output).trim().to_owned();
    assert!(runs(&child), "the child {child:?} is there");
    (running, input, output, child)
}

#[track_caller]
fn assert_gone(child: &str) {
    // After SIGKILL, the kernel may take a moment: the bridge does not wait for that.
    eventually(&format!("the end of {child}"), || !runs(child));
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
fn a_waiting_wrapper_and_its_children_are_ended_when_the_client_is_gone() {
    let (mut running, input, mut output, child) = start(&["--grace", "100ms"], "sleep 1000 & echo $!; wait");
    drop(input);
    assert_eq!(read_line(&mut output), "");
    assert_eq!(running.wait().code(), Some(143));
    assert_gone(&child);
}

#[test]
fn a_child_that_ignores_sigterm_is_killed_and_does_not_hold_the_output() {
    // The child keeps the agent's output open. The client sees its end nevertheless.
    let script = "(trap '' TERM; sh -c 'echo $$; exec sleep 1000') & read -r line; exit 4";
    let (mut running, input, mut output, child) = start(&[], script);
    let started = Instant::now();
    drop(input);
    assert_eq!(io::read_to_string(&mut output).unwrap(), "");
    assert_eq!(running.wait().code(), Some(4));
    assert!(started.elapsed() >= Duration::from_secs(2), "the child had its time after SIGTERM");
    assert_gone(&child);
}

#[test]
fn a_process_outside_of_the_group_does_not_keep_the_bridge() {
    // A daemon leaves the group on purpose: the bridge does not end it, even though it keeps the agent's output open.
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
    // What the daemon writes after the agent's end is not forwarded.
    let script = "setsid sh -c 'echo $$; while :; do echo chatter; done' & read -r line; exit 6";
    let (mut running, input, output, daemon) = start(&[], script);
    drop(input);
    // The client keeps reading.
    let reader = std::thread::spawn(move || io::copy(&mut { output }, &mut io::sink()));
    assert_eq!(running.wait().code(), Some(6));
    reader.join().unwrap().unwrap();
    let daemon = Pid::from_raw(daemon.parse().unwrap()).unwrap();
    // SIGPIPE may have ended it.
    kill_process(daemon, Signal::KILL).ok();
}

#[test]
fn a_bridge_that_is_killed_leaves_an_agent_that_sees_the_end_of_its_input() {
    // SIGKILL cannot be caught. The kernel closes the pipes.
    let ((stdin, _input), (mut output, stdout)) = (io::pipe().unwrap(), io::pipe().unwrap());
    let mut running = Running::start(bridge(&sh("echo $$; exec cat")), stdin, stdout);
    let agent = read_line(&mut output).trim().to_owned();
    assert!(runs(&agent));
    running.child.kill().unwrap();
    running.wait();
    assert_gone(&agent);
}

/// Returns how many children of the bridge have ended and are not reaped.
#[cfg(target_os = "linux")]
fn zombies(bridge: u32) -> usize {
    let parent = bridge.to_string();
    let is_zombie = |stat: &str| {
        let rest = stat.rsplit_once(") ").map(|(_, rest)| rest.split(' ').collect::<Vec<_>>());
        rest.is_some_and(|rest| rest[0] == "Z" && rest[1] == parent)
    };
    let entries = fs::read_dir("/proc").unwrap().map(|entry| entry.unwrap().path().join("stat"));
    entries.filter(|path| fs::read_to_string(path).is_ok_and(|stat| is_zombie(&stat))).count()
}

#[test]
#[cfg(target_os = "linux")]
fn orphans_that_end_while_the_agent_runs_are_reaped() {
    // Each subshell leaves a child behind. Half of the children leave the group as well.
    let script = "echo $$; i=0; while [ $i -lt 100 ]; do ( : & ); ( setsid true & ); i=$((i + 1)); done
        echo left; read -r line; exit 3";
    let (mut running, input, mut output, _) = start(&[], script);
    assert_eq!(read_line(&mut output), "left\n");
    eventually("the end of all zombies", || zombies(running.pid()) == 0);
    drop(input);
    assert_eq!(io::read_to_string(&mut output).unwrap(), "");
    assert_eq!(running.wait().code(), Some(3));
}

#[test]
fn the_agents_exit_code_is_kept_while_its_orphans_end() {
    for _ in 0..20 {
        let script = "echo $$; i=0; while [ $i -lt 10 ]; do ( : & ); i=$((i + 1)); done; exit 7";
        let ((stdin, _input), (mut output, stdout)) = (io::pipe().unwrap(), io::pipe().unwrap());
        let mut running = Running::start(bridge(&sh(script)), stdin, stdout);
        assert!(io::read_to_string(&mut output).unwrap().ends_with('\n'));
        assert_eq!(running.wait().code(), Some(7));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_process_whose_parents_have_ended_becomes_a_child_of_the_bridge() {
    let script = "sh -c 'setsid sleep 1000 & echo $!'; read -r line; exit 3";
    let (mut running, input, mut output, daemon) = start(&[], script);
    let stat = || fs::read_to_string(format!("/proc/{daemon}/stat")).unwrap();
    let bridge = running.pid().to_string();
    // Its parent and its group. While it is still in the agent's group, it would end with that.
    let is_adopted = || stat().split(' ').skip(3).take(2).eq([&*bridge, &*daemon]);
    eventually("the adoption", is_adopted);
    // The bridge does not wait for it, and leaves it alone.
    drop(input);
    assert_eq!(io::read_to_string(&mut output).unwrap(), "");
    assert_eq!(running.wait().code(), Some(3));
    assert!(runs(&daemon));
    kill_process(Pid::from_raw(daemon.parse().unwrap()).unwrap(), Signal::KILL).unwrap();
}

#[test]
#[cfg(target_os = "linux")]
fn orphans_of_the_group_do_not_keep_it_as_zombies() {
    let ((stdin, input), (mut output, stdout)) = (io::pipe().unwrap(), io::pipe().unwrap());
    let (errors, stderr) = io::pipe().unwrap();
    let mut command = bridge_with(&["--log", "debug"], &sh("sleep 1000 & echo $!; read -r line; exit 3"));
    command.stderr(stderr);
    let mut running = Running::start(command, stdin, stdout);
    let child = read_line(&mut output).trim().to_owned();
    drop(input);
    assert_eq!(running.wait().code(), Some(3));
    assert_gone(&child);
    // As a zombie, the orphan would have kept the group alive until the bridge gave up after SIGKILL.
    let log = io::read_to_string(errors).unwrap();
    assert!(log.contains("event=GroupEnded"), "{log}");
}
