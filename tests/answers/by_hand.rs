//! Commands that a client should start, started by a person at a terminal.

use std::{
    fs::{File, OpenOptions},
    io::Write,
    process::{Command, Stdio},
};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::answers::machine::{ASKBRIDGE, TestMachine};

/// Runs a command whose stdin is this, and returns its stderr.
fn stderr(machine: &TestMachine, args: &[&str], stdin: Stdio) -> String {
    // No wait is without a deadline: `timeout` ends what would read the terminal for ever.
    let mut command = Command::new("timeout");
    command
        .args(["--foreground", "30", ASKBRIDGE])
        .args(args)
        .env("XDG_RUNTIME_DIR", machine.path())
        .env("XDG_STATE_HOME", machine.path().join("state"));
    command.env("XDG_CONFIG_HOME", machine.path());
    let output = command.stdin(stdin).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// Returns a terminal on which a person has typed the end of input, and its other end.
fn terminal() -> (File, File) {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let slave = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let slave = OpenOptions::new().read(true).write(true).open(slave).unwrap();
    let mut master = File::from(master);
    master.write_all(b"\x04").unwrap();
    (slave, master)
}

#[test]
fn a_command_that_a_client_should_start_says_so() {
    let machine = TestMachine::new();
    let expected =
        "an ACP client starts this and speaks to it on stdin; `askbridge demo` shows how it works\n";
    for (name, args) in [("run", &["run", "--", "true"][..]), ("mock-agent", &["mock-agent"])] {
        let (slave, _master) = terminal();
        assert_eq!(stderr(&machine, args, slave.into()), format!("askbridge {name}: {expected}"));
        assert_eq!(stderr(&machine, args, Stdio::null()), "");
    }
}
