//! The page over HTTP: its documents and files, the sign-in of a browser, and what the cookie and the key open. What the
//! page shows is tested in a browser.

use std::{
    fs,
    io::Read,
    time::{Duration, SystemTime},
};

use askbridge::limits;
use askbridge_web::{Token, page::sign_in};
use flate2::read::GzDecoder;
use futures::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tokio_tungstenite::{
    client_async,
    tungstenite::{self, Message, client::IntoClientRequest},
};

use crate::http::{
    bridge::{Bridge, choice},
    client::{Http, Reply, soon},
};

const JSON: &str = "Content-Type: application/json";

/// What a browser keeps once it is signed in.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SignedIn {
    /// The name and the value.
    pub(crate) cookie: String,
    pub(crate) key: String,
}

fn host(http: &Http) -> String {
    format!("Host: {}", http.address)
}

fn origin(http: &Http) -> String {
    format!("Origin: http://{}", http.address)
}

/// Sends what the page sends to sign in.
pub(crate) async fn login(http: &Http, token: &str) -> Reply {
    let body = json!({ "token": token }).to_string();
    http.send_only("POST", "/login", &[&host(http), &origin(http), JSON], &body).await
}

/// Signs in.
pub(crate) async fn sign_in(http: &Http, token: &str) -> SignedIn {
    let reply = login(http, token).await;
    let key = reply.is(200).json()["key"].as_str().unwrap().to_owned();
    let cookie = reply.headers.lines().find_map(|line| line.strip_prefix("set-cookie: ")).expect("a cookie");
    SignedIn { cookie: cookie.split(';').next().unwrap().to_owned(), key }
}

fn token(bridge: &Bridge) -> Token {
    Token::read_or_make(&bridge.token_file()).unwrap()
}

/// Sends a request without the token, and returns its head in lower case, and its body.
async fn fetch(http: &Http, method: &str, path: &str, headers: &[&str]) -> (String, Vec<u8>) {
    let mut stream = TcpStream::connect(http.address).await.unwrap();
    let headers: String = headers.iter().map(|header| format!("{header}\r\n")).collect();
    let request = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n{}\r\n{headers}\r\n", host(http));
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut reply = Vec::new();
    soon("a response", stream.read_to_end(&mut reply)).await.unwrap();
    let end = reply.windows(4).position(|bytes| bytes == b"\r\n\r\n").expect("a head");
    (String::from_utf8_lossy(&reply[..end]).to_lowercase(), reply[end + 4..].to_owned())
}

#[track_caller]
fn has(head: &str, line: &str) {
    assert!(head.lines().any(|header| header == line), "no {line:?} in {head}");
}

fn header<'a>(head: &'a str, name: &str) -> &'a str {
    head.lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
        .unwrap_or_else(|| panic!("{name}: {head}"))
}

/// Returns the addresses that a document links to.
fn links(document: &str) -> Vec<String> {
    let parts = document.split("href=\"").flat_map(|part| part.split("src=\"")).skip(1);
    let links = parts.filter_map(|part| part.split('"').next());
    links.filter(|link| link.starts_with("/page/")).map(str::to_owned).collect()
}

#[tokio::test]
async fn documents_are_confined_and_no_page_may_frame_them() {
    let bridge = Bridge::start().await;
    bridge.ask(choice("q")).await;
    for path in ["/", "/elements"] {
        let (head, body) = fetch(&bridge.http, "GET", path, &[]).await;
        for line in [
            "http/1.1 200 ok",
            "content-type: text/html; charset=utf-8",
            "cache-control: no-cache",
            "referrer-policy: no-referrer",
            "x-content-type-options: nosniff",
            "cross-origin-opener-policy: same-origin",
            "cross-origin-resource-policy: same-origin",
            "x-frame-options: deny",
        ] {
            has(&head, line);
        }
        assert!(header(&head, "permissions-policy").contains("camera=()"));
        // Where the person opens it there is no opener, and a browser that need not look for one paints sooner.
        has(&head, "vary: sec-fetch-site");
        for (site, has_opener) in [("same-origin", true), ("none", false)] {
            let (head, _) = fetch(&bridge.http, "GET", path, &[&format!("Sec-Fetch-Site: {site}")]).await;
            assert_eq!(
                head.contains("cross-origin-opener-policy: same-origin"),
                has_opener,
                "{site}: {head}"
            );
        }
        assert!(!head.contains("access-control-allow-origin"), "{head}");
        let policy = format!(
            "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
             connect-src 'self' ws://{}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
             frame-src 'none'; require-trusted-types-for 'script'; trusted-types askbridge-preview",
            bridge.http.address
        );
        assert_eq!(header(&head, "content-security-policy"), policy);
        let body = String::from_utf8(body).unwrap();
        for never in [bridge.http.token.as_str(), "Which", " style=", " onclick="] {
            assert!(!body.contains(never), "{never:?} in {body}");
        }
        // A text may show an address, a tag may not name one of elsewhere.
        for tag in body.split('<').filter_map(|tag| tag.split('>').next()) {
            assert!(!tag.contains("=\"http") && !tag.contains("=\"//"), "{tag}");
        }
        assert!(!body.replace("<script type=\"module\" src=", "").contains("<script"), "{body}");
    }
}

