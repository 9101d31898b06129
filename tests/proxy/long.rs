//! Lines that are too long to hold: they pass while they come, and their envelope goes on and off all the same.

use std::{
    io::{Read, Write},
    thread,
};

use crate::proxy::conductor::{Conductor, QUESTION, SPELLINGS, piped};
#[cfg(target_os = "linux")]
use crate::support::procfs::peak_kib;

const MIB: usize = 1 << 20;

/// Compares what is too long to be shown.
#[track_caller]
fn check(conductor: &mut Conductor, said: &str, heard: &str) {
    conductor.says(said);
    let Some(line) = conductor.process.next_line() else { conductor.process.fail("the end") };
    if line == format!("{heard}\n").as_bytes() {
        return;
    }
    let same = line.iter().zip(heard.as_bytes()).take_while(|(one, other)| one == other).count();
    let around = |bytes: &[u8]| {
        let shown = &bytes[same.saturating_sub(80).min(bytes.len())..bytes.len().min(same + 80)];
        String::from_utf8_lossy(shown).into_owned()
    };
    conductor.process.fail(&format!(
        "differs at byte {same} of {}, length {}\n--- got ---\n{}\n--- expected ---\n{}",
        heard.len(),
        line.len(),
        around(&line),
        around(heard.as_bytes())
    ));
}

