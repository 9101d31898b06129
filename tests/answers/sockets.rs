//! The directory of the sockets: its mode and owner, what is left in it, and what a bridge does without one.

use std::{
    fs,
    os::unix::{fs::PermissionsExt, net::UnixListener, process::CommandExt},
    path::Path,
    process::Command,
};

use askbridge_os::exit;
use serde_json::json;

use crate::answers::{
    machine::{ASKBRIDGE, TestMachine, end},
    played::PlayedBridge,
};
use crate::support::Process;

/// A question that `cat` asks if its client says it.
const QUESTION: &str = r#"{"jsonrpc":"2.0","id":1,"method":"_sandboxagent/session/request_question","params":{"sessionId":"s","questionId":"q","prompt":"Which?","options":[["a","A"]]}}"#;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

#[test]
fn directory_and_socket_are_private() {
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

/// Connects as this user, and returns what the bridge replies.
fn said_to(uid: u32, socket: &Path) -> String {
    let script = r#"my $s = IO::Socket::UNIX->new(Peer => $ARGV[0]) or die "not connected";
        $s->print("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"bridge_status\"}\n"); $s->shutdown(1); print while <$s>"#;
    let mut perl = Command::new("perl");
    perl.args(["-MIO::Socket::UNIX", "-e", script]).arg(socket).uid(uid);
    let output = perl.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!errors.contains("not connected"), "{errors}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn another_user_is_refused_whatever_the_modes_are() {
    let own = rustix::process::geteuid();
    if !own.is_root() {
        // Only root can become another user. The modes are tested for all.
        return directory_and_socket_are_private();
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
    assert!(said_to(own.as_raw(), &socket).contains("\"protocol\":1"));
    assert_eq!(said_to(65_534, &socket), "");
    bridge.expect_stderr("the warning", |text| text.contains("connection of another user"));
}

#[test]
fn without_a_runtime_directory_the_state_directory_is_used() {
    let machine = TestMachine::new();
    let state = machine.path().join("state");
    let home = machine.path().join("home");
    for (name, value, folder) in [
        ("XDG_STATE_HOME", &state, state.join("askbridge")),
        ("HOME", &home, home.join(".local/state/askbridge")),
    ] {
        let mut command = machine.command(&["list"]);
        // A relative path is ignored.
        command.env("XDG_RUNTIME_DIR", "relative").env_remove("XDG_STATE_HOME").env(name, value);
        assert_eq!(end(crate::support::Process::spawn(&mut command)).code, 0);
        assert_eq!(mode(&folder), 0o700, "{name}");
    }
    let mut command = Command::new(ASKBRIDGE);
    // Without the variable, the user database has the home.
    let run = end(crate::support::Process::spawn(command.arg("list").env_clear().env("HOME", "relative")));
    assert_eq!(run.code, i32::from(exit::FAILED));
    assert!(run.stderr.contains("set XDG_RUNTIME_DIR"), "{run:?}");
}

/// The official SDKs start the command of an agent with few variables, as cron does.
fn with_few_variables(home: &Path, sessions: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(ASKBRIDGE);
    command.args(args).env_clear().env("PATH", std::env::var_os("PATH").unwrap()).env("HOME", home);
    command.env("ASKBRIDGE_RUN_USER", sessions);
    command
}

#[test]
fn bridges_and_commands_meet_though_one_of_them_has_few_variables() {
    for has_session in [true, false] {
        let machine = TestMachine::new();
        let (home, sessions) = (machine.path().join("home"), machine.path().join("sessions"));
        let session = sessions.join(rustix::process::geteuid().as_raw().to_string());
        if has_session {
            fs::create_dir_all(&session).unwrap();
            fs::set_permissions(&session, fs::Permissions::from_mode(0o700)).unwrap();
        }
        let few = |args: &[&str]| with_few_variables(&home, &sessions, args);
        let of_shell = |args: &[&str]| {
            let mut command = few(args);
            let runtime = if has_session { &session } else { machine.path() };
            command.env("XDG_RUNTIME_DIR", runtime).env("XDG_STATE_HOME", machine.path().join("state"));
            command
        };
        let ask = ["ask", "Why?", "--json"];
        for (asks, looks) in [(few(&ask), "shell"), (of_shell(&ask), "few")] {
            if !has_session && looks == "few" {
                // Nothing tells it of the directories that only the shell's variables name.
                continue;
            }
            let command = |args: &[&str]| if looks == "few" { few(args) } else { of_shell(args) };
            let mut asked = Process::spawn(&mut { asks });
            let said = asked.expect_stderr("its ID", |text| text.contains(" waits: askbridge"));
            let id = said.split_once("question ").unwrap().1.split(' ').next().unwrap().to_owned();
            let run = end(Process::spawn(&mut command(&["answer", &id, "because"])));
            assert_eq!(run.code, 0, "{looks}, {has_session}: {run:?}");
            assert!(asked.wait().success());
        }
    }
}

#[test]
fn the_socket_of_a_dead_bridge_is_removed() {
    let machine = TestMachine::new();
    let client = machine.client("silent", "a question", &["--client-questions", "none"], &[]);
    let id = machine.question();
    let bridge = id.split_once('-').unwrap().0;
    // A listener that is dropped leaves its socket, as a killed bridge does.
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
fn a_frozen_bridge_is_left_out_and_named() {
    let machine = TestMachine::new();
    let _client = machine.client("silent", "a question", &["--client-questions", "none"], &[]);
    let id = machine.question();
    // Another first letter than the open question's: a short form names one bridge alone.
    let mute = if id.starts_with('m') { "still" } else { "mute" };
    let [own, short] = [format!("{mute}-1"), format!("{}-1", &mute[..1])];
    let name = format!("{mute}.sock");
    let socket = machine.sockets().join(&name);
    let _frozen = UnixListener::bind(&socket).unwrap();
    // All at once, since each waits for it.
    let watch = machine.start(&["list", "--watch"]);
    let runs = [
        (exit::BRIDGE_GONE, &["list"][..]),
        (exit::BRIDGE_GONE, &["list", "--json"]),
        (exit::BRIDGE_GONE, &["show", &own]),
        (exit::BRIDGE_GONE, &["answer", &short, "a"]),
        (exit::BRIDGE_GONE, &["reject", &own]),
        (exit::BRIDGE_GONE, &["extend", &own, "1h"]),
    ];
    let runs = runs.map(|(code, args)| (code, args, machine.start(args)));
    for (code, args, process) in runs {
        let run = end(process);
        assert_eq!(run.code, i32::from(code), "{args:?}: {run:?}");
        assert_eq!(run.stdout.contains(&id), args[0] == "list", "{args:?}: {run:?}");
        if args.contains(&"--json") {
            let list: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
            assert_eq!((&list["complete"], &list["unreachable"]), (&false.into(), &json!([socket])));
        }
        let lines: Vec<_> = run.stderr.lines().collect();
        let [line] = lines[..] else { panic!("{args:?}: {run:?}") };
        assert!(line.contains("a bridge did not reply: ") && line.ends_with(&*name), "{args:?}: {run:?}");
    }
    watch.expect_stderr("the bridge", |text| text.contains(&*name));
    let run = machine.run(&["status"]);
    assert!(run.code == i32::from(exit::BRIDGE_GONE) && run.stderr.is_empty(), "{run:?}");
    assert!(run.stdout.ends_with(&format!("\ndid not reply: {}\n", socket.display())), "{run:?}");
    // The agent behind the frozen bridge may have given a question this ID.
    assert_eq!(machine.run(&["show", "other-1"]).code, i32::from(exit::BRIDGE_GONE));
    assert!(machine.ok(&["show", &id]).starts_with(&id));
    assert!(socket.exists(), "it lives");
}

/// Checks that a bridge that cannot be reached says why, and bridges.
#[track_caller]
fn bridges_without(machine: &TestMachine, runtime: &Path, why: &str) {
    let mut command = machine.command(&["run", "--", "cat"]);
    let mut bridge = crate::support::Process::spawn(
        command.env("XDG_RUNTIME_DIR", runtime).env("XDG_STATE_HOME", runtime).env("HOME", "relative"),
    );
    bridge.send("on");
    bridge.expect("the echo", |line| line == "on");
    bridge.expect_stderr("why", |text| text.contains("only the client can answer") && text.contains(why));
    bridge.close_stdin();
    assert_eq!(bridge.wait().code(), Some(0));
}

#[test]
fn a_directory_that_others_can_enter_is_not_used() {
    let machine = TestMachine::new();
    fs::create_dir(machine.sockets()).unwrap();
    fs::set_permissions(machine.sockets(), fs::Permissions::from_mode(0o750)).unwrap();
    let why = "/askbridge can be entered by other users: its mode is 0750 and must be 0700";
    bridges_without(&machine, machine.path(), why);
    asks_beside(&machine, why);
}

/// Checks that a bridge that cannot use its first directory uses another, where commands find it, and that both say why.
#[track_caller]
fn asks_beside(machine: &TestMachine, why: &str) {
    let mut bridge = machine.start(&["run", "--client-questions", "none", "--", "cat"]);
    bridge.send(QUESTION);
    bridge.expect_stderr("why", |text| text.contains(why));
    let questions = machine.questions(1);
    let list = machine.run(&["list"]);
    assert_eq!(list.code, 0, "{list:?}");
    assert!(list.stderr.contains(why) && list.stdout.contains("Which?"), "{list:?}");
    assert!(
        machine
            .path()
            .join("state/askbridge")
            .join(format!("{}.sock", questions[0]["bridge"].as_str().unwrap()))
            .exists()
    );
    bridge.close_stdin();
    assert_eq!(bridge.wait().code(), Some(0));
}

#[test]
fn a_directory_of_another_user_is_not_used() {
    if !rustix::process::geteuid().is_root() {
        // Only root can give a directory away.
        return;
    }
    let machine = TestMachine::new();
    fs::create_dir(machine.sockets()).unwrap();
    fs::set_permissions(machine.sockets(), fs::Permissions::from_mode(0o700)).unwrap();
    std::os::unix::fs::chown(machine.sockets(), Some(65_534), None).unwrap();
    asks_beside(&machine, "/askbridge belongs to another user");
}

#[test]
fn a_file_in_the_place_of_the_directory_is_reported() {
    let machine = TestMachine::new();
    fs::write(machine.sockets(), "").unwrap();
    bridges_without(&machine, machine.path(), "/askbridge is not a directory");
}

/// Another user may change the target of a symlink.
#[test]
fn a_symlink_to_a_directory_is_not_used() {
    let machine = TestMachine::new();
    let elsewhere = machine.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    fs::set_permissions(&elsewhere, fs::Permissions::from_mode(0o700)).unwrap();
    std::os::unix::fs::symlink(&elsewhere, machine.sockets()).unwrap();
    bridges_without(&machine, machine.path(), "/askbridge is a symlink");
    assert_eq!(fs::read_dir(&elsewhere).unwrap().count(), 0);
}

#[test]
fn a_path_that_is_too_long_for_a_socket_is_reported() {
    let machine = TestMachine::new();
    let long = machine.path().join("x".repeat(100));
    fs::create_dir(&long).unwrap();
    bridges_without(&machine, &long, "too long for the name of a socket");
}

#[test]
fn a_directory_that_cannot_be_created_is_reported() {
    let machine = TestMachine::new();
    let file = machine.path().join("file");
    fs::write(&file, "").unwrap();
    bridges_without(&machine, &file, "file/askbridge");
}

#[test]
fn a_bridge_ends_in_silence_while_programs_follow_it() {
    let machine = TestMachine::new();
    let mut bridge = machine.start(&["run", "--client-questions", "native", "--", "cat"]);
    bridge.send(QUESTION);
    let mut followers: Vec<_> = (0..4).map(|_| machine.watch()).collect();
    followers.iter_mut().for_each(|follower| drop(follower.until("the question", |open| open.len() == 1)));
    bridge.close_stdin();
    let run = end(bridge);
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run:?}");
}

/// Starts bridges without questions.
fn many(machine: &TestMachine) -> Vec<PlayedBridge> {
    (0..30)
        .map(|number| {
            let name = format!("played{number}");
            let status = json!({
                "protocol": 1, "bridge": name, "agent": "a", "folder": "/", "pid": 1, "startedAt": "2026-11-21T12:00:00Z",
                "uptimeMs": 5, "version": "1.0.0", "open": 0,
            });
            PlayedBridge::start(machine, &name, status, Vec::new())
        })
        .collect()
}

/// Starts a command that can have 24 files open.
fn short_of_descriptors(machine: &TestMachine, args: &[&str]) -> Process {
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -n 24; exec \"$@\"", "sh", ASKBRIDGE]).args(args);
    shell.env("XDG_RUNTIME_DIR", machine.path()).env("ASKBRIDGE_JOURNAL_ENABLED", "false");
    Process::spawn(&mut shell)
}

#[test]
fn more_bridges_than_file_descriptors_are_all_read() {
    let machine = TestMachine::new();
    let _bridges = many(&machine);
    let run = end(short_of_descriptors(&machine, &["list"]));
    assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{run:?}");
}

/// A command that follows the bridges keeps a connection to each.
#[test]
fn a_command_that_has_no_file_descriptor_left_says_so() {
    let machine = TestMachine::new();
    let _bridges = many(&machine);
    let follower = short_of_descriptors(&machine, &["list", "--watch"]);
    let said = follower.expect_stderr("why", |said| said.contains("file descriptor left"));
    assert!(said.contains("bridges could not be asked") && said.contains("ulimit -n"), "{said}");
}
