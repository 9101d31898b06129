//! The exit code of a command whose output cannot be written: it says what the command did.

use std::{
    fs::OpenOptions,
    io,
    process::{Command, Stdio},
};

use askbridge_os::exit;

use crate::answers::machine::{TestMachine, end};
use crate::support::running::Running;

/// Starts a command whose stdout is closed at the other end.
fn start(machine: &TestMachine, args: &[&str]) -> Running {
    let (reader, writer) = io::pipe().unwrap();
    drop(reader);
    Running::start(quiet(machine, args), Stdio::null(), writer)
}

/// Runs a command whose stdout is closed at the other end, and one whose stdout is full, and returns their exit codes.
fn codes(machine: &TestMachine, args: &[&str]) -> [Option<i32>; 2] {
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let unread = start(machine, args).wait().code();
    [unread, Running::start(quiet(machine, args), Stdio::null(), full).wait().code()]
}

fn quiet(machine: &TestMachine, args: &[&str]) -> Command {
    let mut command = machine.command(args);
    command.stderr(Stdio::null());
    command
}

fn code(code: u8) -> Option<i32> {
    Some(code.into())
}

#[test]
fn ask_returns_how_the_question_was_settled() {
    let machine = TestMachine::new();
    for (options, settle, expected) in [
        (&["--json"][..], &["reject"][..], exit::REJECTED),
        (&[], &["reject"], exit::REJECTED),
        (&["--json"], &["answer", "a"], exit::OK),
        (&[], &["answer", "a"], exit::OK),
    ] {
        let mut asks = start(&machine, &[&["ask", "--question", "?", "--option", "a"], options].concat());
        let id = machine.question();
        machine.ok(&[&settle[..1], &[&*id], &settle[1..]].concat());
        assert_eq!(asks.wait().code(), code(expected), "{options:?} {settle:?}");
    }
    let mut asks = start(&machine, &["ask", "--question", "?"]);
    machine.question();
    assert!(Command::new("kill").arg(asks.pid().to_string()).status().unwrap().success());
    assert_eq!(asks.wait().code(), Some(143), "it is interrupted as usual");
}

#[test]
fn commands_that_submit_return_what_they_did() {
    let machine = TestMachine::new();
    let client = machine.client("native", "several questions", &["--timeout", "1h"], &[]);
    let ids: Vec<_> = machine.questions(3).iter().map(crate::answers::machine::name).collect();
    assert_eq!(codes(&machine, &["extend", &ids[0], "1h"]), [code(exit::OK); 2]);
    assert_eq!(codes(&machine, &["answer", &ids[0], "option-a"]), [code(exit::OK); 2]);
    assert_eq!(codes(&machine, &["answer", &ids[0], "option-b"]), [code(exit::SETTLED); 2]);
    assert_eq!(codes(&machine, &["reject", &ids[1]]), [code(exit::OK); 2]);
    drop(client);
}

#[test]
fn commands_that_show_end_when_stdout_is_closed() {
    let machine = TestMachine::new();
    let asks = machine.start(&["ask", "--question", "?"]);
    let id = machine.question();
    for args in [&["list"][..], &["list", "--json"], &["show", &id], &["show", "--json", &id]] {
        assert_eq!(codes(&machine, args), [code(exit::OK), code(exit::FAILED)], "{args:?}");
    }
    assert_eq!(start(&machine, &["list", "--watch"]).wait().code(), code(exit::OK));
    machine.ok(&["answer", &id, "x"]);
    assert_eq!(end(asks).code, 0);
}
