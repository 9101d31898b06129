//! Requests that are refused: without the token, for another host, or from a web page of another site.

use std::{fs, os::unix::fs::PermissionsExt};

use askbridge::limits;
use askbridge_settings::resolved::HttpSettings;
use askbridge_web::Server;
use base64::{Engine, prelude::BASE64_STANDARD};
use tokio::{io::AsyncReadExt, net::TcpStream};

use crate::http::{
    bridge::{Bridge, choice},
    client::soon,
};

/// The paths that need the token, each with its method.
pub(crate) const PATHS: [(&str, &str); 17] = [
    ("GET", "/v1/questions"),
    ("GET", "/v1/questions/bridge-1"),
    ("GET", "/v1/questions/bridge-1/context"),
    ("GET", "/v1/questions/bridge-1/images/1"),
    ("POST", "/v1/questions/bridge-1/reply"),
    ("POST", "/v1/questions/bridge-1/reject"),
    ("GET", "/v1/sessions/s/questions"),
    ("GET", "/v1/sessions/s/questions/q"),
    ("POST", "/v1/sessions/s/questions/q/reply"),
    ("GET", "/v1/events"),
    ("POST", "/v1/questions"),
    ("POST", "/v1/questions/bridge-1/extend"),
    ("POST", "/rpc"),
    ("GET", "/question"),
    ("POST", "/question/bridge-1/reject"),
    ("GET", "/metrics"),
    ("GET", "/no/such/path"),
];

/// The paths that need no token.
pub(crate) const PUBLIC: [(&str, &str); 5] = [
    ("GET", "/"),
    ("GET", "/elements"),
    ("GET", "/healthz"),
    ("GET", "/v1/openapi.json"),
    ("GET", "/v1/openrpc.json"),
];

/// I10.
#[tokio::test]
async fn requests_without_the_token_are_refused() {
    let bridge = Bridge::start().await;
    bridge.ask(choice("q")).await;
    let host = format!("Host: {}", bridge.http.address);
    let token = &bridge.http.token;
    let (first, other) = (&token[1..], if token.starts_with('0') { "1" } else { "0" });
    let basic = |text: &str| format!("Authorization: Basic {}", BASE64_STANDARD.encode(text));
    let wrong = [
        "X-Nothing: 1".to_owned(),
        "Authorization: Bearer".to_owned(),
        format!("Authorization: Bearer {other}{first}"),
        format!("Authorization: Bearer {first}"),
        format!("Authorization: Bearer {token}0"),
        format!("Authorization: {token}"),
        basic(token),
        basic(&format!("{token}:")),
        basic(&format!("user:{other}{first}")),
        "Authorization: Basic *".to_owned(),
    ];
    for (method, path) in PATHS {
        for wrong in &wrong {
            let reply = bridge.http.send_only(method, path, &[&host, wrong], "").await;
            assert!(reply.is(401).has("www-authenticate: bearer realm=\"askbridge\""), "{reply:?}");
            assert!(!reply.body.contains("Which") && !reply.body.contains(token.as_str()), "{reply:?}");
        }
    }
    let unfilled = basic(&format!("opencode:{token}"));
    assert!(unfilled.ends_with('='), "there is something to leave out: {unfilled}");
    for right in [
        bridge.http.bearer(),
        unfilled.trim_end_matches('=').to_owned(),
        basic(&format!("opencode:{token}")),
        format!("authorization: bearer {token}"),
    ] {
        bridge.http.send_only("GET", "/v1/questions", &[&host, &right], "").await.is(200);
    }
    for (method, path) in PUBLIC {
        let reply = bridge.http.send_only(method, path, &[&host], "").await;
        assert_eq!(reply.status, 200, "{path}: {reply:?}");
        assert!(!reply.body.contains("Which") && !reply.body.contains(token.as_str()), "{reply:?}");
        let long = [host.as_str(), "Transfer-Encoding: chunked"];
        bridge.http.send_only(method, path, &long, "").await.is(413);
    }
    // Only these methods of these paths are public.
    bridge.http.send_only("POST", "/", &[&host], "").await.is(405);
    bridge.http.send_only("GET", "/v1/openapi.json/x", &[&host], "").await.is(401);
    bridge.http.send_only("GET", "//", &[&host], "").await.is(401);
    assert!(bridge.agent.lock().unwrap().is_empty());
}

/// What a browser sends to show a page.
const HTML: &str = "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