#[tokio::test]
async fn files_are_kept_for_ever_by_the_hash_of_all_of_them() {
    let bridge = Bridge::start().await;
    let (_, body) = fetch(&bridge.http, "GET", "/", &[]).await;
    let links = links(&String::from_utf8(body).unwrap());
    assert!(links.iter().any(|link| link.ends_with("/tokens.css")), "{links:?}");
    let folder = links[0].rsplit_once('/').unwrap().0;
    for link in &links {
        assert!(link.starts_with(folder), "{link} is not in {folder}");
        let (head, body) = fetch(&bridge.http, "GET", link, &[]).await;
        has(&head, "http/1.1 200 ok");
        has(&head, "cache-control: public, max-age=31536000, immutable");
        let name = link.rsplit('/').next().unwrap();
        let (head, same) = fetch(&bridge.http, "GET", &format!("/page/{name}"), &[]).await;
        has(&head, "cache-control: no-cache");
        assert_eq!(body, same);
    }
    let hash = folder.rsplit('/').next().unwrap();
    let other = format!("{}{}", if hash.starts_with('0') { '1' } else { '0' }, &hash[1..]);
    for missing in [
        format!("/page/{other}/dom.js"),
        format!("/page/{hash}/index.html"),
        format!("/page/{hash}/none.js"),
        "/page/index.html".to_owned(),
        "/page/elements.html".to_owned(),
        "/page/".to_owned(),
        "/page/..%2fmod.rs".to_owned(),
        "/page/%2e%2e%2ffiles.rs".to_owned(),
        "/page/../files.rs".to_owned(),
        "/page/a/b/dom.js".to_owned(),
    ] {
        let (head, _) = fetch(&bridge.http, "GET", &missing, &[]).await;
        has(&head, "http/1.1 404 not found");
        has(&head, "cache-control: no-store");
    }
}

#[tokio::test]
async fn known_content_is_not_sent_again() {
    let bridge = Bridge::start().await;
    for path in ["/", "/page/dom.js"] {
        let (head, body) = fetch(&bridge.http, "GET", path, &[]).await;
        assert!(!body.is_empty());
        let tag = header(&head, "etag");
        for known in [tag.to_owned(), format!("\"x\", W/{tag}"), "*".to_owned()] {
            let (again, body) = fetch(&bridge.http, "GET", path, &[&format!("If-None-Match: {known}")]).await;
            has(&again, "http/1.1 304 not modified");
            assert_eq!((header(&again, "etag"), body.len()), (tag, 0));
            // What a cache holds is replaced by the headers of this response.
            assert_eq!(header(&again, "cache-control"), header(&head, "cache-control"));
        }
        let (changed, _) = fetch(&bridge.http, "GET", path, &["If-None-Match: \"x\""]).await;
        has(&changed, "http/1.1 200 ok");
        let (without_body, nothing) = fetch(&bridge.http, "HEAD", path, &[]).await;
        assert_eq!((header(&without_body, "etag"), nothing.len()), (tag, 0));
        assert_eq!(header(&without_body, "content-length"), body.len().to_string());
    }
}

#[tokio::test]
async fn files_are_compressed_for_browsers_that_accept_it() {
    let bridge = Bridge::start().await;
    let (head, plain) =
        fetch(&bridge.http, "GET", "/page/words.js", &["Accept-Encoding: br, gzip;q=0"]).await;
    assert!(!head.contains("content-encoding"), "{head}");
    let (compressed_head, compressed) =
        fetch(&bridge.http, "GET", "/page/words.js", &["Accept-Encoding: gzip, deflate, br"]).await;
    has(&compressed_head, "content-encoding: gzip");
    has(&compressed_head, "vary: accept-encoding");
    assert_ne!(header(&head, "etag"), header(&compressed_head, "etag"));
    let mut read = Vec::new();
    GzDecoder::new(&*compressed).read_to_end(&mut read).unwrap();
    assert_eq!(read, plain);
    assert!(compressed.len() < plain.len());
}

