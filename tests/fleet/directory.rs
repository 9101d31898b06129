//! The directory of the fleet: only the operator makes it, no other one is used, and nobody fills it for the others.

use std::{
    os::unix::process::CommandExt,
    process::Command,
    thread,
    time::{Duration, Instant},
};

use askbridge_os::exit;
use futures::StreamExt;
use rustix::process::{Pid, Resource, Rlimit, prlimit};
use serde_json::{Value, json};
use tokio::{runtime::Builder, time::timeout};

use crate::{
    server::Server,
    support::{DEADLINE, Process},
    world::{Asked, Member, World, ids},
};

/// A user who may do everything, as one who has changed `users.conf` may.
const ROOT: &str = "\n      { user: root, password: root }\n";

/// Starts a broker where the user `root` may do everything, without a directory.
fn open_world() -> World {
    let mut world = World::without_directory();
    let path = world.users.folder().join("creds/users.conf");
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replacen("users = [", &format!("users = [{ROOT}"), 1)).unwrap();
    world.server.kill();
    world.server.run();
    world
}

/// Makes a request as the user `root`.
fn request(server: &Server, subject: &str, body: &Value) -> Value {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let options =
            async_nats::ConnectOptions::with_user_and_password("root".to_owned(), "root".to_owned());
        let client = options.connect(server.url()).await.unwrap();
        let body = if body.is_null() { String::new() } else { body.to_string() };
        let reply = client.request(subject.to_owned(), body.into()).await.unwrap();
        serde_json::from_slice(&reply.payload).unwrap()
    })
}

/// The configuration of the directory as the server returns it.
fn config(server: &Server) -> Value {
    request(server, "$JS.API.STREAM.INFO.KV_askbridge", &Value::Null)["config"].clone()
}

/// Says whether a member may not use the broker because of this.
fn is_refused(member: &Member, what: &str) -> bool {
    let status = member.run(&["status"]).stdout;
    status.contains(what)
        && status.contains("is not used")
        && status.contains("fleet create FOLDER --replace")
}

#[test]
fn a_directory_that_is_not_as_askbridge_makes_it_is_named_and_not_used_until_it_is() {
    let world = open_world();
    assert!(world.users.create(&world.server.url(), &[]).status.success());
    let right = config(&world.server);
    for (name, value) in [
        ("subjects", json!(["$KV.askbridge.>", "askbridge.v1.>"])),
        ("subjects", json!([">"])),
        ("republish", json!({ "src": "$KV.askbridge.>", "dest": "seen.>" })),
        ("sources", json!([{ "name": "other" }])),
        ("subject_transform", json!({ "src": "$KV.askbridge.>", "dest": "$KV.askbridge.box.>" })),
        ("max_age", json!(0)),
        ("no_ack", json!(false)),
    ] {
        // New processes, since the pauses between the tries of a process grow to half a minute.
        let Asked { far, person, agent, id, .. } = world.asked("box", "ana");
        let mut wrong = right.clone();
        wrong[name] = value;
        // Everything is acknowledged or captured otherwise, which the server refuses.
        wrong["no_ack"] = json!(name != "no_ack");
        request(&world.server, "$JS.API.STREAM.DELETE.KV_askbridge", &Value::Null);
        let made = request(&world.server, "$JS.API.STREAM.CREATE.KV_askbridge", &wrong);
        assert!(made.get("error").is_none(), "{name}: {made}");
        is_named_and_not_used(&world, [&person, &far], &id, &format!("{name} is "));
        assert_eq!(config(&world.server), right);
        // Those who are connected come back by themselves.
        person.until_said(&["answer", &id, "b"], "answered");
        agent.has_heard("b");
    }
}

/// Checks that a person and a machine, which are connected, notice what is wrong, and that the operator replaces it.
fn is_named_and_not_used(world: &World, [person, far]: [&Member; 2], id: &str, what: &str) {
    let listed = person.until_said(&["list"], what);
    assert_eq!(listed.code, i32::from(exit::BRIDGE_GONE), "{listed:?}");
    assert!(!listed.stderr.contains("WARN"), "{listed:?}");
    assert!(is_refused(person, what) && is_refused(far, what), "{what}");
    let refused = person.run(&["answer", id, "a"]);
    assert_eq!(refused.code, i32::from(exit::BRIDGE_GONE), "{refused:?}");
    assert!(refused.stderr.contains(what), "{refused:?}");
    // Nothing but the operator's word replaces it.
    let kept = world.users.create(&world.server.url(), &[]);
    let said = String::from_utf8_lossy(&kept.stderr).into_owned();
    assert!(!kept.status.success() && said.contains(what), "{said}");
    assert!(world.users.create(&world.server.url(), &["--replace"]).status.success());
}

