//! The agent ends, at every step of a question: the client gets all of the agent's output and then its end, and the
//! agent's exit code is the bridge's (I8).

use std::{
    fs,
    io::{self, Write},
    os::unix::fs::PermissionsExt,
    process::{Command, Stdio},
};

use serde_json::json;

use crate::bridge::client::{Client, QUESTION, chosen};
use crate::bridge::program::{ASKBRIDGE, Running, bridge, exchange, native_bridge, read_line, sh};
use crate::support::Process;

const ASKED: &str = r#"{"jsonrpc":"2.0","id":1,"method":"_sandboxagent/session/request_question","params":{"sessionId":"s","prompt":"?","options":["A"]}}"#;

/// Returns the output and the exit code of a bridge whose agent is this script and whose client sends nothing.
fn outcome(script: &str) -> (String, Option<i32>) {
    let ((stdin, _input), (mut output, stdout)) = (io::pipe().unwrap(), io::pipe().unwrap());
    let mut command = native_bridge(&sh(script));
    command.stderr(Stdio::null());
    let mut running = Running::start(command, stdin, stdout);
    let said = io::read_to_string(&mut output).unwrap();
    (said, running.wait().code())
}

#[test]
fn the_exit_code_is_that_of_the_agent() {
    for code in [0, 1, 2, 77, 125, 126, 127, 128, 143, 255] {
        assert_eq!(outcome(&format!("exit {code}")), (String::new(), Some(code)));
    }
}

#[test]
fn the_exit_code_is_128_and_the_signal_that_ended_the_agent() {
    for (signal, code) in [("TERM", 143), ("KILL", 137), ("HUP", 129), ("PIPE", 141), ("ABRT", 134)] {
        assert_eq!(outcome(&format!("kill -{signal} $$")), (String::new(), Some(code)));
    }
}

#[test]
#[cfg(target_os = "linux")]
fn the_exit_code_is_that_of_the_agent_where_a_parent_ignores_sigchld() {
    // The kernel reaps the children of a process that ignores SIGCHLD, and their exit codes are lost.
    let bridge = bridge(&sh("exit 5"));
    let mut command = Command::new("env");
    command.arg("--ignore-signal=CHLD").arg(bridge.get_program()).args(bridge.get_args());
    let mut process = Process::spawn(&mut command);
    assert_eq!(process.wait().code(), Some(5));
}

#[test]
fn a_missing_agent_command_is_127_and_one_that_is_not_executable_126() {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::set_permissions(file.path(), fs::Permissions::from_mode(0o644)).unwrap();
    for (agent, code, hint) in [
        ("/nowhere/agent", 127, "is it installed, and on PATH?"),
        ("no-such-agent-anywhere", 127, "is it installed, and on PATH?"),
        (file.path().to_str().unwrap(), 126, "may it be executed?"),
        ("/", 126, "may it be executed?"),
    ] {
        let mut process = Process::spawn(&mut bridge(&[agent, "argument"]));
        assert_eq!(process.next_line(), None, "I5");
        assert_eq!(process.wait().code(), Some(code));
        let said = process.expect_stderr("the error", |text| text.ends_with('\n'));
        assert!(said.starts_with("askbridge: cannot start the agent") && said.contains(hint), "{said}");
        assert!(said.contains(agent) && said.lines().count() == 1, "{said}");
    }
}

#[test]
fn an_invalid_command_line_is_2() {
    for args in [
        &["run"][..],
        &["run", "--"],
        &["run", "cat"],
        &["run", "--grace", "soon", "--", "cat"],
        &["run", "--timeout", "-1s", "--", "cat"],
        &["run", "--nonsense", "--", "cat"],
        &["--log", "loud", "run", "--", "cat"],
        &[],
    ] {
        let mut process = Process::spawn(Command::new(ASKBRIDGE).args(args));
        assert_eq!(process.wait().code(), Some(2), "{args:?}");
        assert_eq!(process.next_line(), None, "I5");
    }
}

#[test]
fn everything_after_the_dashes_is_the_agents_command() {
    let agent = [&sh("printf '%s\\n' \"$@\"")[..], &["agent", "--log", "x", "--", "-h", "", "a b"]].concat();
    let (said, status) = exchange(bridge(&agent), b"", 1);
    assert_eq!((&*String::from_utf8_lossy(&said), status.code()), ("--log\nx\n--\n-h\n\na b\n", Some(0)));
}

