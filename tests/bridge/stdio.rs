//! Stdin and stdout of the bridge may be pipes, sockets, files and terminals. Each carries the same bytes (I1), and the
//! flags of streams that other processes share are restored.

use std::{
    fs::{File, OpenOptions},
    io::{self, Read, Write},
    net::Shutdown,
    os::{
        fd::{AsFd, OwnedFd},
        unix::net::UnixStream,
    },
    process::{Command, Stdio},
};

use rustix::{
    fs::{OFlags, fcntl_getfl, fcntl_setfl},
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
};

use crate::bridge::program::{ASKBRIDGE, MOCK, Running, after, assert_same, bridge, read_line, sh, talk};
use crate::support::Process;
use crate::support::lines;

fn flags(fd: impl AsFd) -> OFlags {
    fcntl_getfl(fd).unwrap()
}

/// Returns a socket for a child's stdin or stdout, and its other end.
fn socket() -> (OwnedFd, UnixStream) {
    let (theirs, ours) = UnixStream::pair().unwrap();
    (theirs.into(), ours)
}

#[test]
fn two_socket_pairs_as_node_makes_them_carry_every_byte() {
    let stream = lines::stream();
    let ((stdin, our_input), (stdout, our_output)) = (socket(), socket());
    let mut running = Running::start(bridge(&["cat"]), stdin, stdout);
    let output = talk(our_input, our_output, &stream, 65_536);
    assert_same(&output, &stream);
    assert_eq!(running.wait().code(), Some(0));
}

#[test]
fn one_socket_for_both_directions_carries_every_byte_and_can_be_half_closed() {
    // The client closes its half and still receives everything.
    let stream = lines::stream();
    let (theirs, ours) = socket();
    let mut running = Running::start(bridge(&["cat"]), theirs.try_clone().unwrap(), theirs);
    let writer = HalfClosed(ours.try_clone().unwrap());
    assert_same(&talk(writer, ours, &stream, 65_536), &stream);
    assert_eq!(running.wait().code(), Some(0));
}

/// Writes to a socket, and shuts its write half down when dropped: other descriptors keep the socket open.
struct HalfClosed(UnixStream);

impl Write for HalfClosed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl Drop for HalfClosed {
    fn drop(&mut self) {
        self.0.shutdown(Shutdown::Write).unwrap_or_default();
    }
}

#[test]
fn files_carry_every_byte() {
    let stream = lines::stream();
    let [input, output] = [(); 2].map(|()| tempfile::NamedTempFile::new().unwrap());
    std::fs::write(input.path(), &stream).unwrap();
    let mut running =
        Running::start(bridge(&["cat"]), File::open(input.path()).unwrap(), output.reopen().unwrap());
    assert_eq!(running.wait().code(), Some(0));
    assert_same(&std::fs::read(output.path()).unwrap(), &stream);
}

#[test]
fn a_file_that_was_opened_to_append_is_appended_to() {
    let output = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(output.path(), "before\n").unwrap();
    let append = OpenOptions::new().append(true).open(output.path()).unwrap();
    let mut running = Running::start(bridge(&["echo", "after"]), Stdio::null(), append);
    assert_eq!(running.wait().code(), Some(0));
    assert_same(&std::fs::read(output.path()).unwrap(), b"before\nafter\n");
}

#[test]
fn dev_null_is_a_client_that_is_gone() {
    let mut running = Running::start(bridge(&["cat"]), Stdio::null(), Stdio::null());
    assert_eq!(running.wait().code(), Some(0));
    let mut running = Running::start(bridge(&sh("echo lost; exit 4")), Stdio::null(), Stdio::null());
    assert_eq!(running.wait().code(), Some(4));
}

#[test]
fn a_closed_stdin_is_a_client_that_is_gone() {
    let (mut output, stdout) = io::pipe().unwrap();
    let closed = format!("exec {} run -- cat <&-", MOCK[0]);
    let mut command = Command::new("sh");
    command.args(["-c", &closed]);
    let mut running = Running::start(command, Stdio::null(), stdout);
    assert_eq!(read_line(&mut output), "");
    assert_eq!(running.wait().code(), Some(0));
}