#[test]
fn only_the_operator_makes_the_directory_and_a_restart_of_the_broker_keeps_it() {
    let mut world = World::without_directory();
    let (mut far, person) = (world.member("box"), world.member("ana"));
    let machine = far.gateway();
    let (_agent, own) = far.asks("Which?");
    let id = format!("{machine}/{own}");
    // Neither of them makes it.
    let listed = person.run(&["list"]);
    assert_eq!(listed.code, i32::from(exit::BRIDGE_GONE), "{listed:?}");
    assert!(
        listed.stderr.contains("its operator makes one with `askbridge fleet create FOLDER`"),
        "{listed:?}"
    );
    for member in [&person, &far] {
        let status = member.run(&["status"]).stdout;
        assert!(status.contains("the broker has no directory yet"), "{status}");
    }
    world.server.create(&world.users);
    let made = world.users.create(&world.server.url(), &[]);
    assert!(made.status.success() && String::from_utf8_lossy(&made.stdout).contains("already"), "{made:?}");
    // The machine hears of it, and writes its entry before it would renew it.
    let begun = Instant::now();
    person.until_listed("the question", |ids| ids == [id.clone()]);
    assert!(begun.elapsed() < Duration::from_secs(8), "{:?}", begun.elapsed());
    world.server.kill();
    world.server.run();
    person.until_listed("the question after a restart", |ids| ids == [id.clone()]);
    let status = person.run(&["status"]).stdout;
    assert!(!status.contains("no directory"), "{status}");
}

/// Writes entries as a user under new names, so many in a second, until this many are written.
fn flood(world: &World, user: &str, in_second: usize, all: usize, answers: bool) -> thread::JoinHandle<()> {
    let (url, user, password) = (world.server.url(), user.to_owned(), world.users.password(user));
    thread::spawn(move || {
        let runtime = Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let options = async_nats::ConnectOptions::with_user_and_password(user.clone(), password);
            let client = options.connect(url).await.unwrap();
            let listening = answers.then(|| client.subscribe(format!("askbridge.v1.{user}.*.call.*")));
            let mut calls = match listening {
                Some(listening) => Some(listening.await.unwrap()),
                None => None,
            };
            let mut each = tokio::time::interval(Duration::from_secs(1) / 10);
            for step in 0..all * 10 / in_second {
                each.tick().await;
                for number in 0..in_second / 10 {
                    let place = format!("$KV.askbridge.{user}.h-{:06}", step * in_second / 10 + number);
                    client.publish(place, r#"{"version":"0","open":9}"#.into()).await.unwrap();
                }
                // It says of each name that there is a machine.
                while let Some(calls) = &mut calls
                    && let Ok(Some(call)) = timeout(Duration::from_millis(1), calls.next()).await
                {
                    let reply = call.reply.unwrap();
                    let (session, _) = reply.rsplit_once('.').unwrap();
                    let mut headers = async_nats::HeaderMap::new();
                    headers.insert("Askbridge-End", "there is no such session");
                    client.publish_with_headers(format!("{session}.s"), headers, "".into()).await.unwrap();
                }
            }
            client.flush().await.unwrap();
        });
    })
}

/// Lets a process have at most this many open files.
fn limit_files(process: &Process, files: u64) {
    let pid = Pid::from_raw(process.id().cast_signed());
    prlimit(pid, Resource::Nofile, Rlimit { current: Some(files), maximum: Some(files) }).unwrap();
}

