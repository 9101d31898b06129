//! What passes between the peers: everything, and nothing of it changed but its envelope.

use std::{
    io::{self, Write},
    net::Shutdown,
    os::{fd::OwnedFd, unix::net::UnixStream},
    thread,
};

use crate::proxy::conductor::{Conductor, PROMISE, PROMISES, SPELLINGS, cancel, piped, proxy};
use crate::support::running::Running;

#[test]
fn initialize_promises_both_ways_and_keeps_the_version() {
    for spelling in SPELLINGS {
        let mut conductor = Conductor::silent(spelling, &[]);
        conductor.says(&format!(
            r#"{{"jsonrpc":"2.0","id":"i","method":"{spelling}/initialize","params":{{"protocolVersion":1,"clientCapabilities":{{"fs":{{}}}}}}}}"#
        ));
        conductor.hears_for_agent(
            "\"i\"",
            "initialize",
            &format!(r#"{{"protocolVersion":1,"clientCapabilities":{{"fs":{{}},{PROMISES}}}}}"#),
        );
        conductor.says(
            r#"{"jsonrpc":"2.0","result":{"protocolVersion":1,"agentCapabilities":{"loadSession":true}},"id":"i"}"#,
        );
        conductor.hears(&format!(
            r#"{{"jsonrpc":"2.0","result":{{"protocolVersion":1,"agentCapabilities":{{"loadSession":true,{PROMISE}}}}},"id":"i"}}"#
        ));
        conductor.leaves();
    }
}

#[test]
fn a_refused_initialize_is_the_agents_own_refusal() {
    let mut conductor = Conductor::silent("proxy", &[]);
    conductor.says(r#"{"id":"i","method":"proxy/initialize"}"#);
    conductor
        .hears(r#"{"jsonrpc":"2.0","id":"i","method":"proxy/successor","params":{"method":"initialize"}}"#);
    conductor.passes(r#"{"jsonrpc":"2.0","id":"i","error":{"code":-32000,"message":"log in first"}}"#);
    conductor.leaves();
}

#[test]
fn requests_of_both_keep_their_ids_and_their_bytes() {
    // Both peers may have a method that the other has as well; only the envelope tells which peer sent a request.
    let params = r#"{ "z":1.0,"a":1e400 ,"a":[18446744073709551616,"\ud800\/"],"_meta":{"params":null}}"#;
    for spelling in SPELLINGS {
        let mut conductor = Conductor::new(spelling);
        for id in ["0", "-1", "1.0", "\"0\"", "\"a-b\"", r#""\u0061""#, "\"\"", "[{}]"] {
            let plain = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"_x/y","params":{params}}}"#);
            conductor.says(&plain);
            conductor.hears_for_agent(id, "_x/y", params);
            conductor.passes(&format!(r#" {{ "id" : {id},"result":{params} }}"#));
            conductor.agent_asks(id, "_x/y", params);
            conductor.hears(&plain);
            conductor
                .passes(&format!(r#"{{"error":{{"code":1.0,"message":""}},"id":{id},"more":{params}}}"#));
        }
        conductor.leaves();
    }
}

#[test]
fn notifications_pass_with_their_params_or_without() {
    for spelling in SPELLINGS {
        let mut conductor = Conductor::new(spelling);
        conductor.agent_tells("session/update", r#"{"sessionId":"s","update":{}}"#);
        conductor
            .hears(r#"{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{}}}"#);
        conductor.says(&format!(r#"{{"method":"{spelling}/successor","params":{{"method":"x"}}}}"#));
        conductor.hears(r#"{"jsonrpc":"2.0","method":"x"}"#);
        conductor.says(r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}"#);
        conductor.hears_told_to_agent("session/cancel", r#"{"sessionId":"s"}"#);
        conductor.says(r#"{"jsonrpc":"2.0","method":"x"}"#);
        conductor.hears(&format!(
            r#"{{"jsonrpc":"2.0","method":"{spelling}/successor","params":{{"method":"x"}}}}"#
        ));
        conductor.leaves();
    }
}

#[test]
fn a_cancellation_passes_without_an_envelope() {
    for spelling in SPELLINGS {
        let mut conductor = Conductor::new(spelling);
        conductor.prompt("\"p\"");
        conductor.passes(&cancel("\"p\""));
        conductor.passes(r#"{"jsonrpc":"2.0","id":"p","error":{"code":-32800,"message":"cancelled"}}"#);
        conductor.agent_asks("\"f\"", "fs/read_text_file", "{}");
        conductor.hears(r#"{"jsonrpc":"2.0","id":"f","method":"fs/read_text_file","params":{}}"#);
        conductor.passes(&cancel("\"f\""));
        conductor.leaves();
    }
}

#[test]
fn one_socket_can_be_both_ends() {
    let (theirs, mut ours) = UnixStream::pair().unwrap();
    let theirs = OwnedFd::from(theirs);
    let mut running = Running::start(proxy(&[]), theirs.try_clone().unwrap(), theirs);
    ours.write_all(b"{\"id\":1,\"method\":\"x\"}\n").unwrap();
    ours.shutdown(Shutdown::Write).unwrap();
    let text = io::read_to_string(&mut ours).unwrap();
    let expected = r#"{"jsonrpc":"2.0","id":1,"method":"proxy/successor","params":{"method":"x"}}"#;
    assert_eq!(text, format!("{expected}\n"));
    assert!(running.wait().success());
}

#[test]
fn a_flood_passes_whole_and_in_order() {
    const LINES: usize = 40_000;
    let (mut running, mut input, mut output) = piped();
    let said = |line: usize| match line % 3 {
        0 => format!("{{\"id\":{line},\"method\":\"x\"}}\n"),
        1 => format!("{{\"id\":{line},\"method\":\"proxy/successor\",\"params\":{{\"method\":\"x\"}}}}\n"),
        _ => format!("{{\"id\":{line},\"result\":{{}}}}\n"),
    };
    let heard = |line: usize| match line % 3 {
        0 => format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{line},\"method\":\"proxy/successor\",\"params\":{{\"method\":\"x\"}}}}\n"
        ),
        1 => format!("{{\"jsonrpc\":\"2.0\",\"id\":{line},\"method\":\"x\"}}\n"),
        _ => said(line),
    };
    let writer = thread::spawn(move || {
        let all: String = (0..LINES).map(said).collect();
        input.write_all(all.as_bytes()).unwrap();
    });
    let text = io::read_to_string(&mut output).unwrap();
    writer.join().unwrap();
    assert_eq!(text.lines().count(), LINES);
    assert!(text == (0..LINES).map(heard).collect::<String>(), "something got lost, or out of order");
    assert!(running.wait().success());
}