#[test]
fn a_terminal_can_be_the_client() {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let slave = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let slave = OpenOptions::new().read(true).write(true).open(slave).unwrap();
    let before = flags(&slave);
    let [stdin, stdout] = [(); 2].map(|()| slave.try_clone().unwrap());
    let agent = sh("echo ready; read -r line; echo \"got $line\"; cat; echo end");
    let mut running = Running::start(bridge(&agent), stdin, stdout);
    let mut master = File::from(master);
    assert_eq!(read_line(&mut master), "ready\r\n");
    master.write_all(b"hello\n").unwrap();
    // The terminal echoes what is typed.
    assert_eq!(read_line(&mut master), "hello\r\n");
    assert_eq!(read_line(&mut master), "got hello\r\n");
    // Ctrl-D on an empty line ends the input.
    master.write_all(b"\x04").unwrap();
    assert_eq!(read_line(&mut master), "end\r\n");
    assert_eq!(running.wait().code(), Some(0));
    assert_eq!(flags(&slave), before);
}

#[test]
fn a_terminal_does_not_keep_the_bridge_when_the_agent_has_ended() {
    // A blocking read of a terminal cannot be cancelled.
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let slave = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let slave = OpenOptions::new().read(true).write(true).open(slave).unwrap();
    let mut running = Running::start(bridge(&sh("exit 9")), slave.try_clone().unwrap(), slave);
    assert_eq!(running.wait().code(), Some(9));
}

#[test]
fn the_flags_of_shared_pipes_are_restored() {
    // A shell's next command would not expect a non-blocking stdin. A pipe that was non-blocking before stays so.
    for non_blocking in [false, true] {
        let ((stdin, mut input), (mut output, stdout)) = (io::pipe().unwrap(), io::pipe().unwrap());
        let (shared_stdin, shared_stdout) = (stdin.try_clone().unwrap(), stdout.try_clone().unwrap());
        if non_blocking {
            for fd in [shared_stdin.as_fd(), shared_stdout.as_fd()] {
                fcntl_setfl(fd, flags(fd) | OFlags::NONBLOCK).unwrap();
            }
        }
        let before = (flags(&shared_stdin), flags(&shared_stdout));
        let mut running = Running::start(bridge(&["cat"]), stdin, stdout);
        input.write_all(b"line\n").unwrap();
        assert_eq!(read_line(&mut output), "line\n");
        drop(input);
        assert_eq!(running.wait().code(), Some(0));
        assert_eq!((flags(&shared_stdin), flags(&shared_stdout)), before);
    }
}

#[test]
fn the_flags_of_one_socket_for_both_directions_are_restored() {
    let (theirs, mut ours) = socket();
    let before = flags(&theirs);
    let command = bridge(&sh("read -r line; echo \"$line\"; exit 3"));
    let mut running = Running::start(command, theirs.try_clone().unwrap(), theirs.try_clone().unwrap());
    ours.write_all(b"line\n").unwrap();
    assert_eq!(read_line(&mut ours), "line\n");
    assert_eq!(running.wait().code(), Some(3));
    assert_eq!(flags(&theirs), before);
}

#[test]
fn the_flags_are_restored_when_the_agent_cannot_be_started() {
    let (theirs, mut ours) = socket();
    let before = flags(&theirs);
    let mut command = bridge(&["/nowhere/agent"]);
    command.stderr(Stdio::null());
    let mut running = Running::start(command, theirs.try_clone().unwrap(), theirs.try_clone().unwrap());
    assert_eq!(running.wait().code(), Some(127));
    assert_eq!(flags(&theirs), before);
    drop(theirs);
    assert_eq!(ours.read(&mut [0]).unwrap(), 0, "nothing was written");
}

#[test]
fn too_few_file_descriptors_are_an_error_and_no_panic() {
    let mut codes = Vec::new();
    // The bridges of other tests would be among those that the command cannot connect to.
    let runtime = tempfile::tempdir().unwrap();
    let mut list = Command::new(ASKBRIDGE);
    list.arg("list").env("XDG_RUNTIME_DIR", runtime.path()).env("ASKBRIDGE_JOURNAL_ENABLED", "false");
    // The dynamic loader needs a few itself. The last of these are enough for a bridge.
    for limit in (6..48).step_by(3).chain([47]) {
        for command in [&bridge(&["true"]), &list] {
            let mut process = Process::spawn(&mut after(&format!("ulimit -n {limit}"), command));
            process.close_stdin();
            let code = process.wait().code();
            let stderr = process.whole_stderr();
            assert!(!stderr.contains("panicked"), "with {limit} file descriptors: {stderr}");
            match code {
                Some(0) => {}
                Some(125) => {
                    assert!(stderr.contains("askbridge: "), "with {limit} file descriptors: {stderr}")
                }
                code => panic!("{code:?} with {limit} file descriptors: {stderr}"),
            }
            codes.push(code);
        }
    }
    assert_eq!((codes.first(), codes.last()), (Some(&Some(125)), Some(&Some(0))));
}