/// A page of another site may use the elements, and nothing else.
#[tokio::test]
async fn other_sites_load_the_files_and_nothing_else() {
    let bridge = Bridge::start().await;
    for elsewhere in [
        &["Origin: https://elsewhere.example", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: cors"][..],
        &["Origin: null"],
        &["Sec-Fetch-Site: same-site"],
    ] {
        for method in ["GET", "HEAD"] {
            let (head, _) = fetch(&bridge.http, method, "/page/dom.js", elsewhere).await;
            has(&head, "http/1.1 200 ok");
            has(&head, "access-control-allow-origin: *");
            has(&head, "cross-origin-resource-policy: cross-origin");
            assert!(!head.contains("access-control-allow-credentials"), "{head}");
        }
        for (method, path) in [
            ("GET", "/"),
            ("GET", "/elements"),
            ("GET", "/login"),
            ("POST", "/login"),
            ("POST", "/page/dom.js"),
        ] {
            let (head, _) = fetch(&bridge.http, method, path, elsewhere).await;
            has(&head, "http/1.1 403 forbidden");
        }
    }
    let other_host = bridge.http.send_only("GET", "/page/dom.js", &["Host: evil.example"], "").await;
    assert_eq!(other_host.status, 403);
    bridge.http.send_only("POST", "/page/dom.js", &[&host(&bridge.http)], "").await.is(401);
}

#[tokio::test]
async fn browser_signs_in_by_the_token() {
    let bridge = Bridge::start().await;
    let reply = login(&bridge.http, &bridge.http.token).await;
    reply.is(200);
    let cookie = reply.headers.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    let name = format!("askbridge-{}=", bridge.http.address.port());
    assert!(cookie.starts_with(&name), "{cookie}");
    assert!(cookie.ends_with("; httponly; samesite=strict; path=/; max-age=31536000"), "{cookie}");
    let SignedIn { cookie, key } = sign_in(&bridge.http, &bridge.http.token).await;
    assert_eq!(key.len(), 64);
    assert!(!cookie.contains(&key) && !cookie.contains(&bridge.http.token) && key != bridge.http.token);
    let (cookie, key) = (format!("Cookie: a=b; {cookie}"), format!("Askbridge-Key: {key}"));
    let check = async |headers: &[&str]| {
        let host = host(&bridge.http);
        bridge.http.send_only("GET", "/login", &[&[host.as_str()], headers].concat(), "").await.status
    };
    assert_eq!(check(&[&cookie, &key]).await, 204);
    let (no_cookie, no_key) = (cookie.replace('=', "=0"), format!("{key}0"));
    let bearer = bridge.http.bearer();
    for wrong in [
        &[cookie.as_str()][..],
        &[&key],
        &[&no_cookie, &key],
        &[&cookie, &no_key],
        &[&bearer],
        &[],
        &[&key, &bearer],
    ] {
        assert_eq!(check(wrong).await, 401, "{wrong:?}");
    }
    // Behind a proxy with TLS, on a port that the browser does not name.
    let body = json!({ "token": bridge.http.token }).to_string();
    let headers = ["Host: localhost", "Origin: https://localhost", JSON];
    let reply = bridge.http.send_only("POST", "/login", &headers, &body).await;
    let cookie = reply.headers.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap();
    assert!(cookie.starts_with("askbridge=") && cookie.ends_with("; secure"), "{cookie}");
}

#[tokio::test]
async fn code_signs_one_browser_in_once() {
    let bridge = Bridge::start().await;
    let (token, port, now) = (token(&bridge), bridge.http.address.port(), SystemTime::now());
    let code = sign_in::make(&token, port, now).unwrap();
    let by_code = sign_in(&bridge.http, &code).await;
    assert_eq!(by_code, sign_in(&bridge.http, &bridge.http.token).await);
    let name = async |shown: &str| {
        let reply = login(&bridge.http, shown).await;
        assert!(!reply.headers.contains("set-cookie"), "{reply:?}");
        reply.is(401).json()["name"].clone()
    };
    assert_eq!(name(&code).await, "code_used");
    let old = sign_in::make(&token, port, now - limits::CODE - Duration::from_secs(1)).unwrap();
    assert_eq!(name(&old).await, "code_expired");
    let before_the_start = sign_in::make(&token, port, now - Duration::from_secs(60)).unwrap();
    assert_eq!(name(&before_the_start).await, "code_expired");
    let other_server = sign_in::make(&token, port ^ 1, now).unwrap();
    let forged = format!("{}{}", &code[..code.len() - 1], if code.ends_with('0') { '1' } else { '0' });
    for wrong in [&*other_server, &forged[..], "", "..", &bridge.http.token[1..]] {
        assert_eq!(name(wrong).await, "wrong_token", "{wrong}");
    }
    sign_in(&bridge.http, &sign_in::make(&token, port, now).unwrap()).await;
}

#[tokio::test]
async fn sign_in_takes_json_from_this_origin_alone() {
    let bridge = Bridge::start().await;
    let (host, own) = (host(&bridge.http), origin(&bridge.http));
    let body = json!({ "token": bridge.http.token }).to_string();
    let post = async |headers: &[&str], body: &str| {
        let reply = bridge.http.send_only("POST", "/login", headers, body).await;
        assert!(reply.status == 200 || !reply.headers.contains("set-cookie"), "{reply:?}");
        reply.status
    };
    assert_eq!(post(&[&host, JSON, &own], &body).await, 200);
    // What a form can send.
    for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
        assert_eq!(post(&[&host, &own, &format!("Content-Type: {kind}")], &body).await, 415, "{kind}");
    }
    for elsewhere in ["Origin: https://evil.example", "Origin: null", "Sec-Fetch-Site: cross-site"] {
        assert_eq!(post(&[&host, JSON, elsewhere], &body).await, 403, "{elsewhere}");
    }
    assert_eq!(post(&["Host: evil.example", JSON], &body).await, 403);
    assert_eq!(post(&[&host, JSON, &own], "{}").await, 400);
    assert_eq!(post(&[&host, JSON, &own], "[\"token\"]").await, 400);
    let long = format!("{body}{}", " ".repeat(limits::PUBLIC_BODY as usize));
    assert_eq!(post(&[&host, JSON, &own], &long).await, 413);
    assert_eq!(post(&[&host, JSON, &own, "Transfer-Encoding: chunked"], "").await, 413);
}

