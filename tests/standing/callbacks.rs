//! Callbacks: what is sent where, how it is signed, and that it arrives though a server fails, or the inbox is killed.

use std::collections::BTreeMap;

use base64::{Engine, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::http::client::{Http, Reply};
use crate::notify::server::{Manner, Request, Server};
use crate::standing::home::{Home, Inbox, ask, ask_under, id, left, question, reply, with};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// Returns settings that permit callbacks to these servers.
fn settings(servers: &[&Server]) -> String {
    let hosts: Vec<_> = servers.iter().map(|server| server.url.trim_start_matches("http://")).collect();
    format!("[callbacks]\nhosts = {hosts:?}\nsecret = \"{SECRET}\"\n")
}

/// Returns a question whose outcome is sent to this server.
fn calling(text: &str, server: &Server) -> Value {
    with(left(question(text)), &json!({ "callback": format!("{}/hook?secret=1", server.url) }))
}

async fn asked(http: &Http, question: &Value) -> String {
    id(&ask(http, &[], question).await.expect("a response").is(201).json())
}

async fn answered(http: &Http, id: &str) {
    reply(http, id, "because").await.expect("a response").is(204);
}

/// Returns the value of a header.
#[track_caller]
fn header(request: &Request, name: &str) -> String {
    let value = request.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    value.unwrap_or_else(|| panic!("no {name}: {request:?}")).to_owned()
}

/// Returns what the callback of a question was sent with for the `count`th time. Checks that it is signed.
#[track_caller]
fn sent(server: &Server, id: &str, count: usize) -> Value {
    let is_of = |request: &Request| request.head.contains(&format!("webhook-id: {id}\r\n"));
    let request = server.request("the callback", count, is_of);
    assert_eq!(request.path, "/hook?secret=1");
    assert_eq!(header(&request, "content-type"), "application/json");
    let secret = STANDARD.decode(SECRET.trim_start_matches("whsec_")).expect("Base64");
    let signed = format!("{id}.{}.{}", header(&request, "webhook-timestamp"), request.body);
    let mac = Hmac::<Sha256>::new_from_slice(&secret).expect("a key").chain_update(signed).finalize();
    // The head is in lower case.
    let signature = format!("v1,{}", STANDARD.encode(mac.into_bytes())).to_lowercase();
    assert_eq!(header(&request, "webhook-signature"), signature);
    serde_json::from_str(&request.body).expect("JSON")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_outcome_is_sent_as_its_event_is() {
    let server = Server::start(Manner::Ntfy);
    let home = Home::with(&settings(&[&server]));
    let inbox = home.start();
    let http = &inbox.http;
    let mut listener = http.listen("/v1/events", &[]).await;
    let answered_id = asked(http, &calling("Deploy?", &server)).await;
    let timed = with(calling("Delete?", &server), &json!({ "timeoutMs": 50 }));
    let timed_id = asked(http, &timed).await;
    let silent = asked(http, &left(question("Why?"))).await;
    answered(http, &silent).await;
    answered(http, &answered_id).await;
    let mut resolved = BTreeMap::new();
    while resolved.len() < 3 {
        let event = listener.next().await;
        if event.event == "question.resolved" {
            resolved.insert(id(&event.data["question"]), event.data);
        }
    }
    for id in [&answered_id, &timed_id] {
        assert_eq!(sent(&server, id, 1), resolved[id]);
    }
    assert_eq!(server.requests(|_| true), 2);
}

/// How a callback is refused, and where.
#[track_caller]
fn is_refused(told: &Reply, part: &str) {
    let problem = told.is(422).json();
    assert_eq!(problem["name"], "bad_callback", "{problem}");
    assert_eq!(problem["errors"][0]["field"], "callback", "{problem}");
    let why = problem["errors"][0]["message"].as_str().expect("a text");
    assert!(why.contains(part), "{part}: {problem}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn outcomes_go_only_where_the_settings_say() {
    let server = Server::start(Manner::Ntfy);
    let home = Home::with(&settings(&[&server]));
    let inbox = home.start();
    let http = &inbox.http;
    let port = server.url.rsplit(':').next().expect("a port");
    let to = |url: &str| with(left(question("Deploy?")), &json!({ "callback": url }));
    for (url, part) in [
        ("https://hooks.example/path", "the host hooks.example is not among `callbacks.hosts`"),
        ("http://127.0.0.1:1/", "the host 127.0.0.1:1 is not among"),
        ("http://127.0.0.1/", "the host 127.0.0.1 is not among"),
        (&format!("http://localhost:{port}/"), "the host localhost:"),
        (&format!("http://127.0.0.1:{port}@evil.example/"), "has a user"),
        (&format!("http://evil.example/?http://127.0.0.1:{port}/"), "the host evil.example is not among"),
        (&format!("http://127.0.0.1:{port}/#part"), "fragment"),
        ("hooks.example", "neither https:// nor http://"),
        ("file:///etc/passwd", ""),
        ("", "not an address"),
        (&format!("http://127.0.0.1:{port}/{}", "x".repeat(3000)), "longer than"),
    ] {
        is_refused(&ask(http, &[], &to(url)).await.expect("a response"), part);
    }
    let held = with(calling("Deploy?", &server), &json!({ "wait": true }));
    is_refused(&ask(http, &[], &held).await.expect("a response"), "only a question that is kept");
    home.set("[callbacks]\nhosts = [\"hooks.example\"]\n");
    is_refused(&ask(http, &[], &to("https://hooks.example/")).await.expect("a response"), "callbacks.secret");
    home.set(&settings(&[&server]));

    // The callback is a part of what is asked.
    let asks = calling("Deploy?", &server);
    let first = ask_under(http, "k", &asks).await.expect("a response").is(201).json();
    assert_eq!(id(&ask_under(http, "k", &asks).await.expect("a response").is(200).json()), id(&first));
    let without = ask_under(http, "k", &left(question("Deploy?"))).await.expect("a response");
    assert_eq!(without.is(409).json()["name"], "key_used");
    // What is permitted is looked at again when it is sent.
    home.set("");
    answered(http, &id(&first)).await;
    inbox.process.expect_stderr("the refusal", |text| text.contains("is not among `callbacks.hosts`"));
    assert_eq!(server.requests(|_| true), 0);
    home.set(&settings(&[&server]));
    assert_eq!(sent(&server, &id(&first), 1)["status"], "answered");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_fails_is_called_again_until_it_takes_the_outcome() {
    let server = Server::start(Manner::FailsFirst(2));
    let home = Home::with(&settings(&[&server]));
    let inbox = home.start();
    let failing = asked(&inbox.http, &calling("Deploy?", &server)).await;
    answered(&inbox.http, &failing).await;
    let bodies = [1, 2, 3].map(|count| sent(&server, &failing, count));
    assert!(bodies.iter().all(|body| *body == bodies[0] && body["status"] == "answered"));
    let said = inbox.process.expect_stderr("the failure", |text| text.contains("the server replied 500"));
    assert!(!said.contains("secret=1"), "{said}");
    // It has arrived, for every later process as well. What is asked later is sent after it.
    for text in ["Why?", "Why not?"] {
        let later = asked(&inbox.http, &calling(text, &server)).await;
        answered(&inbox.http, &later).await;
        sent(&server, &later, 1);
    }
    let later = asked(&inbox.http, &calling("Who?", &server)).await;
    inbox.kill();
    let inbox = home.start();
    answered(&inbox.http, &later).await;
    sent(&server, &later, 1);
    let again = |request: &Request| request.head.contains(&format!("webhook-id: {failing}\r\n"));
    assert_eq!(server.requests(again), 3);
}

fn restarted(home: &Home, inbox: Inbox) -> Inbox {
    inbox.kill();
    home.start()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_outcome_arrives_though_the_inbox_is_killed() {
    let server = Server::start(Manner::FailsFirst(1));
    let home = Home::with(&settings(&[&server]));
    let mut inbox = home.start();
    let first = asked(&inbox.http, &calling("Deploy?", &server)).await;
    let timed = with(calling("Delete?", &server), &json!({ "timeoutMs": 200 }));
    // Before the answer.
    inbox = restarted(&home, inbox);
    answered(&inbox.http, &first).await;
    let body = sent(&server, &first, 1);
    // After an attempt in vain.
    inbox = restarted(&home, inbox);
    assert_eq!(sent(&server, &first, 2), body);
    // At a random moment around the answer, and while no inbox runs.
    for round in 0..10 {
        let id = asked(&inbox.http, &calling(&format!("Round {round}?"), &server)).await;
        answered(&inbox.http, &id).await;
        inbox = restarted(&home, inbox);
        assert_eq!(sent(&server, &id, 1)["question"]["id"], *id);
    }
    let last = asked(&inbox.http, &timed).await;
    let _inbox = restarted(&home, inbox);
    assert_eq!(sent(&server, &last, 1)["status"], "rejected");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_hangs_delays_no_other() {
    let (slow, fast) = (Server::start(Manner::Hangs), Server::start(Manner::Ntfy));
    let home = Home::with(&settings(&[&slow, &fast]));
    let inbox = home.start();
    for round in 0..8 {
        let id = asked(&inbox.http, &calling(&format!("Round {round}?"), &slow)).await;
        answered(&inbox.http, &id).await;
    }
    slow.request("some callbacks", 4, |_| true);
    let id = asked(&inbox.http, &calling("Deploy?", &fast)).await;
    answered(&inbox.http, &id).await;
    sent(&fast, &id, 1);
}
