//! The client goes away, at every step of a question: the agent gets exactly one response (I4) and the end of its input,
//! and its remaining output is forwarded.

use std::{
    fs,
    io::{self, PipeReader, PipeWriter, Write},
    net::Shutdown,
    os::unix::net::UnixStream,
    process::Command,
    time::{Duration, Instant},
};

use crate::bridge::program::{ASKBRIDGE, Running, bridge_with, native_bridge, read_line, sh};

const ASKED: &str = r#"{"jsonrpc":"2.0","id":1,"method":"_sandboxagent/session/request_question","params":{"sessionId":"s","prompt":"?","options":["A"]}}"#;
const ANSWER: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"status":"answered","answers":[["A"]]}}"#;
const CLIENT_GONE: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"status":"rejected","_meta":{"askbridge":{"reason":"client_gone"}}}}"#;

/// An agent that asks a question, and then records its input.
struct Heard {
    running: Running,
    file: tempfile::NamedTempFile,
}

impl Heard {
    /// Starts an agent that asks one question, and then copies its stdin to a file.
    fn start() -> (Self, PipeWriter, PipeReader) {
        let ((stdin, input), (output, stdout)) = (io::pipe().unwrap(), io::pipe().unwrap());
        let file = tempfile::NamedTempFile::new().unwrap();
        let script = format!("echo '{ASKED}'; cat >\"$0\"; echo last words; exit 3");
        let agent = [&sh(&script)[..], &[file.path().to_str().unwrap()]].concat();
        let running = Running::start(native_bridge(&agent), stdin, stdout);
        (Heard { running, file }, input, output)
    }

    /// Waits for the end, and compares the agent's input.
    #[track_caller]
    fn ends_with(mut self, heard: &str) {
        assert_eq!(self.running.wait().code(), Some(3));
        assert_eq!(fs::read_to_string(self.file.path()).unwrap(), heard);
    }
}

#[test]
fn a_rejection_after_half_a_line_stands_on_a_line_of_its_own() {
    for half in [r#"{"jsonrpc":"2.0","id":2,"meth"#, &ANSWER[..30], " "] {
        let (heard, mut input, mut output) = Heard::start();
        read_line(&mut output);
        input.write_all(half.as_bytes()).unwrap();
        drop(input);
        assert_eq!(io::read_to_string(&mut output).unwrap(), "last words\n");
        heard.ends_with(&format!("{half}\n{CLIENT_GONE}\n"));
    }
}

#[test]
fn an_answer_without_a_final_newline_is_the_only_response() {
    let (heard, mut input, mut output) = Heard::start();
    read_line(&mut output);
    input.write_all(ANSWER.as_bytes()).unwrap();
    drop(input);
    assert_eq!(io::read_to_string(&mut output).unwrap(), "last words\n");
    heard.ends_with(ANSWER);
}

#[test]
fn an_answer_right_before_the_end_of_the_client_counts() {
    let (heard, mut input, mut output) = Heard::start();
    read_line(&mut output);
    input.write_all(format!("{ANSWER}\n").as_bytes()).unwrap();
    drop(input);
    assert_eq!(io::read_to_string(&mut output).unwrap(), "last words\n");
    heard.ends_with(&format!("{ANSWER}\n"));
}

#[test]
fn a_question_that_the_client_never_read_is_rejected() {
    // The agent writes more than its pipe holds: once it is done, the bridge has read the question.
    let ((stdin, input), (output, stdout)) = (io::pipe().unwrap(), io::pipe().unwrap());
    let (mut errors, stderr) = io::pipe().unwrap();
    let heard = tempfile::NamedTempFile::new().unwrap();
    let script =
        format!("echo '{ASKED}'; head -c 100000 /dev/zero; echo; echo said >&2; cat >\"$0\"; exit 3");
    let mut command = native_bridge(&[&sh(&script)[..], &[heard.path().to_str().unwrap()]].concat());
    command.stderr(stderr);
    let mut running = Running::start(command, stdin, stdout);
    assert_eq!(read_line(&mut errors), "said\n");
    drop((input, output));
    assert_eq!(running.wait().code(), Some(3));
    assert_eq!(fs::read_to_string(heard.path()).unwrap(), format!("{CLIENT_GONE}\n"));
}

