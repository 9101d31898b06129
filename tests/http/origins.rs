//! Pages of other sites: those whose origin the settings name read and answer with the token, and all others get
//! nothing, however similar their origin is.

use serde_json::json;

use crate::http::bridge::{Bridge, choice};
use crate::http::client::Reply;
use crate::http::guard::{PATHS, PUBLIC};
use crate::http::page::{SignedIn, sign_in};

const DASH: &str = "https://dash.example";
const NAMED: [&str; 4] = [DASH, "http://127.0.0.1:3000", "http://[::1]:3000", "http://box"];

const JSON: &str = "Content-Type: application/json";
const CROSS_SITE: &str = "Sec-Fetch-Site: cross-site";
/// What a browser sends before a request with the token.
const PREFLIGHT: [&str; 3] = [
    CROSS_SITE,
    "Access-Control-Request-Method: POST",
    "Access-Control-Request-Headers: authorization,content-type",
];

/// Checks that a response is one that a page of this origin may read, and no other.
#[track_caller]
fn is_for<'a>(reply: &'a Reply, origin: &str, status: u16) -> &'a Reply {
    assert_eq!(reply.status, status, "{reply:?}");
    let allowed =
        |name: &str| reply.headers.lines().filter(|line| line.starts_with(name)).collect::<Vec<_>>();
    assert_eq!(
        allowed("access-control-allow-origin:"),
        [format!("access-control-allow-origin: {origin}")],
        "{reply:?}"
    );
    assert!(reply.has("vary: origin") && reply.has("x-content-type-options: nosniff"), "{reply:?}");
    assert!(!reply.headers.contains("credentials"), "no cookie counts: {reply:?}");
    if status >= 400 {
        assert!(reply.has("content-type: application/problem+json"), "{reply:?}");
    }
    reply
}

#[tokio::test]
async fn pages_of_a_named_origin_read_and_answer_with_the_token() {
    let bridge = Bridge::start_for(&NAMED).await;
    bridge.ask(choice("q")).await;
    for named in NAMED {
        let headers = [&format!("Origin: {named}"), CROSS_SITE];
        for site in [CROSS_SITE, "Sec-Fetch-Site: same-site", "X-Nothing: 1"] {
            let reply = bridge.http.send("GET", "/v1/questions", &[headers[0], site], "").await;
            assert!(is_for(&reply, named, 200).body.contains("Which"), "{reply:?}");
        }
        for path in ["/v1/events", "/event"] {
            let listener = bridge.http.listen(path, &headers).await;
            let head = listener.head.to_lowercase();
            assert!(head.contains(&format!("access-control-allow-origin: {named}\r\n")), "{head}");
            assert!(head.contains("vary: origin\r\n"), "{head}");
        }
    }
    let origin = format!("Origin: {DASH}");
    let post = async |path: &str, body: &str| {
        bridge.http.send("POST", path, &[&origin, CROSS_SITE, JSON], body).await
    };
    // A page has to read why its request failed, wherever it did.
    let wrong = json!({ "answers": [["none"]] }).to_string();
    is_for(&post("/v1/questions/bridge-1/reply", &wrong).await, DASH, 422);
    is_for(&post("/v1/questions/bridge-1/reply", "{").await, DASH, 400);
    is_for(&post("/no/such/path", "").await, DASH, 404);
    let reply = post("/v1/events", "").await;
    assert!(is_for(&reply, DASH, 405).has("allow: get,head"), "{reply:?}");
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "question_list", "params": {} }).to_string();
    is_for(&post("/rpc", &list).await, DASH, 200);
    let answer = json!({ "answers": [["a"]] }).to_string();
    is_for(&post("/v1/questions/bridge-1/reply", &answer).await, DASH, 204);
    assert_eq!(bridge.agent.lock().unwrap().len(), 1);
    // What a program or the page of this server gets is as before.
    bridge.http.get("/v1/questions").await.is(200);
    let own = format!("Origin: http://{}", bridge.http.address);
    bridge.http.send("GET", "/v1/questions", &[&own], "").await.is(200);
}

/// A browser asks before it sends a request with the token: of each path.
#[tokio::test]
async fn a_preflight_of_a_named_origin_allows_what_clients_send() {
    let bridge = Bridge::start_for(&NAMED).await;
    let (host, origin) = (format!("Host: {}", bridge.http.address), format!("Origin: {DASH}"));
    for (_, path) in PATHS.iter().chain(&PUBLIC) {
        let headers = [&[host.as_str(), &origin], &PREFLIGHT[..]].concat();
        let reply = bridge.http.send_only("OPTIONS", path, &headers, "").await;
        is_for(&reply, DASH, 204);
        assert!(reply.has("access-control-allow-methods: get, post, delete"), "{reply:?}");
        let allowed = "access-control-allow-headers: authorization, content-type, last-event-id, idempotency-key, prefer";
        assert!(reply.has(allowed) && reply.body.is_empty(), "{reply:?}");

        // The Host header is checked first.
        for host in ["Host: evil.example", "Host: dash.example"] {
            let headers = [&[host, &origin], &PREFLIGHT[..]].concat();
            bridge.http.send_only("OPTIONS", path, &headers, "").await.is(403);
        }
        let chunked = [&[host.as_str(), &origin, "Transfer-Encoding: chunked"], &PREFLIGHT[..]].concat();
        is_for(&bridge.http.send_only("OPTIONS", path, &chunked, "").await, DASH, 413);
        // Without the header that makes it a preflight, it is a request like any other.
        is_for(&bridge.http.send_only("OPTIONS", path, &[&host, &origin], "").await, DASH, 401);
    }
}