/// Returns the response to a request for a WebSocket with these headers: the subprotocol that was selected, or the status.
async fn websocket(
    http: &Http,
    headers: &[(&str, String)],
) -> Result<(tokio_tungstenite::WebSocketStream<TcpStream>, Option<String>), u16> {
    let mut request = format!("ws://{}/rpc", http.address).into_client_request().unwrap();
    for (name, value) in headers {
        request
            .headers_mut()
            .insert(tungstenite::http::HeaderName::try_from(*name).unwrap(), value.parse().unwrap());
    }
    let stream = TcpStream::connect(http.address).await.unwrap();
    match soon("a WebSocket", client_async(request, stream)).await {
        Ok((stream, response)) => {
            let selected = response.headers().get("sec-websocket-protocol");
            Ok((stream, selected.map(|selected| selected.to_str().unwrap().to_owned())))
        }
        Err(tungstenite::Error::Http(response)) => Err(response.status().as_u16()),
        Err(error) => panic!("{error}"),
    }
}

#[tokio::test]
async fn page_answers_over_its_websocket_as_the_page() {
    let mut bridge = Bridge::start().await;
    let number = bridge.ask(choice("q")).await;
    let SignedIn { cookie, key } = sign_in(&bridge.http, &bridge.http.token).await;
    let headers = [
        ("cookie", cookie),
        ("origin", format!("http://{}", bridge.http.address)),
        ("sec-websocket-protocol", format!("askbridge, key.{key}")),
    ];
    let (mut socket, selected) = websocket(&bridge.http, &headers).await.unwrap();
    assert_eq!(selected.as_deref(), Some("askbridge"), "the key is not sent back");
    let params = json!({
        "id": format!("bridge-{number}"), "answer": { "values": { "q0": "a" } },
        "by": { "responder": "command_line", "name": "Firefox" },
    });
    let call =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "question_answer", "params": params }).to_string();
    soon("a call", socket.send(Message::text(call))).await.unwrap();
    let reply = soon("a reply", socket.next()).await.unwrap().unwrap();
    let reply: Value = serde_json::from_str(reply.to_text().unwrap()).unwrap();
    let by = json!({ "responder": "page", "name": "Firefox" });
    assert_eq!(reply["result"]["settlement"]["by"], by, "{reply}");
    assert!(bridge.heard.try_recv().is_ok());
}

