//! The folder of the sockets: who may enter it, what is left in it, and what a bridge does without one.

use std::{
    fs,
    os::unix::{fs::PermissionsExt, net::UnixListener, process::CommandExt},
    path::Path,
    process::Command,
};

use askbridge::exit;

use crate::machine::{ASKBRIDGE, TestMachine, end};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn folder_and_socket_are_for_their_user_alone() {
    let machine = TestMachine::new();
    fs::set_permissions(machine.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let mut bridge = machine.start(&["run", "--", "cat"]);
    bridge.send("on");
    bridge.expect("the echo", |line| line == "on");
    let names = machine.names();
    let [name] = &names[..] else { panic!("{names:?}") };
    assert!(name.ends_with(".sock"), "{name}");
    assert_eq!((mode(&machine.sockets()), mode(&machine.sockets().join(name))), (0o700, 0o600));
    bridge.close_stdin();
    assert_eq!(bridge.wait().code(), Some(0));
    assert_eq!(machine.names(), [""; 0], "the socket is removed");
}

/// Connects as this user, and returns what is said to an ordinary request.
fn said_to(uid: u32, socket: &Path) -> String {
    let script = r#"my $s = IO::Socket::UNIX->new(Peer => $ARGV[0]) or die "not connected";
        $s->print("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"); print while <$s>"#;
    let mut perl = Command::new("perl");
    perl.args(["-MIO::Socket::UNIX", "-e", script]).arg(socket).uid(uid);
    let output = perl.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!errors.contains("not connected"), "{errors}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn another_user_is_refused_even_where_the_modes_let_it_in() {
    let own = rustix::process::geteuid();
    if !own.is_root() {
        // Only root can be another user; for everybody else the modes are what is left.
        return folder_and_socket_are_for_their_user_alone();
    }
    let machine = TestMachine::new();
    let bridge =
        machine.start(&["run", "--client-questions", "none", "--", "sh", "-c", "echo on >&2; exec cat"]);
    bridge.expect_stderr("that it is there", |text| text.contains("on"));
    let socket = machine.sockets().join(machine.names().remove(0));
    for path in [machine.path(), &machine.sockets()] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    fs::set_permissions(&socket, fs::Permissions::from_mode(0o666)).unwrap();
    assert!(said_to(own.as_raw(), &socket).starts_with("HTTP/1.1 "));
    assert_eq!(said_to(65_534, &socket), "");
    bridge.expect_stderr("the warning", |text| text.contains("another user's connection"));
}

#[test]
fn without_a_runtime_folder_it_is_the_state_folder() {
    let machine = TestMachine::new();
    let state = machine.path().join("state");
    let home = machine.path().join("home");
    for (name, value, folder) in [
        ("XDG_STATE_HOME", &state, state.join("askbridge")),
        ("HOME", &home, home.join(".local/state/askbridge")),
    ] {
        let mut command = machine.command(&["list"]);
        // A relative one is ignored.
        command.env("XDG_RUNTIME_DIR", "relative").env_remove("XDG_STATE_HOME").env(name, value);
        assert_eq!(end(crate::support::Process::spawn(&mut command)).code, 0);
        assert_eq!(mode(&folder), 0o700, "{name}");
    }
    let mut command = Command::new(ASKBRIDGE);
    let run = end(crate::support::Process::spawn(command.arg("list").env_clear()));
    assert_eq!(run.code, i32::from(exit::FAILED));
    assert!(run.stderr.contains("set XDG_RUNTIME_DIR"), "{run:?}");
}

#[test]
fn the_socket_of_a_dead_bridge_is_removed() {
    let machine = TestMachine::new();
    let client = machine.client("silent", "a question", &["--client-questions", "none"], &[]);
    let id = machine.question();
    let bridge = id.split_once('-').unwrap().0;
    // A bridge that is killed leaves its socket; so does a listener that is dropped.
    drop(UnixListener::bind(machine.sockets().join("dead.sock")).unwrap());
    fs::write(machine.sockets().join("unrelated"), "").unwrap();
    machine.ok(&["list"]);
    let mut names = machine.names();
    names.sort();
    let mut expected = [format!("{bridge}.sock"), "unrelated".to_owned()];
    expected.sort();
    assert_eq!(names, expected);
    drop(client);
}

#[test]
fn a_bridge_that_says_nothing_is_left_out() {
    let machine = TestMachine::new();
    let _client = machine.client("silent", "a question", &["--client-questions", "none"], &[]);
    let id = machine.question();
    let _mute = UnixListener::bind(machine.sockets().join("mute.sock")).unwrap();
    // All at once: each waits for it.
    let watch = machine.start(&["list", "--watch", "--log=off"]);
    let runs = [
        (exit::OK, &["list", "--log=off"][..]),
        (exit::OK, &["list", "--json", "--log=off"]),
        (exit::BRIDGE_GONE, &["show", "other-1", "--log=off"]),
        (exit::BRIDGE_GONE, &["answer", "other-1", "a", "--log=off"]),
        (exit::BRIDGE_GONE, &["reject", "other-1", "--log=off"]),
        (exit::BRIDGE_GONE, &["extend", "other-1", "1h", "--log=off"]),
    ];
    let runs = runs.map(|(code, args)| (code, args, machine.start(args)));
    let shows = machine.start(&["show", &id, "--log=off"]);
    for (code, args, process) in runs {
        let run = end(process);
        assert_eq!(run.code, i32::from(code), "{args:?}: {run:?}");
        assert_eq!(run.stdout.contains(&id), code == exit::OK, "{args:?}: {run:?}");
        let lines: Vec<_> = run.stderr.lines().collect();
        let [line] = lines[..] else { panic!("{args:?}: {run:?}") };
        assert!(line.contains("could not be asked: ") && line.ends_with("mute.sock"), "{args:?}: {run:?}");
    }
    watch.expect_stderr("the bridge", |text| text.contains("mute.sock"));
    let run = end(shows);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "what is found needs no other bridge");
    assert!(machine.sockets().join("mute.sock").exists(), "it lives");
}

