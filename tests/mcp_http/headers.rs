//! The headers that the settings name: where their values come from, and where they never go.

use std::fs;

use super::{
    host::{BEGUN, Host, INITIALIZE},
    server::Server,
};
use crate::{
    answers::machine::{TestMachine, end},
    support::Process,
};

const SETTINGS: &str = "[[mcp.servers]]\nurl = \"URL\"\nheaders = { Authorization = { env = \"TOKEN\", prefix = \"Bearer \" }, X-Key = 'k3y' }\n";

#[test]
fn each_request_has_the_headers_of_the_settings() {
    let mut server = Server::start();
    let mut host =
        Host::with(&server.url(), SETTINGS, &[("TOKEN", "s3cret"), ("ASKBRIDGE_LOG_LEVEL", "trace")]);
    host.send(INITIALIZE);
    let request = server.message("initialize");
    assert_eq!(
        (request.header("authorization"), request.header("x-key")),
        (Some("Bearer s3cret"), Some("k3y"))
    );
    // A server that shows what it got must not lead to a secret in a text of ours.
    request.reply(400, &["Content-Type: text/plain"], b"bad token: s3cret");
    let error = host.error(0);
    assert!(error.contains("replied 400: it refuses the request") && !error.contains("s3cret"), "{error}");
    // Not even in the most talkative log.
    host.send(INITIALIZE);
    server.message("initialize").respond(BEGUN);
    assert_eq!(host.line(), BEGUN);
    assert_eq!(host.leave(), Some(0));
    let log = host.process.whole_stderr();
    assert!(!log.contains("s3cret") && !log.contains("k3y"), "{log}");
}

#[test]
fn a_redirect_to_another_server_gets_no_header() {
    let (mut server, mut other) = (Server::start(), Server::start());
    let mut host = Host::with(&server.url(), SETTINGS, &[("TOKEN", "s3cret")]);
    host.send(INITIALIZE);
    server.message("initialize").reply(307, &[&format!("Location: {}", other.url())], b"");
    assert!(host.error(0).contains("to which no request is sent"));
    assert_eq!(host.leave(), Some(0));
    assert!(other.is_silent());
}

#[test]
fn nothing_is_sent_without_a_header() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("token");
    fs::write(&file, "s3cret\n").unwrap();
    let from_file = format!("[[mcp.servers]]\nurl = \"URL\"\nheaders = {{ A = {{ file = {:?} }} }}\n", file);
    let mut server = Server::start();
    let mut host = Host::with(&server.url(), &from_file, &[]);
    host.send(INITIALIZE);
    assert_eq!(server.message("initialize").header("a"), Some("s3cret"));
    fs::remove_file(&file).unwrap();
    let broken = "[[mcp.servers]]\nurl = \"URL\"\nheaders = { A = s3cret }\n";
    for (settings, said) in [
        (SETTINGS, "the environment variable TOKEN is not set"),
        (&*from_file, "token cannot be read"),
        (broken, "its settings have a mistake"),
        (
            "[[mcp.servers]]\nurl = \"URL\"\nheaders = { Host = 's3cret' }\n",
            "the header Host is set by askbridge itself",
        ),
    ] {
        let mut server = Server::start();
        let mut host = Host::with(&server.url(), settings, &[]);
        assert_eq!(host.process.wait().code(), Some(125), "{settings}");
        let stderr = host.process.whole_stderr();
        assert!(stderr.contains(said) && !stderr.contains("s3cret"), "{stderr}");
        assert!(server.is_silent(), "{settings}");
    }
}

#[test]
fn only_tls_leaves_the_machine_unless_the_settings_say_otherwise() {
    let machine = TestMachine::new();
    let run = machine.run(&["mcp-http", "http://mcp.example.org/mcp?key=s3cret"]);
    assert_eq!(run.code, 125);
    assert!(run.stderr.contains("http://mcp.example.org/mcp is not on this machine"), "{}", run.stderr);
    assert!(!run.stderr.contains("s3cret"), "{}", run.stderr);
    for (url, said) in [
        ("mcp.example.org", "the address must be https://HOST/PATH"),
        ("https://ada:s3cret@mcp.example.org/", "a password in the address"),
    ] {
        let run = machine.run(&["mcp-http", url]);
        assert!(run.code == 2 && run.stderr.contains(said) && !run.stderr.contains("s3cret"), "{run:?}");
    }
    let settings = "[[mcp.servers]]\nurl = \"URL\"\nplain-http = true\n";
    let mut host = Host::with("http://mcp.invalid/mcp", settings, &[]);
    host.send(INITIALIZE);
    assert!(host.error(0).contains("http://mcp.invalid/mcp cannot be reached"));
    host.process.close_stdin();
    assert_eq!(end(host.process).code, 0);
}

#[test]
fn the_doctor_names_a_header_without_a_value() {
    let machine = TestMachine::new();
    let folder = machine.path().join("config/askbridge");
    fs::create_dir_all(&folder).unwrap();
    let url = "https://mcp.example.org/mcp?key=s3cret";
    fs::write(folder.join("config.toml"), SETTINGS.replace("URL", url)).unwrap();
    let doctor = |token: Option<&str>| {
        let mut command = machine.command(&["doctor"]);
        command.env("XDG_CONFIG_HOME", machine.path().join("config")).env_remove("TOKEN");
        command.envs(token.map(|token| ("TOKEN", token)));
        let mut process = Process::spawn(&mut command);
        process.close_stdin();
        let report = end(process).stdout;
        assert!(!report.contains("s3cret") && !report.contains("k3y"), "{report}");
        report.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let missing = doctor(None);
    assert!(missing.contains("the environment variable TOKEN is not set"), "{missing}");
    let found = doctor(Some("s3cret"));
    assert!(found.contains("https://mcp.example.org/mcp: 2 headers have a value"), "{found}");
}