#[test]
fn a_question_that_the_client_read_in_part_is_rejected() {
    // The question is longer than a pipe's buffer. The client reads its beginning and closes both pipes.
    let ((stdin, input), (mut output, stdout)) = (io::pipe().unwrap(), io::pipe().unwrap());
    let [question, heard] = [(); 2].map(|()| tempfile::NamedTempFile::new().unwrap());
    let options = vec![format!("\"{}\"", "x".repeat(3900)); 60].join(",");
    let asked = ASKED.replace(r#"["A"]"#, &format!("[{options}]"));
    fs::write(question.path(), asked + "\n").unwrap();
    let [question_path, heard_path] = [&question, &heard].map(|file| file.path().to_str().unwrap());
    let agent = [&sh("cat \"$0\"; cat >\"$1\"; exit 3")[..], &[question_path, heard_path]].concat();
    let mut running = Running::start(native_bridge(&agent), stdin, stdout);
    assert_eq!(crate::bridge::program::read_some(&mut output, 100), &ASKED.as_bytes()[..100]);
    drop((input, output));
    assert_eq!(running.wait().code(), Some(3));
    assert_eq!(fs::read_to_string(heard.path()).unwrap(), format!("{CLIENT_GONE}\n"));
}

#[test]
fn a_client_that_closes_its_reading_end_is_gone_once_the_agent_writes() {
    // The other direction stays open. The agent's next line cannot be delivered.
    let ((stdin, input), (mut output, stdout)) = (io::pipe().unwrap(), io::pipe().unwrap());
    let heard = tempfile::NamedTempFile::new().unwrap();
    let script = format!("echo '{ASKED}'; read -r go; echo more; exec cat >\"$0\"");
    let agent = [&sh(&script)[..], &[heard.path().to_str().unwrap()]].concat();
    let mut running = Running::start(native_bridge(&agent), stdin, stdout);
    assert_eq!(read_line(&mut output), format!("{ASKED}\n"));
    drop(output);
    let mut input = input;
    input.write_all(b"go\n").unwrap();
    assert_eq!(running.wait().code(), Some(0));
    assert_eq!(fs::read_to_string(heard.path()).unwrap(), format!("{CLIENT_GONE}\n"));
    drop(input);
}

#[test]
fn a_client_that_closes_its_socket_is_gone() {
    // With two sockets, as Node makes them, and with one for both directions.
    for one in [false, true] {
        let (theirs, mut ours) = UnixStream::pair().unwrap();
        let (other, ours_too) = if one {
            (theirs.try_clone().unwrap(), None)
        } else {
            UnixStream::pair().map(|(a, b)| (a, Some(b))).unwrap()
        };
        let heard = tempfile::NamedTempFile::new().unwrap();
        let script = format!("echo '{ASKED}'; cat >\"$0\"; exit 3");
        let agent = [&sh(&script)[..], &[heard.path().to_str().unwrap()]].concat();
        let stdout = std::os::fd::OwnedFd::from(theirs);
        let mut running = Running::start(native_bridge(&agent), std::os::fd::OwnedFd::from(other), stdout);
        assert_eq!(read_line(&mut ours), format!("{ASKED}\n"));
        ours.shutdown(Shutdown::Both).unwrap();
        drop((ours, ours_too));
        assert_eq!(running.wait().code(), Some(3));
        assert_eq!(fs::read_to_string(heard.path()).unwrap(), format!("{CLIENT_GONE}\n"));
    }
}

#[test]
fn a_question_asked_after_the_client_has_gone_is_not_shown() {
    // The agent stays alive: what an agent wrote before its end reaches the client in any case.
    let ((stdin, input), (mut output, stdout)) = (io::pipe().unwrap(), io::pipe().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let go = folder.path().join("go");
    assert!(Command::new("mkfifo").arg(&go).status().unwrap().success());
    let script = format!("cat >/dev/null; echo '{ASKED}'; echo last words; read -r _ <\"$0\"; exit 3");
    let agent = [&sh(&script)[..], &[go.to_str().unwrap()]].concat();
    let mut running = Running::start(native_bridge(&agent), stdin, stdout);
    drop(input);
    assert_eq!(read_line(&mut output), "last words\n");
    fs::write(go, "go\n").unwrap();
    assert_eq!(read_line(&mut output), "");
    assert_eq!(running.wait().code(), Some(3));
}

#[test]
fn an_agent_that_outlives_its_input_gets_sigterm_after_the_grace() {
    let started = Instant::now();
    let ((stdin, mut input), (mut output, stdout)) = (io::pipe().unwrap(), io::pipe().unwrap());
    let command = bridge_with(&["--grace", "300ms"], &[ASKBRIDGE, "mock-agent"]);
    let mut running = Running::start(command, stdin, stdout);
    let new = r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}"#;
    let prompt = r#"{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"session-1","prompt":[{"type":"text","text":"outlive"}]}}"#;
    input.write_all(format!("{new}\n{prompt}\n").as_bytes()).unwrap();
    drop(input);
    assert!(io::read_to_string(&mut output).unwrap().contains("end_turn"));
    assert_eq!(running.wait().code(), Some(143));
    assert!(started.elapsed() >= Duration::from_millis(300));
}
