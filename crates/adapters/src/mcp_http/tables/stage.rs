//! How a table is played: what happens, and what is done about it, a line for each.

use std::time::Duration;

use askbridge_core::wire::scan;
use axum::http::HeaderValue;
use bytes::Bytes;

use crate::mcp_http::{
    address::ServerAddress,
    call::{Action, CallId, Cursor, End, Event, Head, Sends},
    relay::Relay,
};

/// Reads an event of a table:
///
/// - `host LINE`, `gone`
/// - `CALL sent`, `CALL woken`, `CALL json MESSAGE` (a whole response), `CALL data MESSAGE`
/// - `CALL STATUS [stream] [SESSION]`: the head of a response
/// - `CALL cursor ID [RETRY]`
/// - `CALL end`, `CALL long`, `CALL unreached`, `CALL broken`, `CALL elsewhere`
fn event(text: &str) -> Vec<Event> {
    let bytes = |text: &str| Bytes::copy_from_slice(text.as_bytes());
    let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
    let Ok(number) = first.parse() else {
        return vec![match first {
            "host" => Event::Line(bytes(rest)),
            "long" => Event::LongLine(bytes(rest)),
            "gone" => Event::HostGone,
            _ => panic!("{text}"),
        }];
    };
    let call = CallId(number);
    let (what, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let ended = |end| vec![Event::Ended(call, end)];
    match what {
        "sent" => vec![Event::Sent(call)],
        "woken" => vec![Event::Woken(call)],
        "data" => vec![Event::Message(call, bytes(rest))],
        "json" => vec![
            Event::Head(call, Head { status: 200, ..Head::default() }),
            Event::Message(call, bytes(rest)),
            Event::Ended(call, End::Complete),
        ],
        "cursor" => {
            let (id, retry) = rest.split_once(' ').unwrap_or((rest, ""));
            let retry = retry.parse().ok().map(Duration::from_millis);
            vec![Event::Cursor(call, Cursor { id: Some(id.into()), retry })]
        }
        "end" => ended(End::Complete),
        "long" => ended(End::TooLong),
        "unreached" => ended(End::Unreached("refused".to_owned())),
        "broken" => ended(End::Broken("reset".to_owned())),
        "elsewhere" => ended(End::Elsewhere(Some("https://b.example/mcp".to_owned()))),
        status => {
            let status = status.parse().expect(text);
            let is_stream = rest.starts_with("stream");
            let session = rest.trim_start_matches("stream").trim();
            let session = (!session.is_empty()).then(|| HeaderValue::from_str(session).expect(session));
            vec![Event::Head(call, Head { status, session, is_stream })]
        }
    }
}

/// Returns an action as a table writes it.
fn written(action: &Action) -> String {
    match action {
        Action::Start(CallId(id), call) => {
            let mut headers: Vec<_> = call
                .headers
                .iter()
                .map(|(name, value)| {
                    let name = match name.as_str() {
                        "mcp-session-id" => "session",
                        "mcp-protocol-version" => "revision",
                        "last-event-id" => "after",
                        other => other,
                    };
                    format!("{name}={}", value.to_str().expect("text"))
                })
                .collect();
            headers.sort();
            let (method, body) = match &call.sends {
                Sends::Message(line) => ("POST", String::from_utf8_lossy(line).into_owned()),
                Sends::Listen => ("GET", String::new()),
                Sends::End => ("DELETE", String::new()),
            };
            [&[format!("{id} {method}")], &headers[..], &[body]].concat().join(" ").trim().to_owned()
        }
        Action::Drop(CallId(id)) => format!("{id} drop"),
        Action::Wake(CallId(id), time) => format!("{id} wake {}ms", time.as_millis()),
        // Of our own errors, the text is left to the tests of `refusal.rs`.
        Action::Tell(line) => {
            let line = String::from_utf8_lossy(line);
            let line = line.strip_suffix('\n').expect("a line");
            let own = scan::member(line.as_bytes(), "error")
                .and_then(|error| scan::text(scan::member(error, "message")?));
            match own.filter(|text| text.starts_with("askbridge: ")) {
                Some(text) => {
                    let id =
                        scan::member(line.as_bytes(), "id").map(String::from_utf8_lossy).unwrap_or_default();
                    format!("error {id} {text}")
                        .replace("https://a.example/mcp", "URL")
                        .replace("askbridge: ", "")
                }
                None => format!("tell {line}"),
            }
        }
    }
}

/// Plays a table: each line that begins with `>` is an action of the event before it. An action that ends with `…` may
/// go on.
#[track_caller]
fn play(name: &str, table: &str) {
    let server: ServerAddress = "https://a.example/mcp".parse().expect("an address");
    let mut relay = Relay::new(server, vec!["s3cret".to_owned()]);
    let mut actions: Vec<String> = Vec::new();
    let check = |actions: &[String], at: &str| {
        assert!(actions.is_empty(), "{name}: before {at:?} comes also {actions:#?}")
    };
    for line in table.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match line.strip_prefix("> ") {
            Some(expected) => {
                let found = if actions.is_empty() { "nothing".to_owned() } else { actions.remove(0) };
                let is_it = match expected.strip_suffix('…') {
                    Some(beginning) => found.starts_with(beginning),
                    None => found == expected,
                };
                assert!(is_it, "{name}: expected {expected:?}, found {found:?}, and then {actions:#?}");
            }
            None => {
                check(&actions, line);
                for event in event(line) {
                    actions.extend(relay.take(event).iter().map(written));
                }
            }
        }
    }
    check(&actions, "the end");
}

/// The beginning of a session `s`: calls 1 and 2, and the stream of the server's own messages as call 3.
const BEGUN: &str = r#"
    host {"id":0,"method":"initialize","params":{}}
    > 1 POST {"id":0,"method":"initialize","params":{}}
    1 200 s
    1 data {"id":0,"result":{"protocolVersion":"2025-11-25"}}
    > tell {"id":0,"result":{"protocolVersion":"2025-11-25"}}
    > 1 wake 1000ms
    1 end
    host {"method":"notifications/initialized"}
    > 2 POST revision=2025-11-25 session=s {"method":"notifications/initialized"}
    > 2 wake 10000ms
    2 202
    > 3 GET revision=2025-11-25 session=s
    2 end
    3 200 stream
"#;

/// Plays the cases of a file.
pub(super) fn play_all(file: &str) {
    let cases = file.split("\n# ").map(|case| case.strip_prefix("# ").unwrap_or(case));
    let mut count = 0;
    for case in cases {
        let (name, table) = case.split_once('\n').expect("a name and a table");
        play(name, &table.replace("@session", BEGUN).replace("@renewed", RENEWED));
        count += 1;
    }
    assert!(count > 2, "{file}");
}

/// Plays a table after the beginning of a session.
#[track_caller]
pub(super) fn in_session(name: &str, table: &str) {
    play(name, &format!("{BEGUN}{table}"));
}

pub(super) const PING: &str = r#"{"id":5,"method":"ping"}"#;

/// What renews the session `s` as `t`, with the calls 5 to 7.
const RENEWED: &str = r#"
    5 200 t
    5 data {"id":0,"result":{"protocolVersion":"2025-11-25"}}
    > 6 POST revision=2025-11-25 session=t {"method":"notifications/initialized"}
    > 6 wake 10000ms
    > 5 wake 1000ms
    5 end
    6 202
    > 7 GET revision=2025-11-25 session=t
"#;