#[tokio::test]
async fn browser_without_the_token_gets_a_page_that_says_how_to_go_on() {
    let bridge = Bridge::start().await;
    bridge.ask(choice("q")).await;
    let host = format!("Host: {}", bridge.http.address);
    for path in ["/v1/questions", "/favicon.ico"] {
        let reply = bridge.http.send_only("GET", path, &[&host, HTML], "").await;
        assert_eq!(reply.status, 401, "{path}: {reply:?}");
        for header in [
            "content-type: text/html; charset=utf-8",
            "cache-control: no-store",
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "www-authenticate: bearer realm=\"askbridge\"",
        ] {
            assert!(reply.has(header), "no {header} in {reply:?}");
        }
        let policy = reply.headers.lines().find_map(|line| line.strip_prefix("content-security-policy: "));
        let (_, nonce) = policy.and_then(|policy| policy.split_once("'nonce-")).expect("a nonce");
        let nonce = nonce.split('\'').next().unwrap();
        assert_eq!(
            policy.unwrap(),
            format!(
                "default-src 'none'; style-src 'nonce-{nonce}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
            )
        );
        let token_file = bridge.token_file();
        for text in [
            "needs a token",
            "href=\"/\"",
            "askbridge open",
            token_file.to_str().unwrap(),
            &format!("<style nonce=\"{nonce}\">"),
        ] {
            assert!(reply.body.contains(text), "no {text:?} in {reply:?}");
        }
        for never in [bridge.http.token.as_str(), "Which", "<script", "http://", "https://"] {
            assert!(!reply.body.contains(never), "{never:?} in {reply:?}");
        }
    }
    // A page of another site is refused as before, and with the token a browser gets what any client gets.
    let elsewhere = [host.as_str(), HTML, "Sec-Fetch-Site: cross-site"];
    bridge.http.send_only("GET", "/v1/questions", &elsewhere, "").await.is(403);
    let listed = bridge.http.send("GET", "/v1/questions", &[HTML], "").await;
    assert!(listed.is(200).json()["questions"].is_array());
}

#[tokio::test]
async fn a_program_without_the_token_is_told_where_the_token_is() {
    let bridge = Bridge::start().await;
    let host = format!("Host: {}", bridge.http.address);
    let problem = bridge.http.send_only("GET", "/v1/questions", &[&host], "").await.is(401).json();
    let told = problem["detail"].as_str().unwrap();
    assert!(told.contains(bridge.token_file().to_str().unwrap()) && told.contains("Bearer TOKEN"), "{told}");
    bridge.http.send_only("POST", "/rpc", &[&host, HTML], "").await.is(401);
}

/// By DNS rebinding, a page makes its own name lead to this machine.
#[tokio::test]
async fn other_host_names_are_refused() {
    let bridge = Bridge::start_with(&["box.local"]).await;
    let (bearer, port) = (bridge.http.bearer(), bridge.http.address.port());
    for (method, path) in PATHS.iter().chain(&PUBLIC) {
        for host in [
            "evil.example",
            "localhost.evil.example",
            "10.0.0.1",
            "box.local.evil.example",
            "",
            "a b",
            "user@localhost",
            "localhost@evil.example",
            "localhost..",
            "localhost:abc",
        ] {
            let host = format!("Host: {host}:{port}");
            bridge.http.send_only(method, path, &[&host, &bearer], "").await.is(403);
        }
        bridge.http.send_only(method, path, &[&bearer], "").await.is(403);
        bridge
            .http
            .send_only(method, path, &["Host: localhost", "Host: evil.example", &bearer], "")
            .await
            .is(403);
        let absolute = format!("http://evil.example{path}");
        bridge.http.send_only(method, &absolute, &["Host: localhost", &bearer], "").await.is(403);
    }
    for host in [
        "user@localhost",
        "localhost:abc",
        "localhost:99999",
        "localhost:+80",
        "localhost:-1",
        "[::1]:x",
        "[127.0.0.1]",
        "::1",
    ] {
        let host = format!("Host: {host}");
        bridge.http.send_only("GET", "/v1/questions", &[&host, &bearer], "").await.is(403);
    }
    for host in [
        "localhost",
        "localhost.",
        "LOCALHOST:1",
        "localhost:",
        "[::1]:",
        "127.0.0.1",
        "127.9.9.9:80",
        "[::1]:8421",
        "box.local",
        "Box.local.:80",
    ] {
        let host = format!("Host: {host}");
        bridge.http.send_only("GET", "/v1/questions", &[&host, &bearer], "").await.is(200);
    }
}

/// A page of another site posts here, with the headers that a browser adds.
#[tokio::test]
async fn pages_of_other_sites_are_refused() {
    let bridge = Bridge::start().await;
    bridge.ask(choice("q")).await;
    let port = bridge.http.address.port();
    let elsewhere = [
        "Origin: https://evil.example".to_owned(),
        "Origin: null".to_owned(),
        "Origin:".to_owned(),
        // Another program of this machine.
        "Origin: http://127.0.0.1:3000".to_owned(),
        format!("Origin: http://localhost:{port}"),
        format!("Origin: http://127.0.0.1:{port}.evil.example"),
        format!("Origin: http://evil.example@127.0.0.1:{port}"),
        "Sec-Fetch-Site: cross-site".to_owned(),
        "Sec-Fetch-Site: same-site".to_owned(),
    ];
    for (method, path) in PATHS.iter().chain(&PUBLIC).chain(&[("OPTIONS", "/v1/questions")]) {
        for header in &elsewhere {
            bridge.http.send(method, path, &[header], "").await.is(403);
        }
    }
    assert!(bridge.agent.lock().unwrap().is_empty());
    let own = format!("Origin: http://{}", bridge.http.address);
    for site in ["same-origin", "none"] {
        let site = format!("Sec-Fetch-Site: {site}");
        bridge.http.send("GET", "/v1/questions", &[&own, &site], "").await.is(200);
    }
}