#[test]
fn output_without_a_final_newline_reaches_the_client() {
    for (script, said) in [
        ("printf last; exit 3", "last"),
        ("printf 'one\\nlast'; exit 3", "one\nlast"),
        ("printf '{\"id\":1,\"meth'; kill -KILL $$", "{\"id\":1,\"meth"),
    ] {
        let code = if script.contains("KILL") { 137 } else { 3 };
        assert_eq!(outcome(script), (said.to_owned(), Some(code)));
    }
}

#[test]
fn the_first_half_of_a_question_reaches_the_client_when_the_agent_ends() {
    // A question without its newline is a question nevertheless. It is forwarded as it is.
    for said in [&ASKED[..ASKED.len() / 2], ASKED] {
        assert_eq!(outcome(&format!("printf '%s' '{said}'; exit 3")), (said.to_owned(), Some(3)));
    }
}

#[test]
fn the_end_of_an_agent_with_an_open_question_ends_the_output() {
    // The end of the output is all that tells the client: no notification withdraws the question.
    for (prompt, code) in [("question and exit 5", 5), ("question and crash", 137)] {
        let mut client = Client::new();
        client.ask(prompt);
        assert_eq!(client.rest(), (vec![], Some(code)));
    }
}

#[test]
fn an_answer_to_an_agent_that_has_closed_its_input_is_lost_and_its_output_still_forwarded() {
    // A direct pipe would behave the same.
    let folder = tempfile::tempdir().unwrap();
    let go = folder.path().join("go");
    assert!(Command::new("mkfifo").arg(&go).status().unwrap().success());
    let script = format!("exec <&-; echo '{ASKED}'; read -r _ <\"$0\"; echo alive; exit 6");
    let mut client = Client::start(&mut native_bridge(&[&sh(&script)[..], &[go.to_str().unwrap()]].concat()));
    client.next("a question", |message| message["method"] == QUESTION);
    client.answer(1, chosen("A"));
    fs::write(go, "go\n").unwrap();
    assert_eq!(client.process.next_line().as_deref(), Some(&b"alive\n"[..]));
    assert_eq!(client.rest(), (vec![], Some(6)));
}

#[test]
fn the_exit_code_is_that_of_an_agent_killed_while_it_reads_the_answer() {
    // The agent reads the beginning of an answer that is longer than a pipe's buffer.
    let script = format!("echo '{ASKED}'; head -c 10 >/dev/null; kill -KILL $$");
    let mut client = Client::start(&mut native_bridge(&sh(&script)));
    client.next("a question", |message| message["method"] == QUESTION);
    client.answer(1, chosen(&"x".repeat(600_000)));
    assert_eq!(client.rest(), (vec![], Some(137)));
}

#[test]
fn the_exit_code_is_that_of_an_agent_that_exits_after_an_answer() {
    let mut client = Client::new();
    let id = client.ask("a question");
    client.answer(id, chosen("option-a"));
    client.hears("You chose: option-a");
    client.response("turn");
    client.prompt("second", "exit 8");
    client.hears("I do as I am told.");
    client.send(&json!({ "jsonrpc": "2.0", "id": id, "result": chosen("option-b") }));
    assert_eq!(client.rest(), (vec![], Some(8)));
}

#[test]
fn a_bridge_waits_for_an_agent_that_has_closed_its_output() {
    // The client sees the end at once. What it sends is still forwarded to the agent.
    let ((stdin, mut input), (mut output, stdout)) = (io::pipe().unwrap(), io::pipe().unwrap());
    let (mut errors, stderr) = io::pipe().unwrap();
    let mut command = bridge(&sh("echo last; exec >&-; read -r line; echo \"$line\" >&2; exit 4"));
    command.stderr(stderr);
    let mut running = Running::start(command, stdin, stdout);
    assert_eq!(read_line(&mut output), "last\n");
    assert_eq!(read_line(&mut output), "");
    input.write_all(b"still there\n").unwrap();
    assert_eq!(read_line(&mut errors), "still there\n");
    assert_eq!(running.wait().code(), Some(4));
}