#[test]
fn a_stolen_credential_that_fills_the_directory_costs_the_others_nothing() {
    for answers in [false, true] {
        let world = World::new();
        let mut far = world.member("other");
        let person = world.member("ana");
        let machine = far.gateway();
        let inbox = Process::spawn(&mut person.command(&["inbox", "--addr", "127.0.0.1:0"]));
        inbox.expect_stderr("that it listens", |said| said.contains("listening on"));
        // A machine of the fleet takes no open file.
        limit_files(&inbox, 128);
        let flooding = flood(&world, "box", 400, 4000, answers);
        let mut open = Vec::new();
        for round in 0..5 {
            let (agent, own) = far.asks(&format!("Round {round}?"));
            let id = format!("{machine}/{own}");
            person.until_listed("the question", |ids| ids.contains(&id));
            let begun = Instant::now();
            person.ok(&["answer", &id, "a"]);
            assert!(begun.elapsed() < Duration::from_secs(3), "{:?}", begun.elapsed());
            open.push(agent);
        }
        let descriptors = std::fs::read_dir(format!("/proc/{}/fd", inbox.id())).unwrap().count();
        assert!(descriptors < 100, "{descriptors} open files");
        let machines = person.run(&["machine", "list"]).stdout;
        let ghosts = machines.lines().filter(|line| line.contains("box.h-")).count();
        assert!(ghosts <= if answers { 16 } else { 0 }, "{machines}");
        if !answers {
            // Lists are whole, with the inbox and without one.
            let listed = person.run(&["list"]);
            assert_eq!(listed.code, 0, "{listed:?}");
            let other = world.member("bob").run(&["list"]);
            assert_eq!(other.code, 0, "{other:?}");
        }
        flooding.join().unwrap();
        open.into_iter().for_each(|agent| assert_eq!(agent.end().0, 1));
    }
}

/// Without its user, the broker would get the password of whoever connects.
#[test]
fn the_password_does_not_go_to_a_listener_of_another_user() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let mut world = World::new();
    let person = world.member("ana");
    let port = world.server.port;
    world.server.kill();
    let script = "
import socket, sys
listener = socket.socket(); listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
listener.bind(('127.0.0.1', int(sys.argv[1]))); listener.listen(); print('listening', flush=True)
while True:
    stream = listener.accept()[0]
    stream.sendall(b'INFO {\"server_id\":\"x\",\"version\":\"2.15.1\",\"max_payload\":65536,\"headers\":true}\\r\\n')
    print('got', repr(stream.recv(65536)), flush=True)
";
    let mut stranger = Command::new("python3");
    stranger.args(["-c", script, &port.to_string()]).uid(65534);
    let mut stranger = Process::spawn(&mut stranger);
    stranger.expect("that it listens", |line| line.contains("listening"));
    let listed = person.run(&["list"]);
    assert_eq!(listed.code, i32::from(exit::BRIDGE_GONE), "{listed:?}");
    assert!(listed.stderr.contains("runs as the user with the ID 65534"), "{listed:?}");
    assert!(listed.stderr.contains("fleet.server-user"), "{listed:?}");
    let line = stranger.expect("the end of the connection", |line| line.contains("got"));
    assert!(!line.contains("CONNECT") && !line.contains(&world.users.password("ana")), "{line}");
    // The user says that it is the broker's user.
    let settings = format!(
        "[fleet]\nurl = {:?}\ncredentials = {:?}\nserver-user = \"65534\"\n",
        world.server.url(),
        world.users.file("ana")
    );
    person.person.sets(&settings);
    person.run(&["list"]);
    let line = stranger.expect("the password", |line| line.contains("got"));
    assert!(line.contains("CONNECT"), "{line}");
}

/// A server that says that it is of this version, and accepts everyone.
#[test]
fn a_broker_that_is_too_old_makes_lists_incomplete() {
    let world = World::without_directory();
    let person = world.member("ana");
    let script = "
import socket
listener = socket.socket(); listener.bind(('127.0.0.1', 0)); listener.listen()
print('listening', listener.getsockname()[1], flush=True)
while True:
    stream = listener.accept()[0]
    stream.sendall(b'INFO {\"server_id\":\"x\",\"version\":\"2.9.10\",\"max_payload\":65536,\"headers\":true}\\r\\n')
    stream.recv(65536); stream.sendall(b'PONG\\r\\n')
";
    let mut old = Process::spawn(Command::new("python3").args(["-c", script]));
    let line = old.expect("its port", |line| line.contains("listening"));
    let port = line.split_whitespace().last().unwrap();
    person.sets(&world.users.file("ana"), &format!("nats://127.0.0.1:{port}"));
    let listed = person.run(&["list"]);
    assert_eq!(listed.code, i32::from(exit::BRIDGE_GONE), "{listed:?}");
    assert!(
        listed.stderr.contains("the broker is older than 2.10: install nats-server 2.10 or later"),
        "{listed:?}"
    );
    assert_eq!(ids(&person.run(&["list", "--json"]).stdout), [""; 0]);
    let deadline = Instant::now() + DEADLINE;
    assert!(person.run(&["status"]).stdout.contains("older than 2.10") && Instant::now() < deadline);
}