/// A page of another site opens a WebSocket: browsers make no preflight request for that.
#[tokio::test]
async fn websockets_of_other_sites_are_refused() {
    let bridge = Bridge::start().await;
    let (host, bearer) = (format!("Host: {}", bridge.http.address), bridge.http.bearer());
    let open = async |headers: &[&str]| bridge.http.open_websocket(headers).await;
    assert_eq!(open(&[&host, &bearer]).await, 101);
    assert_eq!(open(&[&host, &bearer, "Origin: https://evil.example"]).await, 403);
    assert_eq!(open(&[&host, &bearer, "Sec-Fetch-Site: cross-site"]).await, 403);
    assert_eq!(open(&["Host: evil.example", &bearer]).await, 403);
    assert_eq!(open(&[&host]).await, 401);
}

#[tokio::test]
async fn the_token_file_is_created_once_and_private() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    let args = HttpSettings { token_file: Some(path.clone()), ..HttpSettings::default() };
    let bind = || Server::bind("127.0.0.1:0".parse().unwrap(), &args);
    let server = bind().await.unwrap();
    let token = fs::read_to_string(&path).unwrap();
    assert_eq!((token.len(), fs::metadata(&path).unwrap().permissions().mode() & 0o777), (65, 0o600));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "no draft is left");
    assert!(!format!("{server:?}{}", server.announcement()).contains(token.trim_end()));
    bind().await.unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), token);

    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let error = bind().await.unwrap_err().to_string();
    assert!(error.contains("can be read by others"), "{error}");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    for broken in ["", "short", &"x".repeat(64), &token.repeat(9)] {
        fs::write(&path, broken).unwrap();
        let error = bind().await.unwrap_err().to_string();
        assert!(error.contains("contains no token"), "{error}");
    }
    let args = HttpSettings { token_file: Some(folder.path().to_owned()), ..HttpSettings::default() };
    let error = Server::bind("127.0.0.1:0".parse().unwrap(), &args).await.unwrap_err().to_string();
    assert!(error.contains("is no regular file"), "{error}");
}

#[tokio::test]
async fn the_announcement_warns_of_an_address_that_others_can_reach() {
    let folder = tempfile::tempdir().unwrap();
    let args = HttpSettings { token_file: Some(folder.path().join("token")), ..HttpSettings::default() };
    let bind =
        async |address: &str| Server::bind(address.parse().unwrap(), &args).await.unwrap().announcement();
    assert!(!bind("127.0.0.1:0").await.contains("other machines"));
    assert!(bind("0.0.0.0:0").await.contains("Nothing is encrypted"));
}

/// Opens a connection on which nothing is sent.
async fn idle(bridge: &Bridge) -> TcpStream {
    TcpStream::connect(bridge.http.address).await.unwrap()
}

/// Sends a request with the token, and keeps the connection. Returns the status.
async fn known(bridge: &Bridge) -> (TcpStream, u16) {
    let mut stream = idle(bridge).await;
    let request = format!("GET /metrics HTTP/1.1\r\nHost: localhost\r\n{}\r\n\r\n", bridge.http.bearer());
    tokio::io::AsyncWriteExt::write_all(&mut stream, request.as_bytes()).await.unwrap();
    let mut status = [0; 12];
    soon("a status", stream.read_exact(&mut status)).await.unwrap();
    (stream, String::from_utf8_lossy(&status[9..]).parse().unwrap())
}

/// Another user of this machine can connect, and has no token.
#[tokio::test]
async fn connections_without_the_token_leave_room_for_others() {
    let bridge = Bridge::start().await;
    let (_used, status) = known(&bridge).await;
    assert_eq!(status, 200);
    let mut connections = Vec::new();
    for _ in 0..2 * limits::HTTP_CONNECTIONS {
        connections.push(idle(&bridge).await);
        // The server accepts connections in their order.
        if connections.len() % limits::UNKNOWN_CONNECTIONS == 0 {
            bridge.http.get("/v1/questions").await.is(200);
        }
    }
    // The oldest are closed.
    for stream in &mut connections[..limits::HTTP_CONNECTIONS] {
        assert_eq!(soon("its end", stream.read(&mut [0])).await.unwrap_or(0), 0);
    }
}

#[tokio::test]
async fn connections_with_the_token_have_a_limit() {
    let bridge = Bridge::start().await;
    let mut held = Vec::new();
    for _ in 0..limits::HTTP_CONNECTIONS {
        let (stream, status) = known(&bridge).await;
        assert_eq!(status, 200);
        held.push(stream);
    }
    let refused = bridge.http.get("/v1/questions").await;
    assert_eq!(refused.is(503).json()["name"], "too_many_connections");
    held.pop();
    // The place is free as soon as the server has seen it.
    soon("a place", async { while bridge.http.get("/v1/questions").await.status != 200 {} }).await;
}
