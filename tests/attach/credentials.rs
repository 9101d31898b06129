//! Who gets the password of opencode and the token of Copilot: a process that listens as another user plays the server.

use std::{
    fs,
    io::Read,
    net::TcpListener,
    path::Path,
    sync::mpsc::{Receiver, sync_channel},
    thread,
    time::Duration,
};

use rustix::{
    process::{Uid, geteuid},
    thread::set_thread_res_uid,
};

use crate::answers::machine::TestMachine;
use crate::attach::opencode::OPENCODE;
use crate::attach::scene::Kind;
use crate::support::Process;

const NOBODY: u32 = 65_534;
/// Longer than any wait within askbridge for one connection.
const DEADLINE: Duration = Duration::from_secs(60);

/// A server that belongs to another user, and what clients send to it.
struct Stranger {
    port: u16,
    received: Receiver<String>,
}

impl Stranger {
    /// Starts to listen. `None` where this is not possible, which CI does not accept.
    #[expect(clippy::print_stderr, reason = "whoever runs the tests must know that this one tested nothing")]
    fn listen() -> Option<Self> {
        if !geteuid().is_root() {
            assert!(std::env::var_os("CI").is_none(), "this test needs root: it listens as another user");
            eprintln!("NOT TESTED: only root can listen as another user; run this test as root");
            return None;
        }
        let (listening, port) = sync_channel(1);
        let (receive, received) = sync_channel(16);
        // The user of a thread is its own on Linux, so that no other process is needed.
        thread::spawn(move || {
            let nobody = Uid::from_raw(NOBODY);
            set_thread_res_uid(nobody, nobody, nobody).expect("root becomes any user");
            let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
            listening.send(listener.local_addr().expect("an address").port()).expect("the test waits");
            for stream in listener.incoming() {
                let mut stream = stream.expect("a client");
                stream.set_read_timeout(Some(Duration::from_millis(500))).expect("a socket");
                let mut bytes = Vec::new();
                // What was read stays there after a timeout.
                stream.read_to_end(&mut bytes).unwrap_or_default();
                if receive.send(String::from_utf8_lossy(&bytes).into_owned()).is_err() {
                    return;
                }
            }
        });
        let port = port.recv_timeout(DEADLINE).expect("a port");
        Some(Stranger { port, received })
    }

    /// Returns what the next client sent.
    fn next(&self) -> String {
        self.received.recv_timeout(DEADLINE).expect("a client")
    }
}

/// What a project says that wants the secrets of its users.
fn settings_with(server: &str) -> String {
    format!("[inbox]\nattach = true\ntrusted-servers = [\"{server}\"]\n")
}

fn attach(machine: &TestMachine, kind: &Kind, address: &str, folder: &Path) -> Process {
    let mut command = machine.command(&["attach", kind.name, address, "--log", "info"]);
    command.env(kind.secret, "top secret").env("XDG_CONFIG_HOME", machine.path().join("config"));
    Process::spawn(command.current_dir(folder))
}

/// Attaches to a server of another user, in a project that trusts it. Returns what askbridge says.
fn is_refused(kind: &Kind) {
    let Some(stranger) = Stranger::listen() else { return };
    let machine = TestMachine::new();
    let project = machine.path().join("project");
    fs::create_dir_all(project.join(".git")).expect("a folder");
    let server = format!("127.0.0.1:{}", stranger.port);
    fs::write(project.join(".askbridge.toml"), settings_with(&server)).expect("a file");
    let attached = attach(&machine, kind, &stranger.port.to_string(), &project);
    let log = attached.expect_stderr("the refusal", |text| text.contains("trusted-servers"));
    for part in [
        format!("does not get {}", kind.secret),
        "it runs as the user with the ID 65534".to_owned(),
        format!("add \"{server}\" to inbox.trusted-servers in your own settings"),
    ] {
        assert!(log.contains(&part), "{part}: {log}");
    }
    // The second client comes after the refusal of the first one.
    assert_eq!([stranger.next(), stranger.next()], ["", ""]);
}

/// Attaches to a server of another user that the user's own settings name. Returns what the server receives.
fn received_where_trusted(kind: &Kind) -> Option<String> {
    let stranger = Stranger::listen()?;
    let machine = TestMachine::new();
    let config = machine.path().join("config/askbridge");
    fs::create_dir_all(&config).expect("a folder");
    let server = format!("127.0.0.1:{}", stranger.port);
    fs::write(config.join("config.toml"), settings_with(&server)).expect("a file");
    let _attached = attach(&machine, kind, &stranger.port.to_string(), machine.path());
    Some(stranger.next())
}

const COPILOT: Kind = Kind { name: "copilot", attached: "", secret: "COPILOT_CONNECTION_TOKEN" };

#[test]
fn an_opencode_of_another_user_gets_no_password() {
    is_refused(&OPENCODE);
}

#[test]
fn a_copilot_of_another_user_gets_no_token() {
    is_refused(&COPILOT);
}

#[test]
fn an_opencode_that_the_users_own_settings_name_gets_the_password() {
    if let Some(received) = received_where_trusted(&OPENCODE) {
        // `opencode:top secret`
        let head = received.to_ascii_lowercase();
        assert!(head.contains("authorization: basic b3blbmnvzgu6dg9wihnly3jlda=="), "{received}");
    }
}

#[test]
fn a_copilot_that_the_users_own_settings_name_gets_the_token() {
    if let Some(received) = received_where_trusted(&COPILOT) {
        assert!(received.contains(r#""token":"top secret""#), "{received}");
    }
}

#[test]
fn an_opencode_without_a_password_may_belong_to_another_user() {
    let Some(stranger) = Stranger::listen() else { return };
    let machine = TestMachine::new();
    let _attached = machine.start(&["attach", "opencode", &stranger.port.to_string()]);
    let received = stranger.next();
    assert!(received.starts_with("GET /global/event") && !received.contains("uthorization"), "{received}");
}
