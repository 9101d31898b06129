//! Long messages, many messages, and hosts that do not read.

use std::{
    io::{BufRead, BufReader, Write},
    process::Stdio,
    time::Duration,
};

use super::{
    host::{BEGUN, Host, INITIALIZE},
    server::Server,
};
use crate::{answers::machine::TestMachine, support::procfs::peak_kib};

const MIB: usize = 1 << 20;

#[test]
fn long_messages_pass_in_both_directions() {
    let mut server = Server::start();
    let (mut host, mut own) = Host::in_session(&mut server);
    let long = "x".repeat(20 * MIB);
    let line = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{{"a":"{long}"}}}}"#);
    host.send(&line);
    let request = server.message("x");
    assert!(request.body == line.as_bytes());
    let response = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"a":"{long}"}}}}"#);
    request.respond(&response);
    assert!(host.line() == response);
    own.event(&format!(
        "data: {response}\n\ndata: {{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":\"{long}\"}}"
    ));
    // The first had an answer already.
    assert!(host.line().starts_with(r#"{"jsonrpc":"2.0","method":"x""#));
}

#[test]
fn a_host_that_does_not_read_slows_the_server() {
    let mut server = Server::start();
    let machine = TestMachine::new();
    let mut command = machine.command(&["mcp-http", &server.url()]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let (mut stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    stdin.write_all(format!("{INITIALIZE}\n").as_bytes()).unwrap();
    let mut stream = server.message("initialize").stream(&[]);
    let event =
        format!("data: {{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":\"{}\"}}\n\n", "x".repeat(60_000));
    let taken = stream.flood(event.repeat(16).as_bytes(), Duration::from_secs(2));
    assert!(taken < 64 * MIB, "{taken} bytes were taken");
    let peak = peak_kib(child.id());
    assert!(peak < 128 * 1024, "{peak} KiB of memory");
    // Nothing of what was taken is lost: the error that the stream broke comes after all of it.
    drop(stream);
    let lines = BufReader::new(stdout).lines().map_while(Result::ok);
    let count = lines.take_while(|line| !line.contains(r#""id":0,"error""#)).count();
    assert!(count >= taken / event.len(), "{count} lines of {taken} bytes");
    drop(stdin);
    assert!(child.wait().unwrap().success());
}

#[test]
fn many_requests_at_once_have_a_response_each() {
    let mut server = Server::start();
    let mut host = Host::start(&server);
    host.send(INITIALIZE);
    server.message("initialize").respond(BEGUN);
    assert_eq!(host.line(), BEGUN);
    for id in 1..=400 {
        host.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"x"}}"#));
    }
    for _ in 0..400 {
        let request = server.message("x");
        let response = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{}}}}"#, request.json()["id"]);
        request.respond(&response);
    }
    let mut ids: Vec<u64> = (0..400)
        .map(|_| serde_json::from_str::<serde_json::Value>(&host.line()).unwrap()["id"].as_u64().unwrap())
        .collect();
    ids.sort_unstable();
    assert!(ids.into_iter().eq(1..=400));
    assert_eq!(host.leave(), Some(0));
}