/// A bridge that cannot be reached says why, and bridges.
#[track_caller]
fn bridges_without(machine: &TestMachine, runtime: &Path, why: &str) {
    let mut command = machine.command(&["run", "--", "cat"]);
    let mut bridge = crate::support::Process::spawn(command.env("XDG_RUNTIME_DIR", runtime));
    bridge.send("on");
    bridge.expect("the echo", |line| line == "on");
    bridge.expect_stderr("why", |text| text.contains("by the client only") && text.contains(why));
    bridge.close_stdin();
    assert_eq!(bridge.wait().code(), Some(0));
}

#[test]
fn a_folder_that_others_can_enter_is_not_used() {
    let machine = TestMachine::new();
    fs::create_dir(machine.sockets()).unwrap();
    fs::set_permissions(machine.sockets(), fs::Permissions::from_mode(0o750)).unwrap();
    bridges_without(&machine, machine.path(), "must be a folder of yours, with mode 0700");
    let run = machine.run(&["list"]);
    assert_eq!(run.code, i32::from(exit::FAILED));
    assert!(run.stderr.contains("must be a folder of yours, with mode 0700"), "{run:?}");
}

/// Where a link leads can be changed by others than who made the folder.
#[test]
fn a_link_to_a_folder_is_not_used() {
    let machine = TestMachine::new();
    let elsewhere = machine.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::set_permissions(&elsewhere, fs::Permissions::from_mode(0o700)).unwrap();
    std::os::unix::fs::symlink(&elsewhere, machine.sockets()).unwrap();
    bridges_without(&machine, machine.path(), "must be a folder of yours");
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
}

#[test]
fn a_path_that_is_too_long_for_a_socket_is_told() {
    let machine = TestMachine::new();
    let long = machine.path().join("x".repeat(100));
    fs::create_dir(&long).unwrap();
    bridges_without(&machine, &long, "too long for the name of a socket");
}

#[test]
fn a_folder_that_cannot_be_made_is_told() {
    let machine = TestMachine::new();
    let file = machine.path().join("file");
    fs::write(&file, "").unwrap();
    bridges_without(&machine, &file, "file/askbridge");
}
