//! Messages in both directions, and each way in which a request can fail.

use rustix::process::Signal;

use super::{
    host::{BEGUN, Host, INITIALIZE},
    server::Server,
};

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
const OTHER: &str = r#"{"jsonrpc":"2.0","id":"two","method":"x/unknown","params":{"a":[1.50,12345678901234567890123]},"extra":null}"#;

#[test]
fn each_message_passes_unchanged() {
    let mut server = Server::start();
    let (mut host, mut own) = Host::in_session(&mut server);
    host.send(OTHER);
    let request = server.message("x/unknown");
    assert_eq!(String::from_utf8_lossy(&request.body), OTHER);
    assert_eq!(request.path, "/mcp");
    for (name, value) in [
        ("accept", "application/json, text/event-stream"),
        ("content-type", "application/json"),
        ("mcp-session-id", "s1"),
        ("mcp-protocol-version", "2025-11-25"),
    ] {
        assert_eq!(request.header(name), Some(value), "{name}");
    }
    assert_eq!(request.header("mcp-method"), None);
    // JSON on many lines, with members that no type knows.
    request.respond("{\r\n  \"id\": \"two\",\n  \"jsonrpc\": \"2.0\", \"new\": 1.50,\n  \"result\": { \"\\u0061\": \"x\\ny\" }\n}\n");
    assert_eq!(
        host.line(),
        "{    \"id\": \"two\",   \"jsonrpc\": \"2.0\", \"new\": 1.50,   \"result\": { \"\\u0061\": \"x\\ny\" } }"
    );
    // The server's own request, and the host's response to it.
    own.event(
        ": hello\nid: 1\ndata: {\"jsonrpc\":\"2.0\",\"id\":0,\ndata: \"method\":\"elicitation/create\"}",
    );
    assert_eq!(host.line(), r#"{"jsonrpc":"2.0","id":0, "method":"elicitation/create"}"#);
    let answer = r#"{"jsonrpc":"2.0","id":0,"result":{"action":"accept","content":{},"new":[]}}"#;
    host.send(answer);
    let response = server.take("POST", |request| request.json()["result"].is_object());
    assert_eq!(String::from_utf8_lossy(&response.body), answer);
    response.reply(202, &[], b"");
    // The end of the session is told.
    host.process.close_stdin();
    let end = server.take("DELETE", |_| true);
    assert_eq!(end.header("mcp-session-id"), Some("s1"));
    end.reply(405, &[], b"");
    assert_eq!(host.process.wait().code(), Some(0));
    assert_eq!(host.process.next_line(), None);
}

#[test]
fn two_requests_at_once_have_a_response_each() {
    let mut server = Server::start();
    let (mut host, _own) = Host::in_session(&mut server);
    host.send(PING);
    let first = server.message("ping");
    host.send(OTHER);
    let second = server.message("x/unknown");
    let mut stream = first.stream(&[]);
    stream.event(r#"data: {"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":1}}"#);
    assert!(host.line().contains("notifications/progress"));
    second.respond(r#"{"jsonrpc":"2.0","id":"two","error":{"code":-32601,"message":"no","data":{"a":1.0}}}"#);
    assert_eq!(
        host.line(),
        r#"{"jsonrpc":"2.0","id":"two","error":{"code":-32601,"message":"no","data":{"a":1.0}}}"#
    );
    stream.event("event: message\ndata: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
    assert_eq!(host.line(), r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    // The answer was the last that is wanted of the stream, which the server leaves open.
    assert!(stream.is_closed());
}

#[test]
fn a_request_that_is_refused_has_an_error_that_says_what_to_do() {
    let stray = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"Bad Request: no","data":1}}"#;
    for (status, headers, body, said) in [
        (401, &["WWW-Authenticate: Bearer"][..], "", "replied 401: it wants other credentials"),
        (
            404,
            &[],
            "Not Found",
            "replied 404: Not Found: there is no MCP server with streamable HTTP at this address",
        ),
        (503, &["Content-Type: text/html"], "<html>busy</html>", "replied 503: the server failed"),
        (400, &["Content-Type: application/json"], stray, "Bad Request: no"),
        (200, &["Content-Type: text/html"], "<html>", "something other than JSON"),
        (
            302,
            &["Location: https://elsewhere.example/mcp?key=s3cret"],
            "",
            "redirects to https://elsewhere.example/mcp, to which no request is sent",
        ),
    ] {
        let mut server = Server::start();
        let mut host = Host::start(&server);
        host.send(INITIALIZE);
        let request = server.message("initialize");
        assert_eq!((request.header("mcp-session-id"), request.header("mcp-protocol-version")), (None, None));
        request.reply(status, headers, body.as_bytes());
        let error = host.error(0);
        assert!(error.contains(said), "{status}: {error}");
        assert!(!error.contains("s3cret"), "{error}");
        // The host may try again, and a response is then passed on as ever.
        host.send(INITIALIZE);
        server.message("initialize").respond(BEGUN);
        assert_eq!(host.line(), BEGUN);
        assert_eq!(host.leave(), Some(0));
    }
}

#[test]
fn a_server_that_is_not_there_is_named() {
    // The port was free a moment ago, and nothing listens there.
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let mut host = Host::with(&format!("http://127.0.0.1:{port}/mcp?key=s3cret"), "", &[]);
    host.send(INITIALIZE);
    let error = host.error(0);
    assert!(error.contains(&format!("http://127.0.0.1:{port}/mcp cannot be reached (")), "{error}");
    assert!(error.contains("is the server running") && !error.contains("s3cret"), "{error}");
    assert_eq!(host.leave(), Some(0));
}

#[test]
fn a_redirect_at_the_same_server_is_followed() {
    let mut server = Server::start();
    let mut host = Host::start(&server);
    host.send(INITIALIZE);
    server.message("initialize").reply(307, &["Location: /mcp/"], b"");
    let again = server.message("initialize");
    assert_eq!((&*again.path, String::from_utf8_lossy(&again.body)), ("/mcp/", INITIALIZE.into()));
    again.respond(BEGUN);
    assert_eq!(host.line(), BEGUN);
}

#[test]
fn a_cancellation_is_sent_once_its_request_is() {
    let mut server = Server::start();
    let (mut host, _own) = Host::in_session(&mut server);
    host.send(PING);
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    host.send(cancel);
    let request = server.message("ping");
    let cancellation = server.message("notifications/cancelled");
    assert_eq!(String::from_utf8_lossy(&cancellation.body), cancel);
    cancellation.reply(202, &[], b"");
    // The server gives it up without a response, which is no error for the host.
    request.break_off();
    host.send(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#);
    server
        .take("POST", |request| request.json()["id"] == 2)
        .respond(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
    assert_eq!(host.line(), r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
}

#[test]
fn messages_without_sessions_have_the_headers_of_their_revision() {
    let mut server = Server::start();
    let mut host = Host::start(&server);
    let meta = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;
    host.send(&format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"größe",{meta}}}}}"#
    ));
    let request = server.message("tools/call");
    for (name, value) in [
        ("mcp-protocol-version", Some("2026-07-28")),
        ("mcp-method", Some("tools/call")),
        ("mcp-name", Some("=?base64?Z3LDtsOfZQ==?=")),
        ("mcp-session-id", None),
    ] {
        assert_eq!(request.header(name), value, "{name}");
    }
    // A cancellation closes the stream.
    let mut stream = request.stream(&[]);
    stream.event(r#"data: {"jsonrpc":"2.0","method":"notifications/progress"}"#);
    assert!(host.line().contains("notifications/progress"));
    host.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#);
    assert!(stream.is_closed());
    assert_eq!(host.leave(), Some(0));
    assert!(server.is_silent(), "there is no session to listen to or to end");
}

#[test]
fn a_signal_ends_it_at_once_and_the_session_too() {
    let mut server = Server::start();
    let (mut host, _own) = Host::in_session(&mut server);
    host.send(PING);
    let _request = server.message("ping");
    host.process.signal(Signal::TERM);
    server.take("DELETE", |_| true).reply(200, &[], b"");
    assert_eq!(host.process.wait().code(), Some(128 + 15));
}
