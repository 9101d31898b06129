//! The agent ends, at every step of a question: the client gets all that it wrote and then the end, and its exit
//! code is ours (I8).

use std::{
    fs,
    io::{self, Write},
    os::unix::fs::PermissionsExt,
    process::{Command, Stdio},
};

use serde_json::json;

use crate::{
    client::{Client, QUESTION, chosen},
    program::{ASKBRIDGE, Running, bridge, exchange, read_line, sh},
    support::Process,
};

const ASKED: &str = r#"{"jsonrpc":"2.0","id":1,"method":"_sandboxagent/session/request_question","params":{"sessionId":"s","prompt":"?","options":["A"]}}"#;

/// Says what a shell script of an agent leads to when the client says nothing.
fn outcome(script: &str) -> (String, Option<i32>) {
    let ((stdin, _input), (mut output, stdout)) = (io::pipe().unwrap(), io::pipe().unwrap());
    let mut command = bridge(&sh(script));
    command.stderr(Stdio::null());
    let mut running = Running::start(command, stdin, stdout);
    let said = io::read_to_string(&mut output).unwrap();
    (said, running.wait().code())
}

#[test]
fn the_exit_code_is_the_agents() {
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
fn a_command_that_is_not_there_is_127_and_one_that_is_no_program_126() {
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
fn a_command_line_that_is_not_understood_is_2() {
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
fn everything_behind_the_dashes_is_the_agents() {
    let agent = [&sh("printf '%s\\n' \"$@\"")[..], &["agent", "--log", "x", "--", "-h", "", "a b"]].concat();
    let (said, status) = exchange(bridge(&agent), b"", 1);
    assert_eq!((&*String::from_utf8_lossy(&said), status.code()), ("--log\nx\n--\n-h\n\na b\n", Some(0)));
}

#[test]
fn last_words_without_terminator_reach_the_client() {
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
fn an_agent_that_dies_before_it_asks_ends_the_client_output() {
    for (prompt, code) in [("exit 5", 5), ("crash", 137)] {
        let mut client = Client::new();
        client.prompt("turn", prompt);
        client.hears("I do as I am told.");
        assert_eq!(client.rest(), (vec![], Some(code)));
    }
}

#[test]
fn an_agent_that_dies_in_the_middle_of_a_question_leaves_the_half_of_it() {
    // A question without its terminator is one all the same, and it goes on as it is.
    for said in [&ASKED[..ASKED.len() / 2], ASKED] {
        assert_eq!(outcome(&format!("printf '%s' '{said}'; exit 3")), (said.to_owned(), Some(3)));
    }
}

#[test]
fn an_agent_that_dies_while_its_question_is_open_ends_the_client_output() {
    // Nobody is left who could withdraw it: the end of the stream says it.
    for (prompt, code) in [("question and exit 5", 5), ("question and crash", 137)] {
        let mut client = Client::new();
        client.ask(prompt);
        assert_eq!(client.rest(), (vec![], Some(code)));
    }
}

#[test]
fn an_answer_to_an_agent_that_has_closed_its_input_is_lost_and_the_rest_goes_on() {
    // Over a direct pipe it would be the same. The agent is heard to its end.
    let folder = tempfile::tempdir().unwrap();
    let go = folder.path().join("go");
    assert!(Command::new("mkfifo").arg(&go).status().unwrap().success());
    let script = format!("exec <&-; echo '{ASKED}'; read -r _ <\"$0\"; echo alive; exit 6");
    let mut client = Client::start(&mut bridge(&[&sh(&script)[..], &[go.to_str().unwrap()]].concat()));
    client.next("a question", |message| message["method"] == QUESTION);
    client.answer(1, chosen("A"));
    fs::write(go, "go\n").unwrap();
    assert_eq!(client.process.next_line().as_deref(), Some(&b"alive\n"[..]));
    assert_eq!(client.rest(), (vec![], Some(6)));
}

#[test]
fn an_agent_that_dies_while_the_answer_is_under_way_is_our_exit_code() {
    // It takes the beginning of an answer that no pipe holds as a whole.
    let script = format!("echo '{ASKED}'; head -c 10 >/dev/null; kill -KILL $$");
    let mut client = Client::start(&mut bridge(&sh(&script)));
    client.next("a question", |message| message["method"] == QUESTION);
    client.answer(1, chosen(&"x".repeat(600_000)));
    assert_eq!(client.rest(), (vec![], Some(137)));
}

#[test]
fn an_agent_that_ends_after_the_answer_is_our_exit_code() {
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
fn an_agent_that_closes_its_output_and_lives_on_is_waited_for() {
    // The client sees the end at once; what it still says goes to the agent.
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