/// Parameters of a prompt with an image of so many bytes, and with whatever could be taken for an end.
fn params(size: usize) -> String {
    let image = "iVBORw0KGgo/".repeat(size / 12);
    format!(r#"{{"sessionId":"s","prompt":[{{"text":"}}}}\"\\","n":[1.0,{{}}]}},{{"data":"{image}"}}]}}"#)
}

#[test]
fn a_long_call_of_either_passes_byte_for_byte() {
    // Around the limit, the end of the line comes with the read that makes it too long, or later.
    for spelling in SPELLINGS {
        let mut conductor = Conductor::new(spelling);
        for size in [MIB - 1000, MIB - 130, MIB - 60, MIB, MIB + 100_000, 5 * MIB] {
            let params = params(size);
            let plain =
                format!(r#"{{"jsonrpc":"2.0","id":"a","method":"session/prompt","params":{params}}}"#);
            let wrapped = format!(
                r#"{{"jsonrpc":"2.0","id":"a","method":"{spelling}/successor","params":{{"method":"session/prompt","params":{params}}}}}"#
            );
            check(&mut conductor, &plain, &wrapped);
            check(&mut conductor, &wrapped, &plain);
            let plain = format!(r#"{{"jsonrpc":"2.0","method":"session/update","params":{params}}}"#);
            let wrapped = format!(
                r#"{{"jsonrpc":"2.0","method":"{spelling}/successor","params":{{"method":"session/update","params":{params}}}}}"#
            );
            check(&mut conductor, &plain, &wrapped);
            check(&mut conductor, &wrapped, &plain);
        }
        conductor.leaves();
    }
}

#[test]
fn a_long_call_may_have_its_id_behind_its_parameters() {
    // So do the conductors before 5.0 write it.
    let mut conductor = Conductor::new("_proxy");
    let params = params(2 * MIB);
    let plain = format!(r#"{{"jsonrpc":"2.0","method":"session/prompt","params":{params},"id":"a"}}"#);
    let wrapped = format!(
        r#"{{"jsonrpc":"2.0","method":"_proxy/successor","params":{{"method":"session/prompt","params":{params}}},"id":"a"}}"#
    );
    check(&mut conductor, &plain, &wrapped);
    let commented = wrapped.replace(r#"}},"id":"a"}"#, r#"},"_meta":{"a":"}"}},"id":"a"}"#);
    check(&mut conductor, &wrapped, &plain);
    assert_ne!(commented, wrapped);
    check(&mut conductor, &commented, &plain);
    conductor.leaves();
}

#[test]
fn a_long_response_passes_as_it_is() {
    let mut conductor = Conductor::new("proxy");
    for id in ["\"first\"", "\"last\""] {
        let result = params(3 * MIB);
        let response = match id {
            "\"first\"" => format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#),
            _ => format!(r#"{{"jsonrpc":"2.0","result":{result},"id":{id}}}"#),
        };
        check(&mut conductor, &response, &response);
    }
    conductor.question("\"q\"");
    let answer =
        format!(r#"{{"id":"q","result":{{"status":"answered","answers":[["{}"]]}}}}"#, "x".repeat(2 * MIB));
    check(&mut conductor, &answer, &answer);
    conductor.leaves();
}

#[test]
fn a_question_that_is_too_long_passes_like_any_other_line() {
    let mut conductor = Conductor::new("proxy");
    let params = format!(r#"{{"sessionId":"s","prompt":"{}"}}"#, "?".repeat(2 * MIB));
    let plain = format!(r#"{{"jsonrpc":"2.0","id":"q","method":"{QUESTION}","params":{params}}}"#);
    let wrapped = format!(
        r#"{{"jsonrpc":"2.0","id":"q","method":"proxy/successor","params":{{"method":"{QUESTION}","params":{params}}}}}"#
    );
    check(&mut conductor, &wrapped, &plain);
    conductor.leaves();
}

#[test]
fn a_second_long_response_to_a_question_is_dropped_whole() {
    let mut conductor = Conductor::new("proxy");
    conductor.question("\"q\"");
    conductor.passes(r#"{"id":"q","result":{"status":"answered","answers":[["a"]]}}"#);
    conductor.says(&format!(r#"{{"id":"q","result":{{"values":["{}"]}}}}"#, "x".repeat(3 * MIB)));
    conductor.prompt("8");
    conductor.leaves();
}

#[test]
fn a_long_line_that_says_too_late_what_it_is_goes_nowhere() {
    let why = "it is longer than 1 MiB, and its method does not precede its params";
    let params = params(2 * MIB);
    let mut conductor = Conductor::new("proxy");
    for line in [
        format!(r#"{{"id":5,"params":{params},"method":"x"}}"#),
        format!(r#"{{"id":5,"method":"proxy/successor","params":{{"params":{params},"method":"x"}}}}"#),
    ] {
        conductor.says(&line);
        conductor.hears(&format!(
            r#"{{"jsonrpc":"2.0","id":5,"error":{{"code":-32600,"message":"cannot be forwarded: {why}"}}}}"#
        ));
    }
    for line in
        [format!(r#"{{"params":{params},"method":"x"}}"#), format!(r#"["{params}"#), "x".repeat(3 * MIB)]
    {
        conductor.says(&line);
        conductor.prompt("6");
    }
    conductor.leaves();
}

/// What a component says first of a line of 64 MiB, and how much memory it had at its fullest, in KiB. The pages of the
/// program itself are left out: those of a debug build are most of the memory, and its size is another matter.
#[cfg(target_os = "linux")]
fn pass_64_mib(begins: &'static str, ends: &'static str) -> (Vec<u8>, usize) {
    let (mut running, mut input, mut output) = piped();
    let writer = thread::spawn(move || {
        input.write_all(begins.as_bytes()).unwrap();
        let part = vec![b'x'; MIB];
        (0..64).for_each(|_| input.write_all(&part).unwrap());
        input.write_all(ends.as_bytes()).unwrap();
        input
    });
    let mut head = vec![0; 200];
    output.read_exact(&mut head).unwrap();
    let mut last = [0];
    let mut heard = head.len();
    let mut part = vec![0; MIB];
    while last != *b"\n" {
        let length = output.read(&mut part).unwrap();
        assert!(length > 0, "ended after {heard} bytes");
        heard += length;
        last = [part[length - 1]];
    }
    assert!(heard > 64 * MIB, "{heard} bytes");
    let peak = peak_kib(running.pid());
    drop(writer.join().unwrap());
    assert_eq!(running.wait().code(), Some(0));
    (head, peak)
}

#[test]
#[cfg(target_os = "linux")]
fn a_line_of_64_mib_passes_in_a_few() {
    // I6, with an envelope to put on or to take off.
    for (begins, ends, heard) in [
        (
            r#"{"id":1,"method":"session/prompt","params":{"a":""#,
            "\"}}\n",
            r#"{"jsonrpc":"2.0","id":1,"method":"proxy/successor","params":{"method":"session/prompt","params":{"a":"xx"#,
        ),
        (
            r#"{"method":"proxy/successor","params":{"method":"session/update","params":{"a":""#,
            "\"}}}\n",
            r#"{"jsonrpc":"2.0","method":"session/update","params":{"a":"xx"#,
        ),
    ] {
        let (head, peak) = pass_64_mib(begins, ends);
        assert!(head.starts_with(heard.as_bytes()), "{}", head.escape_ascii());
        assert!(peak < 8 * 1024, "the most that it had was {peak} KiB");
    }
}
