//! Sessions that the server ends, and streams that break.

use super::{
    host::{BEGUN, Host, INITIALIZE, INITIALIZED},
    server::{Request, Server},
};

const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#;
const DONE: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#;

/// Takes the program through the beginning of another session.
fn renew(server: &mut Server, session: &str) {
    let first = server.message("initialize");
    assert_eq!(String::from_utf8_lossy(&first.body), INITIALIZE);
    assert_eq!(first.header("mcp-session-id"), None);
    let header = format!("Mcp-Session-Id: {session}");
    first.reply(200, &["Content-Type: application/json", &header], BEGUN.as_bytes());
    let second = server.message("notifications/initialized");
    assert_eq!(String::from_utf8_lossy(&second.body), INITIALIZED);
    assert_eq!(second.header("mcp-session-id"), Some(session));
    second.reply(202, &[], b"");
}

fn call(server: &mut Server, session: &str) -> Request {
    let request = server.message("tools/call");
    assert_eq!(
        (String::from_utf8_lossy(&request.body), request.header("mcp-session-id")),
        (CALL.into(), Some(session))
    );
    request
}

#[test]
fn a_session_that_the_server_has_ended_is_replaced_unseen() {
    let lost = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: No valid session ID provided"}}"#;
    for (status, body) in [(404, ""), (404, r#"{"error":"Session not found"}"#), (400, lost)] {
        let mut server = Server::start();
        let (mut host, mut own) = Host::in_session(&mut server);
        own.event(r#"data: {"jsonrpc":"2.0","id":7,"method":"elicitation/create"}"#);
        assert!(host.line().contains("elicitation/create"));
        host.send(CALL);
        call(&mut server, "s1").reply(status, &[], body.as_bytes());
        renew(&mut server, "s2");
        // What the server had asked has nobody who waits for it.
        let taken_back = host.line();
        assert!(
            taken_back.contains(r#""method":"notifications/cancelled","params":{"requestId":7,"#),
            "{taken_back}"
        );
        call(&mut server, "s2").respond(DONE);
        assert_eq!(host.line(), DONE);
        // The stream of the server's own messages is that of the new session.
        let listening = server.take("GET", |_| true);
        assert_eq!(listening.header("mcp-session-id"), Some("s2"));
        let mut own = listening.stream(&[]);
        own.event(r#"data: {"jsonrpc":"2.0","id":0,"method":"ping"}"#);
        assert_eq!(host.line(), r#"{"jsonrpc":"2.0","id":0,"method":"ping"}"#);
    }
}

#[test]
fn a_response_whose_stream_breaks_is_resumed() {
    let mut server = Server::start();
    let (mut host, _own) = Host::in_session(&mut server);
    host.send(CALL);
    let mut stream = call(&mut server, "s1").stream(&[]);
    stream.event("id: e1\ndata:");
    stream.event("id: e2\nretry: 150\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}");
    assert!(host.line().contains("notifications/progress"));
    drop(stream);
    let rest = server.take("GET", |request| request.header("last-event-id").is_some());
    assert_eq!((rest.header("last-event-id"), rest.header("mcp-session-id")), (Some("e2"), Some("s1")));
    assert_eq!(rest.header("mcp-protocol-version"), Some("2025-11-25"));
    let mut stream = rest.stream(&[]);
    stream.event(&format!("id: e3\ndata: {DONE}"));
    assert_eq!(host.line(), DONE);
}

#[test]
fn a_response_that_breaks_off_is_an_error_and_not_sent_again() {
    let mut server = Server::start();
    let (mut host, _own) = Host::in_session(&mut server);
    host.send(CALL);
    drop(call(&mut server, "s1").stream(&[]));
    let error = host.error(1);
    assert!(error.contains("the server may have handled the request"), "{error}");
    host.send(CALL);
    call(&mut server, "s1").break_off();
    let error = host.error(1);
    assert!(error.contains("broke") && error.contains("may have handled the request"), "{error}");
    assert!(server.is_silent(), "it is not sent again");
    assert_eq!(host.leave(), Some(0));
}

#[test]
fn the_stream_of_the_servers_own_messages_is_opened_again() {
    let mut server = Server::start();
    let (mut host, mut own) = Host::in_session(&mut server);
    own.event(
        "id: e9\nretry: 100\ndata: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}",
    );
    assert!(host.line().contains("list_changed"));
    drop(own);
    let again = server.take("GET", |_| true);
    assert_eq!(again.header("last-event-id"), Some("e9"));
    let mut own = again.stream(&[]);
    own.event(r#"data: {"jsonrpc":"2.0","id":0,"method":"roots/list"}"#);
    assert_eq!(host.line(), r#"{"jsonrpc":"2.0","id":0,"method":"roots/list"}"#);
}

#[test]
fn a_server_without_a_stream_of_its_own_is_right_too() {
    let mut server = Server::start();
    let mut host = Host::start(&server);
    host.send(INITIALIZE);
    server.message("initialize").respond(BEGUN);
    assert_eq!(host.line(), BEGUN);
    host.send(INITIALIZED);
    server.message("notifications/initialized").reply(202, &[], b"");
    server.take("GET", |_| true).reply(405, &[], b"");
    host.send(CALL);
    let request = server.message("tools/call");
    assert_eq!(request.header("mcp-session-id"), None);
    request.respond(DONE);
    assert_eq!(host.line(), DONE);
    assert_eq!(host.leave(), Some(0));
    assert!(server.is_silent(), "there is no session to end");
}
