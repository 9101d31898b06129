//! Lines that are no message of either peer: they are answered where they can be, and never go to the wrong one.

use crate::proxy::conductor::{Conductor, SPELLINGS};

/// What stands in the error to a request that is not passed on.
fn refusal(id: &str, why: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32600,"message":"cannot be forwarded: {why}"}}}}"#
    )
}

#[test]
fn a_plain_initialize_is_told_to_use_run() {
    let mut conductor = Conductor::silent("proxy", &[]);
    conductor.says(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1}}"#);
    let answer = conductor.process.expect("an error", |_| true);
    assert!(
        answer.starts_with(
            r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32600,"message":"`askbridge proxy` is a component"#
        ),
        "{answer}"
    );
    assert!(answer.contains("askbridge run -- AGENT"), "{answer}");
    let stderr = conductor.process.whole_stderr();
    assert!(stderr.starts_with("askbridge: there is no conductor: "), "{stderr}");
    assert_eq!(stderr.lines().count(), 1, "{stderr}");
    conductor.ends(2);
}

#[test]
fn a_plain_initialize_behind_that_of_a_conductor_ends_nothing() {
    let mut conductor = Conductor::new("proxy");
    conductor.says(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#);
    let answer = conductor.process.expect("an error", |_| true);
    assert!(answer.starts_with(r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32600,"#), "{answer}");
    conductor.prompt("1");
    conductor.leaves();
}

#[test]
fn what_is_no_message_is_told_on_stderr_and_goes_nowhere() {
    for spelling in SPELLINGS {
        let mut conductor = Conductor::new(spelling);
        for (line, why) in [
            ("garbage", "it is no JSON-RPC message"),
            ("{}", "it is no JSON-RPC message"),
            (r#"{"method":"x","method":"y"}"#, "repeats a member"),
            (r#"[{"jsonrpc":"2.0","id":1,"method":"x"}]"#, "a batch"),
            (r#"{"method":"proxy/successor"}"#, "it is an envelope without a call"),
            (r#"{"method":"_proxy/successor","params":{"params":{}}}"#, "it is an envelope without a call"),
            (
                r#"{"id":null,"error":{"code":-32700,"message":"what?"}}"#,
                "it is an error about a line that this bridge sent",
            ),
        ] {
            conductor.says(line);
            conductor.process.expect_stderr(why, |text| text.contains(why));
        }
        conductor.process.send_bytes(b"\n \r\n\xff\xfe\n");
        conductor.prompt("7");
        conductor.leaves();
    }
}

#[test]
fn a_request_that_cannot_be_passed_on_is_answered() {
    let mut conductor = Conductor::new("proxy");
    conductor.says(r#"{"id":1,"method":"proxy/successor","params":{"method":"x","method":"y"}}"#);
    conductor.hears(&refusal("1", "it is an envelope without a call"));
    conductor.says(r#"{"id":2,"method":"x","params":{]}"#);
    conductor.hears(&refusal("2", "it is a call that is not JSON, or repeats a member"));
    conductor.says(r#"{"id":3}"#);
    conductor.hears(&refusal("3", "it is no JSON-RPC message"));
    conductor.leaves();
}

#[test]
fn an_envelope_in_the_other_spelling_is_one_as_well() {
    let mut conductor = Conductor::new("proxy");
    conductor.says(r#"{"id":1,"method":"_proxy/successor","params":{"method":"x","params":[]}}"#);
    conductor.hears(r#"{"jsonrpc":"2.0","id":1,"method":"x","params":[]}"#);
    conductor.leaves();
}

#[test]
fn a_response_to_no_request_passes() {
    let mut conductor = Conductor::new("proxy");
    conductor.passes(r#"{"jsonrpc":"2.0","id":"nobody","result":{}}"#);
    conductor.leaves();
}

#[test]
fn a_last_line_without_its_end_passes() {
    for (said, heard) in [
        (
            r#"{"id":1,"method":"x"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"proxy/successor","params":{"method":"x"}}"#,
        ),
        (
            r#"{"id":1,"method":"proxy/successor","params":{"method":"x"}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"x"}"#,
        ),
    ] {
        let mut conductor = Conductor::new("proxy");
        conductor.process.send_bytes(said.as_bytes());
        conductor.process.close_stdin();
        conductor.hears(heard);
        conductor.ends(0);
    }
}