#[tokio::test]
async fn websocket_of_the_page_needs_cookie_and_key_and_origin() {
    let bridge = Bridge::start().await;
    let signed_in = sign_in(&bridge.http, &bridge.http.token).await;
    let cookie = || ("cookie", signed_in.cookie.clone());
    let key = |key: &str| ("sec-websocket-protocol", format!("askbridge, key.{key}"));
    let own = || ("origin", format!("http://{}", bridge.http.address));
    let right = key(&signed_in.key);
    websocket(&bridge.http, &[cookie(), right.clone(), own()]).await.unwrap();
    let other_port = ("cookie", cookie().1.replacen("askbridge-", "askbridge-1", 1));
    let wrong_cookie = ("cookie", format!("{}0", cookie().1));
    for (headers, status) in [
        (vec![cookie(), own()], 401),
        (vec![cookie(), own(), ("sec-websocket-protocol", "askbridge".to_owned())], 401),
        (vec![cookie(), own(), key("")], 401),
        (vec![cookie(), own(), key(&"0".repeat(64))], 401),
        (vec![right.clone(), own()], 401),
        (vec![right.clone(), own(), other_port], 401),
        (vec![right.clone(), own(), wrong_cookie], 401),
        (vec![cookie(), right.clone()], 401),
        (vec![cookie(), right.clone(), ("origin", "https://evil.example".to_owned())], 403),
        (vec![cookie(), right.clone(), ("origin", "null".to_owned())], 403),
        (vec![cookie(), right.clone(), ("host", "evil.example".to_owned()), own()], 403),
    ] {
        assert_eq!(websocket(&bridge.http, &headers).await.map(drop), Err(status), "{headers:?}");
    }
}

/// Another server on this machine sees the cookie, since browsers do not separate cookies by port.
#[tokio::test]
async fn cookie_and_key_open_nothing_but_the_websocket() {
    let bridge = Bridge::start().await;
    bridge.ask(choice("q")).await;
    let SignedIn { cookie, key } = sign_in(&bridge.http, &bridge.http.token).await;
    let shown = [
        host(&bridge.http),
        origin(&bridge.http),
        format!("Cookie: {cookie}"),
        format!("Askbridge-Key: {key}"),
        format!("Sec-WebSocket-Protocol: askbridge, key.{key}"),
        "Sec-Fetch-Site: same-origin".to_owned(),
        JSON.to_owned(),
    ];
    let shown: Vec<_> = shown.iter().map(String::as_str).collect();
    for (method, path) in [
        ("GET", "/v1/questions"),
        ("GET", "/v1/events"),
        ("GET", "/event"),
        ("GET", "/metrics"),
        ("GET", "/rpc"),
        ("POST", "/rpc"),
        ("POST", "/v1/questions/bridge-1/reply"),
    ] {
        bridge.http.send_only(method, path, &shown, "").await.is(401);
    }
    let upgrade = ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"];
    bridge.http.send_only("GET", "/v1/events", &[&shown[..], &upgrade].concat(), "").await.is(401);
    for value in [&cookie[cookie.find('=').unwrap() + 1..], &key] {
        let bearer = format!("Authorization: Bearer {value}");
        bridge.http.send_only("GET", "/v1/questions", &[shown[0], &bearer], "").await.is(401);
        login(&bridge.http, value).await.is(401);
    }
    assert!(bridge.agent.lock().unwrap().is_empty());
}

#[tokio::test]
async fn sign_in_ends_with_the_token_and_not_before() {
    let (first, second) = (Bridge::start().await, Bridge::start().await);
    let before = sign_in(&first.http, &first.http.token).await;
    let value = |signed_in: &SignedIn| signed_in.cookie.split_once('=').unwrap().1.to_owned();
    let other = sign_in(&second.http, &second.http.token).await;
    assert!(value(&before) != value(&other) && before.key != other.key, "another token, another cookie");
    let check = async |http: &Http, signed_in: &SignedIn| {
        let cookie = format!("Cookie: askbridge-{}={}", http.address.port(), value(signed_in));
        let key = format!("Askbridge-Key: {}", signed_in.key);
        http.send_only("GET", "/login", &[&host(http), &cookie, &key], "").await.status
    };
    assert_eq!(check(&second.http, &other).await, 204);
    assert_eq!(check(&second.http, &before).await, 401);
    // A server that starts later with the token of the first.
    let later = Bridge::start_with_token(&fs::read_to_string(first.token_file()).unwrap()).await;
    assert_eq!(check(&later.http, &before).await, 204);
}
