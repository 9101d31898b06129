//! I7: a slow peer never stops the other direction, and what works over a direct pipe works through the bridge.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    thread,
};

use crate::bridge::program::{ASKBRIDGE, Running, assert_same, bridge};

/// As many lines of an ordinary size.
fn lines(count: usize) -> Vec<u8> {
    let update = |n| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"s","text":"line {n}"}}}}"#
        ) + "\n"
    };
    (0..count).map(update).collect::<String>().into_bytes()
}

/// Reads in small pieces, as a slow peer does.
struct Slow<R>(R);

impl<R: Read> Read for Slow<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let end = buffer.len().min(512);
        thread::yield_now();
        self.0.read(&mut buffer[..end])
    }
}

#[test]
fn forty_thousand_lines_pass_both_ways_at_once_though_the_client_reads_slowly() {
    let input = lines(40_000);
    let ((stdin, our_input), (our_output, stdout)) = (io::pipe().unwrap(), io::pipe().unwrap());
    let mut running = Running::start(bridge(&["cat"]), stdin, stdout);
    let output = crate::bridge::program::talk(our_input, Slow(our_output), &input, 65_536);
    assert_same(&output, &input);
    assert_eq!(running.wait().code(), Some(0));
}

#[test]
fn a_client_that_floods_an_agent_that_answers_each_line_with_twenty_is_not_stuck() {
    // The day-one deadlock: a bridge that waits for one pipe to take a line, and does not read the other meanwhile,
    // waits for ever.
    const LINES: usize = 10_000;
    const ANSWERS: usize = 20;
    let input = lines(LINES);
    let ((stdin, mut our_input), (our_output, stdout)) = (io::pipe().unwrap(), io::pipe().unwrap());
    let agent = ["awk", "{ for (i = 0; i < 20; i++) print }"];
    let mut running = Running::start(bridge(&agent), stdin, stdout);
    thread::scope(|scope| {
        scope.spawn(|| {
            our_input.write_all(&input).unwrap();
            drop(our_input);
        });
        let mut answers = 0;
        let mut output = BufReader::new(our_output);
        let mut line = Vec::new();
        let mut expected = input.split_inclusive(|byte| *byte == b'\n');
        let mut asked: &[u8] = b"";
        while output.read_until(b'\n', &mut line).unwrap() > 0 {
            if answers % ANSWERS == 0 {
                asked = expected.next().expect("no more than twenty answers for each");
            }
            assert_same(&line, asked);
            line.clear();
            answers += 1;
        }
        assert_eq!(answers, LINES * ANSWERS);
    });
    assert_eq!(running.wait().code(), Some(0));
}

#[test]
fn a_flood_of_the_mock_agent_arrives_whole_and_in_order() {
    let ((stdin, mut input), (output, stdout)) = (io::pipe().unwrap(), io::pipe().unwrap());
    let mut command = bridge(&[ASKBRIDGE, "mock-agent"]);
    // The client is gone at once: the flood goes on for as long as the agent may.
    command.env("ASKBRIDGE_BRIDGE_GRACE", "10m");
    let mut running = Running::start(command, stdin, stdout);
    let new = r#"{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}"#;
    let prompt = r#"{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"session-1","prompt":[{"type":"text","text":"flood 40000"}]}}"#;
    input.write_all(format!("{new}\n{prompt}\n").as_bytes()).unwrap();
    drop(input);
    let mut updates = 0;
    for line in BufReader::new(Slow(output)).lines() {
        let line = line.unwrap();
        if line.contains("\"update ") {
            updates += 1;
            assert!(line.contains(&format!("\"update {updates}\\n\"")), "{line}");
        }
    }
    assert_eq!(updates, 40_000);
    assert_eq!(running.wait().code(), Some(0));
}
