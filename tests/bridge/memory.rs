//! I6: memory is bounded, whatever the peers send. Linux tells the most that a process ever had.

use std::{
    fs,
    io::{self, Read, Write},
    thread,
};

use crate::bridge::program::{Running, bridge, bridge_with, read_line, sh};
use crate::support::procfs::peak_kib;

const MIB: usize = 1024 * 1024;
/// What the bridge may have had at its fullest, beside what one has that forwarded a single line.
const MOST_KIB: usize = 4 * 1024;

/// Returns the most memory that a bridge has that had little to do.
fn idle_peak() -> usize {
    let ((stdin, mut input), (mut output, stdout)) = (io::pipe().unwrap(), io::pipe().unwrap());
    let running = Running::start(bridge(&["cat"]), stdin, stdout);
    input.write_all(b"line\n").unwrap();
    assert_eq!(read_line(&mut output), "line\n");
    peak_kib(running.pid())
}

#[track_caller]
fn assert_small(running: &Running) {
    let (peak, idle) = (peak_kib(running.pid()), idle_peak());
    assert!(peak < idle + MOST_KIB, "the bridge had {peak} KiB, and an idle one has {idle} KiB");
}

/// Reads so many bytes, and throws them away.
fn skip(reader: impl Read, bytes: usize) {
    let skipped = io::copy(&mut reader.take(bytes as u64), &mut io::sink()).unwrap();
    assert_eq!(skipped, bytes as u64);
}

/// Sends a line of 64 MiB that begins like this to the agent, and looks while the bridge still runs.
fn pass_long_line(beginning: &'static str) {
    let ((stdin, mut input), (mut output, stdout)) = (io::pipe().unwrap(), io::pipe().unwrap());
    let length = beginning.len() + 64 * MIB + 1;
    let agent = format!("head -c {length} >/dev/null; echo heard; cat");
    let mut running = Running::start(bridge(&sh(&agent)), stdin, stdout);
    input.write_all(beginning.as_bytes()).unwrap();
    let padding = vec![b'x'; MIB];
    (0..64).for_each(|_| input.write_all(&padding).unwrap());
    input.write_all(b"\n").unwrap();
    assert_eq!(read_line(&mut output), "heard\n");
    assert_small(&running);
    drop(input);
    assert_eq!(read_line(&mut output), "");
    assert_eq!(running.wait().code(), Some(0));
}

#[test]
fn a_line_of_64_mib_passes_in_a_few() {
    pass_long_line("");
}

#[test]
fn a_prompt_of_64_mib_passes_in_a_few() {
    // It is wanted, so it is held as long as the limit allows.
    pass_long_line(
        r#"{"jsonrpc":"2.0","id":1,"method":"session/prompt","params":{"sessionId":"s","prompt":""#,
    );
}

#[test]
fn a_line_of_64_mib_that_does_not_say_what_it_is_passes_in_a_few() {
    // What it is might stand at its end, so it is held as long as the limit allows.
    pass_long_line(r#"{"params":""#);
}

#[test]
fn a_line_of_64_mib_of_the_agent_passes_in_a_few() {
    let ((stdin, input), (mut output, stdout)) = (io::pipe().unwrap(), io::pipe().unwrap());
    let agent = sh("printf '{\"params\":\"'; head -c 67108864 /dev/zero; echo; cat");
    let mut running = Running::start(bridge(&agent), stdin, stdout);
    skip(&mut output, 64 * MIB + 12);
    assert_small(&running);
    drop(input);
    assert_eq!(read_line(&mut output), "");
    assert_eq!(running.wait().code(), Some(0));
}

#[test]
fn a_client_that_stalls_while_the_agent_writes_64_mib_costs_nothing() {
    // The agent's flood is bounded by the pipes. That the client is heard meanwhile (I7) is how we know that the
    // bridge is not just late.
    let ((stdin, mut input), (output, stdout)) = (io::pipe().unwrap(), io::pipe().unwrap());
    let (mut errors, stderr) = io::pipe().unwrap();
    let mut command =
        bridge(&sh("head -c 67108864 /dev/zero & while read -r line; do echo \"$line\" >&2; done; wait"));
    command.stderr(stderr);
    let mut running = Running::start(command, stdin, stdout);
    for n in 0..1000 {
        input.write_all(format!("{n}\n").as_bytes()).unwrap();
        assert_eq!(read_line(&mut errors), format!("{n}\n"));
    }
    assert_small(&running);
    skip(&output, 64 * MIB);
    assert_small(&running);
    drop(input);
    assert_eq!(running.wait().code(), Some(0));
}

#[test]
fn an_agent_that_stalls_while_the_client_writes_costs_nothing() {
    // The client's writes block, as they would over a direct pipe.
    let ((stdin, mut input), (mut output, stdout)) = (io::pipe().unwrap(), io::pipe().unwrap());
    let agent = sh("n=0; while [ $n -lt 1000 ]; do echo $n; n=$((n + 1)); done; cat | wc -c");
    let mut running = Running::start(bridge(&agent), stdin, stdout);
    let writer = thread::spawn(move || {
        let padding = vec![b'x'; MIB];
        (0..32).for_each(|_| input.write_all(&padding).unwrap());
    });
    for n in 0..1000 {
        assert_eq!(read_line(&mut output), format!("{n}\n"));
    }
    assert_small(&running);
    assert_eq!(read_line(&mut output).trim(), (32 * MIB).to_string());
    writer.join().unwrap();
    assert_eq!(running.wait().code(), Some(0));
}

#[test]
fn an_agent_that_takes_questions_back_and_does_not_read_costs_little() {
    // Each question takes some 300 KB of memory, and all that the bridge says to it is an error that the agent does not
    // read.
    let questions = vec![serde_json::json!({ "question": "?", "options": vec!["a"; 64] }); 32];
    let question = serde_json::json!({
        "jsonrpc": "2.0", "id": 7, "method": "_sandboxagent/session/request_question",
        "params": { "sessionId": "s", "questions": questions }
    });
    let takes_back = r#"{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":7}}"#;
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), format!("{question}\n{takes_back}\n")).unwrap();
    let script = "n=0; while [ $n -lt 300 ]; do cat \"$0\"; n=$((n + 1)); done; echo done; exec sleep 60";
    let path = file.path().to_str().unwrap();
    let ((stdin, input), (mut output, stdout)) = (io::pipe().unwrap(), io::pipe().unwrap());
    // A client that is shown a question has two seconds to respond to the cancellation: here it is shown none.
    let mut command = bridge_with(&["--client-questions", "none"], &["sh", "-c", script, path]);
    // The journal notes all of them, or counts those for which it has no room.
    let state = tempfile::tempdir().unwrap();
    command.env("ASKBRIDGE_JOURNAL_ENABLED", "true").env("XDG_STATE_HOME", state.path());
    let running = Running::start(command, stdin, stdout);
    let mut line = read_line(&mut output);
    while line != "done\n" {
        line = read_line(&mut output);
        assert_ne!(line, "", "the bridge ended");
    }
    // What waits for the journal takes most of it: 4 MiB as JSON.
    let peak = peak_kib(running.pid());
    assert!(peak < 40 * 1024, "the bridge had {peak} KiB");
    drop(input);
}
