//! The tables: those that are files of their own, in which each case begins with `# ` and its name, and those that
//! repeat a line. How a line is read is in `stage.rs`.

use super::stage::{PING, in_session, play_all};

#[test]
fn a_session_begins_before_anything_else_is_sent() {
    play_all(include_str!("beginnings.txt"));
}

#[test]
fn messages_pass_in_both_directions() {
    play_all(include_str!("messages.txt"));
}

#[test]
fn a_cancellation_follows_its_request() {
    play_all(include_str!("cancellations.txt"));
}

#[test]
fn without_sessions_each_message_stands_alone() {
    play_all(include_str!("stateless.txt"));
}

#[test]
fn an_ended_session_is_replaced_unseen() {
    play_all(include_str!("renewals.txt"));
}

#[test]
fn a_stream_that_broke_is_resumed_behind_its_last_event() {
    play_all(include_str!("streams.txt"));
}

#[test]
fn the_host_leaves() {
    play_all(include_str!("endings.txt"));
}

#[test]
fn a_refused_request_gets_one_error() {
    for (response, told) in [
        (
            r#"4 400|4 data {"id":5,"error":{"code":-32602,"message":"m","data":{"x":1}}}|4 end"#,
            r#"tell {"id":5,"error":{"code":-32602,"message":"m","data":{"x":1}}}"#,
        ),
        (
            r#"4 400|4 data {"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"m","data":1}}|4 end"#,
            r#"tell {"jsonrpc":"2.0","id":5,"error":{"code":-32000,"message":"m","data":1}}"#,
        ),
        (
            r#"4 500|4 data {"error":{"code":1,"message":"m"}}|4 end"#,
            r#"tell {"jsonrpc":"2.0","id":5,"error":{"code":1,"message":"m"}}"#,
        ),
        (
            r#"4 404|4 data {"id":5,"error":{"code":-32601,"message":"m"}}|4 end"#,
            r#"tell {"id":5,"error":{"code":-32601,"message":"m"}}"#,
        ),
        (
            "4 401|4 end",
            "error 5 URL replied 401: it wants other credentials: set them as a header of this server, in `[[mcp.servers]]`…",
        ),
        ("4 403|4 end", "error 5 URL replied 403: it refuses these credentials…"),
        (
            "4 405|4 end",
            "error 5 URL replied 405: there is no MCP server with streamable HTTP at this address…",
        ),
        (
            "4 421|4 data Invalid Host header|4 end",
            "error 5 URL replied 421: Invalid Host header: it refuses the request",
        ),
        (
            "4 500|4 data <html>|4 end",
            "error 5 URL replied 500: the server failed: see its log, and try again later",
        ),
        ("4 400|4 data no s3cret here|4 end", "error 5 URL replied 400: it refuses the request"),
        ("4 429|4 long", "error 5 URL replied 429: there are too many requests…"),
        ("4 303|4 end", "error 5 URL replied 303: it refuses the request"),
        ("4 200|4 data <html>|4 end", "error 5 URL replied with something other than JSON…"),
        ("4 202|4 end", "error 5 the response of URL ended without an answer…"),
        ("4 200|4 long", "error 5 the response of URL is longer than 256 MiB…"),
        ("4 200 stream|4 end", "error 5 the response of URL ended without an answer…"),
        ("4 200 stream|4 broken", "error 5 the connection to URL broke (reset)…"),
        ("4 broken", "error 5 the connection to URL broke (reset)…"),
        ("4 unreached", "error 5 URL cannot be reached (refused)…"),
        ("4 elsewhere", "error 5 URL redirects to https://b.example/mcp, to which no request is sent…"),
    ] {
        let response = response.replace('|', "\n");
        in_session(
            &response,
            &format!(
                "host {PING}\n> 4 POST revision=2025-11-25 session=s {PING}\n{response}\n> {told}\n4 sent"
            ),
        );
    }
}

#[test]
fn many_requests_wait_for_each_other() {
    let mut table = String::new();
    let limit = crate::limits::mcp_http::CALLS;
    for id in 0..limit {
        table += &format!(
            "host {{\"id\":{id},\"method\":\"x\"}}\n> {} POST revision=2025-11-25 session=s …\n",
            id + 4
        );
    }
    table += "host {\"id\":\"a\",\"method\":\"x\"}\nhost {\"id\":\"b\",\"method\":\"x\"}\n";
    table += "host {\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"a\"}}\n";
    table += "4 broken\n> 260 POST revision=2025-11-25 session=s {\"id\":\"b\",\"method\":\"x\"}\n> error 0 the connection…";
    in_session("one more than the limit", &table);
}

#[test]
fn a_notification_that_did_not_leave_is_sent_again() {
    let note = r#"{"method":"x"}"#;
    let mut table = format!(
        "host {note}\n> 4 POST revision=2025-11-25 session=s {note}\n> 4 wake 30000ms\n4 unreached\n"
    );
    for (call, seconds) in [(5, 1), (7, 2), (9, 4), (11, 8)] {
        let next = call + 1;
        table += &format!(
            "> {call} wake {seconds}000ms\n{call} woken\n> {next} POST revision=2025-11-25 session=s {note}\n> {next} wake 30000ms\n{next} unreached\n"
        );
    }
    in_session("four times", &table);
    in_session(
        "not if it may have arrived",
        &format!("host {note}\n> 4 POST revision=2025-11-25 session=s {note}\n> 4 wake 30000ms\n4 broken"),
    );
}
