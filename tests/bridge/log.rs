//! I5: stdout carries protocol and nothing else. The log goes to stderr or to a file, and tells no text of a
//! question or an answer unless it is asked for.

use std::{
    fs,
    io::{self, Read},
};

use rustix::fs::{CWD, Mode, mkfifoat};
use serde_json::{Value, json};

use crate::bridge::client::{Client, chosen};
use crate::bridge::program::{Running, assert_same, bridge, bridge_with, exchange, sh};
use crate::support::lines;

const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Runs a conversation in which a question is answered, another rejected and a third withdrawn, with these options,
/// and returns all that came on stdout, and what was logged on stderr.
fn conversation(options: &[&str]) -> (Vec<Value>, String) {
    let mut client = Client::with(options);
    let mut said = Vec::new();
    let id = client.ask("free question, the secret prompt");
    client.answer(id, chosen("the secret answer"));
    said.push(client.response("turn"));
    client.ask("a question, the secret prompt");
    client.notify("session/cancel", json!({ "sessionId": "session-1" }));
    said.push(client.response("turn"));
    let id = client.ask("withdraw a question, the secret prompt");
    client.answer(id, json!({ "action": "accept", "content": { "x": "the secret answer" } }));
    said.push(client.response("turn"));
    client.process.close_stdin();
    while let Some(message) = client.message() {
        said.push(message);
    }
    assert_eq!(client.process.wait().code(), Some(0));
    (said, client.process.whole_stderr())
}

#[test]
fn stdout_is_the_same_at_every_level() {
    // Every line of it is a message: the client would have failed otherwise.
    let quiet = conversation(&["--log", "off"]);
    assert_eq!(quiet.1, "");
    for level in LEVELS {
        assert_eq!(conversation(&["--log", level]).0, quiet.0, "{level}");
    }
}

#[test]
fn hostile_lines_pass_at_the_most_talkative_level() {
    // I1, I5: the log of a line does not get into its way.
    let lines = lines::terminated().into_iter().filter(|line| line.bytes.len() < 70_000);
    let stream: Vec<u8> = lines.flat_map(|line| line.bytes).collect();
    let file = tempfile::NamedTempFile::new().unwrap();
    let options = ["--log", "trace", "--log-file", file.path().to_str().unwrap()];
    let (output, status) = exchange(bridge_with(&options, &["cat"]), &stream, 4096);
    assert_same(&output, &stream);
    assert_eq!(status.code(), Some(0));
    assert!(!fs::read(file.path()).unwrap().is_empty());
}

#[test]
fn no_text_is_logged_below_trace() {
    for level in ["warn", "info", "debug"] {
        let (_, stderr) = conversation(&["--log", level]);
        assert!(!stderr.contains("secret") && !stderr.contains("branch"), "{level}: {stderr}");
    }
    let (_, stderr) = conversation(&[]);
    assert_eq!(stderr, "", "nothing happened that needs to be told");
}

#[test]
fn the_intercepted_lines_are_logged_at_trace() {
    let (_, stderr) = conversation(&["--log", "trace"]);
    assert!(stderr.contains("the secret prompt") && stderr.contains("the secret answer"), "{stderr}");
}

#[test]
fn info_tells_how_each_question_ended() {
    let (_, stderr) = conversation(&["--log", "info"]);
    assert_eq!(stderr.matches("question opened").count(), 3, "{stderr}");
    for outcome in ["answered", "cancelled", "withdrawn"] {
        assert!(stderr.contains(&format!("outcome=\"{outcome}\"")), "{outcome}: {stderr}");
    }
}

#[test]
fn a_log_file_is_appended_to_and_stderr_stays_empty() {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), "before\n").unwrap();
    let (_, stderr) = conversation(&["--log", "info", "--log-file", file.path().to_str().unwrap()]);
    let log = fs::read_to_string(file.path()).unwrap();
    assert_eq!(stderr, "");
    assert!(log.starts_with("before\n") && log.contains("question settled"), "{log}");
    assert!(!log.contains('\x1b'), "no colours in a file");
}

#[test]
fn a_log_in_json_is_one_object_a_line() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    conversation(&["--log", "trace", "--log-format", "json", "--log-file", path]);
    let log = fs::read_to_string(path).unwrap();
    let entries: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let with = |message: &str| entries.iter().filter(|entry| entry["fields"]["message"] == message).count();
    assert_eq!((with("question opened"), with("question settled")), (3, 3), "{log}");
    assert!(entries.iter().all(|entry| entry["level"].is_string() && entry["timestamp"].is_string()));
}

#[test]
fn a_log_file_that_cannot_be_opened_is_125() {
    let mut client = Client::start(&mut bridge_with(&["--log-file", "/nowhere/log"], &["echo", "lost"]));
    assert_eq!(client.message(), None);
    assert_eq!(client.process.wait().code(), Some(125));
    client.process.expect_stderr("the error", |text| text.contains("cannot open the log file"));
}

#[test]
fn a_fifo_as_log_file_needs_a_reader() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    mkfifoat(CWD, &path, Mode::RWXU).unwrap();
    let command = || bridge_with(&["--log", "debug", "--log-file", path.to_str().unwrap()], &["true"]);
    let mut without = Client::start(&mut command());
    assert_eq!(without.process.wait().code(), Some(125));
    without.process.expect_stderr("the error", |text| text.contains("start the program that reads it first"));

    // Opened for both, so that this does not wait for a writer, and so that the log ends with the bridge.
    let reader = fs::File::options().read(true).write(true).open(&path).unwrap();
    let mut with = Client::start(&mut command());
    with.process.close_stdin();
    assert_eq!(with.process.wait().code(), Some(0));
    let log = crate::bridge::program::read_line(&mut { reader });
    assert!(log.contains("DEBUG"), "{log}");
}

#[test]
fn stderr_of_the_agent_passes_as_it_is() {
    // All of it, whatever it is, also what comes in the very end.
    let short = lines::terminated().into_iter().filter(|line| line.bytes.len() < 70_000);
    let stream: Vec<u8> = short.flat_map(|line| line.bytes).collect();
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), &stream).unwrap();
    let agent = [&sh("cat \"$0\" >&2; printf last >&2")[..], &[file.path().to_str().unwrap()]].concat();
    let ((stdin, _input), (output, stdout)) = (io::pipe().unwrap(), io::pipe().unwrap());
    let (mut errors, stderr) = io::pipe().unwrap();
    let mut command = bridge(&agent);
    command.stderr(stderr);
    let mut running = Running::start(command, stdin, stdout);
    let mut said = Vec::new();
    errors.read_to_end(&mut said).unwrap();
    assert_same(&said, &[&stream, &b"last"[..]].concat());
    assert_eq!(io::read_to_string(output).unwrap(), "");
    assert_eq!(running.wait().code(), Some(0));
}

#[test]
fn a_stderr_that_is_not_read_does_not_stop_the_agent() {
    // I7 for the log as well. It is closed; a full one would block the agent over a direct pipe too.
    let ((stdin, _input), (mut output, stdout)) = (io::pipe().unwrap(), io::pipe().unwrap());
    let (errors, stderr) = io::pipe().unwrap();
    drop(errors);
    let mut command = bridge(&sh("head -c 1000000 /dev/zero >&2; echo through; exit 3"));
    command.stderr(stderr);
    let mut running = Running::start(command, stdin, stdout);
    assert_eq!(io::read_to_string(&mut output).unwrap(), "through\n");
    assert_eq!(running.wait().code(), Some(3));
}
