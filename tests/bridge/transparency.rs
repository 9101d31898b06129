//! I1 and I2: what is not intercepted leaves as it came, in its order, in both directions.
//! The agent is `cat` mostly: its output has passed both ways. Each hostile line by itself is a conformance case of
//! `bridge/lines`; here are streams of them, in pieces of any size, and with a question open.

use std::io::{self, Write};

use crate::bridge::program::{
    ASKBRIDGE, Running, assert_same, bridge, bridge_with, exchange, native_bridge, read_line, sh, talk,
};
use crate::support::lines;

const QUESTION: &str = concat!(
    r#"{"jsonrpc":"2.0","id":"asked","method":"_sandboxagent/session/request_question","#,
    r#""params":{"sessionId":"asking","questionId":"q","prompt":"Which?","options":[["a","A"]]}}"#,
    "\n"
);
const ANSWER: &str =
    concat!(r#"{ "result": {"answers":[["a"]],"status":"answered"}, "id":"asked", "jsonrpc":"2.0" }"#, "\n");
const REJECTED: &str = concat!(
    r#"{"jsonrpc":"2.0","id":"asked","result":{"status":"rejected","#,
    r#""_meta":{"askbridge":{"reason":"client_gone"}}}}"#,
    "\n"
);

#[test]
fn all_hostile_lines_in_one_stream_come_back_at_any_chunking() {
    // I1, I2.
    let stream = lines::stream();
    for piece in [4095, 65_537] {
        let (output, status) = exchange(bridge(&["cat"]), &stream, piece);
        assert_same(&output, &stream);
        assert_eq!(status.code(), Some(0));
    }
}

#[test]
fn a_stream_that_trickles_in_byte_by_byte_comes_back() {
    // I1: a line is cut anywhere, in the middle of a character too.
    let lines = lines::terminated().into_iter().filter(|line| line.bytes.len() < 4096);
    let stream: Vec<u8> = lines.flat_map(|line| line.bytes).collect();
    let (output, _) = exchange(bridge(&["cat"]), &stream, 1);
    assert_same(&output, &stream);
}

#[test]
fn a_last_line_without_terminator_comes_back_without_one() {
    // I1, behind another line. A last line alone is a conformance case.
    for line in lines::unterminated() {
        let input = [b"first\n", &*line.bytes].concat();
        let (output, status) = exchange(bridge(&["cat"]), &input, input.len());
        assert_same(&output, &input);
        assert_eq!(status.code(), Some(0));
    }
}

#[test]
fn hostile_lines_pass_while_a_question_is_open() {
    // I1 with something to look for in each line; the last row of the table: the half line as it is, then the
    // rejection on a line of its own.
    let (stdin, mut input) = io::pipe().unwrap();
    let (mut output, stdout) = io::pipe().unwrap();
    let mut running = Running::start(native_bridge(&["cat"]), stdin, stdout);
    input.write_all(QUESTION.as_bytes()).unwrap();
    assert_eq!(read_line(&mut output), QUESTION);
    let stream = lines::stream();
    let back = talk(input, output, &stream, 65_536);
    assert_same(&back, &[&stream, &b"\n"[..], REJECTED.as_bytes()].concat());
    assert_eq!(running.wait().code(), Some(0));
}

#[test]
fn hostile_lines_pass_after_a_question_was_settled() {
    // I1: from the first settled question on, every request and response is looked at.
    let (stdin, mut input) = io::pipe().unwrap();
    let (mut output, stdout) = io::pipe().unwrap();
    let mut running = Running::start(native_bridge(&["cat"]), stdin, stdout);
    for line in [QUESTION, ANSWER] {
        input.write_all(line.as_bytes()).unwrap();
        assert_eq!(read_line(&mut output), line);
    }
    let stream = lines::stream();
    assert_same(&talk(input, output, &stream, 10_000), &stream);
    assert_eq!(running.wait().code(), Some(0));
}

#[test]
fn hostile_lines_pass_whatever_the_peers_speak() {
    // I1, I2: with nothing to look for, and with a request open. The agent says back what it hears: the request is its
    // own then, and so is the rejection at the end.
    let stream = lines::stream();
    let asked = r#"{"question":"Which?","id":"q","options":[{"label":"a"}]}"#;
    let claude = format!(
        concat!(
            r#"{{"type":"control_request","request_id":"asked","request":{{"subtype":"can_use_tool","#,
            r#""tool_name":"AskUserQuestion","input":{{"questions":[{}]}}}}}}"#
        ),
        asked
    );
    let codex = format!(
        concat!(
            r#"{{"method":"item/tool/requestUserInput","id":"asked","params":{{"threadId":"t","turnId":"u","#,
            r#""itemId":"i","questions":[{}]}}}}"#
        ),
        asked
    );
    for (protocol, request, rejected) in
        [("claude", claude, r#""behavior":"deny""#), ("codex", codex, r#""result":{"answers":{}}"#)]
    {
        let started = || bridge_with(&["--protocol", protocol], &["cat"]);
        for piece in [4095, 65_537] {
            let (output, status) = exchange(started(), &stream, piece);
            assert_same(&output, &stream);
            assert_eq!(status.code(), Some(0));
        }
        let (stdin, mut input) = io::pipe().unwrap();
        let (mut output, stdout) = io::pipe().unwrap();
        let mut running = Running::start(started(), stdin, stdout);
        input.write_all(format!("{request}\n").as_bytes()).unwrap();
        assert_eq!(read_line(&mut output), format!("{request}\n"));
        let back = talk(input, output, &stream, 65_536);
        let (passed, end) = back.split_at(stream.len());
        assert_same(passed, &stream);
        let end = String::from_utf8_lossy(end);
        assert!(end.starts_with('\n') && end.contains("\"asked\"") && end.contains(rejected), "{end}");
        assert_eq!(running.wait().code(), Some(0));
    }
}

#[test]
fn both_directions_at_once_keep_their_bytes_apart() {
    // I2: two streams that have nothing to do with each other.
    let stream = lines::stream();
    let [said, heard] = [(); 2].map(|()| tempfile::NamedTempFile::new().unwrap());
    let other: Vec<u8> =
        lines::terminated().into_iter().rev().map(|line| line.bytes).collect::<Vec<_>>().concat();
    std::fs::write(said.path(), &other).unwrap();
    let [said, heard] = [&said, &heard].map(|file| file.path().to_str().unwrap());
    // A job in the background has no stdin of its own in a shell: it is handed over by another number.
    let agent = [&sh("exec 3<&0; cat <&3 >\"$1\" & cat \"$0\"; wait")[..], &[said, heard]].concat();
    let (output, status) = exchange(bridge(&agent), &stream, 65_536);
    assert_same(&output, &other);
    assert_same(&std::fs::read(heard).unwrap(), &stream);
    assert_eq!(status.code(), Some(0));
}

#[test]
fn a_bridge_around_a_bridge_changes_nothing() {
    // I1: in a chain, what the inner one forwards the outer one does.
    let stream = lines::stream();
    let (output, status) = exchange(bridge(&[ASKBRIDGE, "run", "--", "cat"]), &stream, 65_536);
    assert_same(&output, &stream);
    assert_eq!(status.code(), Some(0));
}