#[tokio::test]
async fn a_named_origin_opens_nothing_without_the_token() {
    let bridge = Bridge::start_for(&NAMED).await;
    bridge.ask(choice("q")).await;
    let (host, origin) = (format!("Host: {}", bridge.http.address), format!("Origin: {DASH}"));
    let wrong = format!("Authorization: Bearer {}", "0".repeat(64));
    for (method, path) in PATHS.iter().chain(&PUBLIC) {
        for shown in ["X-Nothing: 1", &wrong] {
            let reply = bridge.http.send_only(method, path, &[&host, &origin, shown], "").await;
            assert!(!is_for(&reply, DASH, 401).body.contains("Which"), "{reply:?}");
        }
    }
    // What signs the page of this server in opens nothing for another page, not even the WebSocket.
    let SignedIn { cookie, key } = sign_in(&bridge.http, &bridge.http.token).await;
    let shown = [
        format!("Cookie: {cookie}"),
        format!("Askbridge-Key: {key}"),
        format!("Sec-WebSocket-Protocol: askbridge, key.{key}"),
    ];
    let shown: Vec<_> = shown.iter().map(String::as_str).collect();
    for path in ["/v1/questions", "/v1/events"] {
        let headers = [&[host.as_str(), &origin], &shown[..]].concat();
        is_for(&bridge.http.send_only("GET", path, &headers, "").await, DASH, 401);
    }
    let own = format!("Origin: http://{}", bridge.http.address);
    for (origin, status) in [(&own, 101), (&origin, 401)] {
        let headers = [&[host.as_str(), origin], &shown[..]].concat();
        assert_eq!(bridge.http.open_websocket(&headers).await, status, "{origin}");
    }
    // Nor may another page sign a browser in.
    for (method, path) in [("POST", "/login"), ("GET", "/login"), ("OPTIONS", "/login")] {
        let body =
            if method == "POST" { json!({ "token": bridge.http.token }).to_string() } else { String::new() };
        let headers = [&[origin.as_str(), JSON], &PREFLIGHT[..]].concat();
        bridge.http.send(method, path, &headers, &body).await.is(403);
    }
    assert!(bridge.agent.lock().unwrap().is_empty());
}

/// Origins that are none of [`NAMED`], and similar to one.
const OTHERS: [&str; 46] = [
    "https://evil.example",
    "https://dash.example.",
    "https://dash.example.evil.example",
    "https://evil.example/https://dash.example",
    "https://evil.example?https://dash.example",
    "https://evildash.example",
    "https://evil-dash.example",
    "https://sub.dash.example",
    "https://dash.exampl",
    "https://dash.examples",
    "https://dash",
    "https://dash.example:443",
    "https://dash.example:8443",
    "https://dash.example:",
    "https://dash.example/",
    "https://Dash.example",
    "HTTPS://dash.example",
    "http://dash.example",
    "https://ada@dash.example",
    "https://dash.example@evil.example",
    "https://dash.example, https://evil.example",
    "https://dash.example https://evil.example",
    "https://dash.example\thttps://evil.example",
    "https://dash.example\u{e9}",
    "dash.example",
    "//dash.example",
    "*",
    "null",
    "NULL",
    "",
    "file://",
    "http://127.0.0.1",
    "http://127.0.0.1:300",
    "http://127.0.0.1:30000",
    "http://127.0.0.1:3001",
    "http://127.0.0.2:3000",
    "http://127.1:3000",
    "http://localhost:3000",
    "https://127.0.0.1:3000",
    "http://[::1]",
    "http://[0:0:0:0:0:0:0:1]:3000",
    "http://[::ffff:127.0.0.1]:3000",
    "http://box:80",
    "http://box.",
    "http://BOX",
    "https://box",
];

/// Each of these has the token as well, as if a page had got it.
#[tokio::test]
async fn an_origin_that_is_not_named_gets_nothing() {
    let bridge = Bridge::start_for(&NAMED).await;
    bridge.ask(choice("q")).await;
    for (method, path) in
        PATHS.iter().chain(&PUBLIC).chain(&[("OPTIONS", "/v1/questions"), ("OPTIONS", "/rpc")])
    {
        for origin in OTHERS {
            let origin = format!("Origin: {origin}");
            let headers = [&[origin.as_str()], &PREFLIGHT[..]].concat();
            let reply = bridge.http.send(method, path, &headers, "").await;
            assert!(!reply.is(403).headers.contains("vary: origin"), "{reply:?}");
        }
        // A named one counts only if it is the only one.
        for other in ["https://evil.example", "null", DASH] {
            let headers = [&format!("Origin: {DASH}"), &format!("Origin: {other}"), CROSS_SITE];
            bridge.http.send(method, path, &headers, "").await.is(403);
        }
        bridge.http.send(method, path, &[CROSS_SITE], "").await.is(403);
    }
    assert!(bridge.agent.lock().unwrap().is_empty());
}
