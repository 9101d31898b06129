//! The ways to ask a question that no connection holds, and what each is told.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::http::client::{Http, Reply};
use crate::standing::home::{
    ASKBRIDGE, Home, ask, ask_under, hold, id, left, open, question, reply, show, wait, with, withdraw,
};

/// What an asker is told.
enum Told {
    /// A new question, by a name for the rows below it.
    New(&'static str),
    /// The question of that name.
    Same(&'static str),
    /// An error: its status, its name, and a part of what it says.
    Error(u16, &'static str, &'static str),
}

use Told::{Error, New, Same};

/// Asks in each way, one after the other, and checks what is told.
async fn check(http: &Http, rows: Vec<(Vec<String>, Value, Told)>) {
    let mut known: BTreeMap<&str, String> = BTreeMap::new();
    for (headers, body, expected) in rows {
        let headers: Vec<_> = headers.iter().map(String::as_str).collect();
        let what = format!("{:.200} {body}", headers.join(", "));
        let told = ask(http, &headers, &body).await.unwrap_or_else(|| panic!("no response: {what}"));
        let said = format!("{what}: {told:?}");
        match expected {
            New(name) => {
                let id = asked(&told, 201, &said);
                assert!(known.values().all(|other| *other != id), "{said}");
                known.insert(name, id);
            }
            Same(name) => assert_eq!(asked(&told, 200, &said), known[name], "{said}"),
            Error(status, name, part) => is_error(&told, status, name, part, &said),
        }
    }
}

/// Checks that a question was asked, and returns its ID.
#[track_caller]
fn asked(told: &Reply, status: u16, said: &str) -> String {
    assert_eq!(told.status, status, "{said}");
    let id = id(&told.json());
    assert!(told.has(&format!("location: /v1/questions/{id}")), "{said}");
    id
}

#[track_caller]
fn is_error(told: &Reply, status: u16, name: &str, part: &str, said: &str) {
    assert_eq!(told.status, status, "{said}");
    let problem = told.is(status).json();
    assert_eq!(problem["name"], name, "{said}");
    assert!(problem["detail"].as_str().is_some_and(|detail| detail.contains(part)), "{said}");
}

fn key(value: &str) -> Vec<String> {
    vec![format!("Idempotency-Key: {value}")]
}

fn prefer(value: &str) -> Vec<String> {
    vec![format!("Prefer: {value}")]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_key_names_one_question() {
    let home = Home::new();
    let inbox = home.start();
    let ask = left(question("Deploy?"));
    let changed = |more: Value| with(ask.clone(), &more);
    let (longest, too_long) = ("k".repeat(255), "k".repeat(256));
    let several = || [key("a"), key("b")].concat();
    let another = || Error(409, "key_used", "take a new key");
    let rows = vec![
        (key("raw"), ask.clone(), New("raw")),
        (key("raw"), ask.clone(), Same("raw")),
        (key("\"raw\""), ask.clone(), Same("raw")),
        (key("\"quoted\""), ask.clone(), New("quoted")),
        (key("quoted"), ask.clone(), Same("quoted")),
        (key("Raw"), ask.clone(), New("another case")),
        (key("\"raw"), ask.clone(), New("one quotation mark")),
        (key(&longest), ask.clone(), New("longest")),
        (key(&format!("\"{longest}\"")), ask.clone(), Same("longest")),
        (key(&too_long), ask.clone(), Error(400, "bad_key", "longer than 255 characters")),
        (key(&format!("\"{too_long}\"")), ask.clone(), Error(400, "bad_key", "longer than 255 characters")),
        (key(""), ask.clone(), Error(400, "bad_key", "empty")),
        (key("\"\""), ask.clone(), Error(400, "bad_key", "empty")),
        (key("schlüssel"), ask.clone(), Error(400, "bad_key", "ASCII")),
        (several(), ask.clone(), Error(400, "bad_key", "several")),
        // Each change of what is asked is another question.
        (key("raw"), changed(json!({ "message": "Delete?" })), another()),
        (key("raw"), changed(json!({ "title": "Deploy" })), another()),
        (key("raw"), changed(json!({ "timeoutMs": 600_000 })), another()),
        (key("raw"), changed(json!({ "sessionId": "s" })), another()),
        (key("raw"), changed(json!({ "dangerous": true })), another()),
        (
            key("raw"),
            changed(json!({ "fields": [{ "name": "b", "label": "Why?", "kind": "text" }] })),
            another(),
        ),
        // What goes without saying may be said, in any order, and how the asker waits is no part of the question.
        (key("raw"), changed(json!({ "dangerous": false, "title": null })), Same("raw")),
        ([key("raw"), prefer("respond-async")].concat(), question("Deploy?"), Same("raw")),
        // A question that is refused uses no key.
        (key("later"), changed(json!({ "fields": [] })), Error(422, "bad_question", "field")),
        (key("later"), changed(json!({ "fields": 1 })), Error(400, "bad_request", "fields")),
        (key("later"), ask.clone(), New("later")),
        (key("raw"), ask.clone(), Same("raw")),
    ];
    check(&inbox.http, rows).await;
    assert_eq!(open(&inbox.http).await.len(), 6);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_asker_that_does_not_wait_needs_no_key() {
    let home = Home::new();
    let inbox = home.start();
    let (ask, waiting) = (left(question("Deploy?")), question("Deploy?"));
    let of = |session: &str, id: &str| json!({ "sessionId": session, "questionId": id });
    let named = |session: &str, id: &str| with(ask.clone(), &of(session, id));
    let changed = with(named("s", "q"), &json!({ "message": "Delete?" }));
    let split = vec!["Prefer: wait=1".to_owned(), "Prefer: respond-async".to_owned()];
    let rows = vec![
        // Without a name, each is a question of its own.
        (vec![], ask.clone(), New("first")),
        (vec![], ask.clone(), New("second")),
        (prefer("respond-async"), waiting.clone(), New("preferred")),
        (prefer("handling=lenient, respond-async ,wait=10"), waiting.clone(), New("among others")),
        (prefer("Respond-Async; foo=\"some-parameter\""), waiting.clone(), New("another case")),
        (split, waiting.clone(), New("in two headers")),
        (vec![], with(ask.clone(), &json!({ "sessionId": "s" })), New("session alone")),
        (vec![], with(ask.clone(), &json!({ "sessionId": "s" })), New("session alone again")),
        // The IDs of the session and of the question are the name.
        (vec![], named("s", "q"), New("q")),
        (vec![], named("s", "q"), Same("q")),
        (prefer("respond-async"), with(waiting.clone(), &of("s", "q")), Same("q")),
        (vec![], named("t", "q"), New("another session")),
        (vec![], named("s", "r"), New("another question")),
        (vec![], changed, Error(409, "key_used", "take a new key")),
        // A key goes before them.
        (key("k"), named("s", "q"), New("keyed")),
        (key("k"), named("s", "q"), Same("keyed")),
        (vec![], named("s", "q"), Same("q")),
        (vec![], with(ask.clone(), &json!({ "fields": [] })), Error(422, "bad_question", "field")),
    ];
    check(&inbox.http, rows).await;
}

/// The journal keeps no secret, so that nobody but a connection can hold such a question.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_secret_is_not_kept() {
    let home = Home::new();
    let inbox = home.start();
    let fields = json!([
        { "name": "user", "label": "Name", "kind": "text" },
        { "name": "password", "label": "Password", "kind": "text", "secret": true },
    ]);
    let secret = with(question("Sign in"), &json!({ "fields": fields }));
    let named = with(left(secret.clone()), &json!({ "sessionId": "s", "questionId": "q" }));
    let refused = || Error(422, "bad_question", "`password` is secret");
    let rows = vec![
        (key("k"), secret.clone(), refused()),
        (key("k"), left(secret.clone()), refused()),
        (vec![], left(secret.clone()), refused()),
        (vec![], named, refused()),
        (prefer("respond-async"), secret.clone(), refused()),
        (key("k"), left(question("Deploy?")), New("the key is free")),
    ];
    check(&inbox.http, rows).await;
    let (id, held) = hold(&inbox.http, &[], &secret).await;
    let answer = json!({ "values": { "user": "me", "password": "hunter2" } }).to_string();
    inbox.http.post(&format!("/v1/questions/{id}/reply"), &answer).await.is(204);
    assert_eq!(held.await.unwrap().expect("a response").is(200).json()["outcome"]["status"], "answered");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_without_measure_harms_nobody() {
    let home = Home::new();
    let inbox = home.start();
    let ask = left(question("Deploy?"));
    let kept = ask_under(&inbox.http, "k", &ask).await.expect("a response");
    for length in [1 << 10, 1 << 14, 1 << 20] {
        let headers = [&format!("Idempotency-Key: {}", "k".repeat(length)), "Content-Type: application/json"];
        // A server that refuses the head of a request may close the connection before it has all of it.
        let told = inbox.http.send("POST", "/v1/questions", &headers, &ask.to_string()).await;
        let expected = if length < 1 << 15 { 400 } else { 431 };
        assert_eq!(told.status, expected, "{length}: {told:?}");
    }
    assert_eq!(open(&inbox.http).await.len(), 1);
    let again = ask_under(&inbox.http, "k", &ask).await.expect("a response");
    assert_eq!(id(&again.is(200).json()), id(&kept.is(201).json()));
}

/// The end of a question, and what is said of it afterwards.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_is_withdrawn_once_and_only_while_it_is_open() {
    let home = Home::new();
    let inbox = home.start();
    let http = &inbox.http;
    let ask_for = async |key: &str| {
        id(&ask_under(http, key, &left(question(key))).await.expect("a response").is(201).json())
    };
    let (withdrawn, answered) = (ask_for("withdrawn").await, ask_for("answered").await);
    for _ in 0..2 {
        withdraw(http, &withdrawn).await.expect("a response").is(204);
    }
    reply(http, &answered, "because").await.expect("a response").is(204);
    let conflict = withdraw(http, &answered).await.expect("a response");
    is_error(&conflict, 409, "conflict", "settled", "an answered question");
    assert_eq!(conflict.json()["outcome"], json!({ "status": "answered", "values": { "a": "because" } }));
    let late = reply(http, &withdrawn, "because").await.expect("a response");
    assert!(matches!(late.status, 409 | 410), "{late:?}");
    let over = wait(http, &withdrawn).await.expect("a response").is(200).json();
    let rejected = json!({ "status": "rejected", "reason": "withdrawn" });
    assert_eq!(over["settlement"]["outcome"], rejected);
    // Asked again, it is the same question, which is over.
    let again = ask_under(http, "withdrawn", &question("withdrawn")).await.expect("a response");
    assert_eq!(again.is(200).json()["outcome"], rejected);
    assert_eq!(open(http).await, Vec::<Value>::new());
    let missing = withdraw(http, &format!("{}0", withdrawn)).await.expect("a response");
    is_error(&missing, 404, "not_found", "", "a question that never was");

    let (id, held) = hold(http, &[], &question("Held?")).await;
    is_error(&withdraw(http, &id).await.expect("a response"), 409, "held", "connection", "a held question");
    reply(http, &id, "because").await.expect("a response").is(204);
    assert_eq!(held.await.unwrap().expect("a response").is(200).json()["outcome"]["values"]["a"], "because");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wait_has_a_bound_that_the_asker_chooses() {
    let home = Home::new();
    let inbox = home.start();
    let asked = ask_under(&inbox.http, "k", &left(question("Deploy?"))).await.expect("a response");
    let path = format!("/v1/questions/{}", id(&asked.is(201).json()));
    for (wait, status) in [
        ("", 200),
        ("?wait=0", 200),
        ("?wait=0s", 200),
        ("?wait=10ms", 200),
        ("?wait=", 400),
        ("?wait=soon", 400),
        ("?wait=-1", 400),
        ("?wait=601", 400),
        ("?wait=11m", 400),
        ("?wait=99999999999999999999s", 400),
        ("?weight=1s", 400),
        ("?wait=1s&wait=2s", 400),
    ] {
        let told = inbox.http.get(&format!("{path}{wait}")).await;
        assert_eq!(told.is(status).status, status, "{wait}");
        assert!(status != 200 || told.json()["state"] == "open", "{wait}: {told:?}");
    }
}

/// Where nothing is kept beyond the connection, the asker hears so, and why, and may still wait over a connection.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_kept_is_not_asked() {
    let inbox = &["inbox", "--addr", "127.0.0.1:0"][..];
    let bridge = &["run", "--serve=127.0.0.1:0", "--", ASKBRIDGE, "mock-agent"][..];
    let cases = [
        ("[journal]\nenabled = false\n", inbox, "journal.enabled"),
        ("[journal]\ntexts = false\n", inbox, "journal.texts"),
        ("", bridge, "askbridge inbox"),
    ];
    for (settings, args, why) in cases {
        let home = Home::with(settings);
        is_not_kept(&home.serve(args).http, why).await;
    }
    // The second inbox of a user finds those of the first, and keeps none itself.
    let home = Home::new();
    let first = home.start();
    let kept = ask_under(&first.http, "k", &left(question("First?"))).await.expect("a response");
    let second = home.start();
    is_not_kept(&second.http, "another askbridge inbox").await;
    let id = id(&kept.is(201).json());
    reply(&second.http, &id, "because").await.expect("a response").is(204);
    let shown = wait(&second.http, &id).await.expect("a response").is(200).json();
    let told = show(&first.http, &id).await.expect("a response").is(200).json();
    assert_eq!(shown["settlement"], told["settlement"]);
    assert_eq!(told["settlement"]["outcome"]["values"]["a"], "because");
}

async fn is_not_kept(http: &Http, why: &'static str) {
    let refused = || Error(503, "not_kept", why);
    let ask_left = left(question("Deploy?"));
    let named = with(ask_left.clone(), &json!({ "sessionId": "s", "questionId": "q" }));
    let rows = vec![
        (key("k"), question("Deploy?"), refused()),
        (key("k"), ask_left.clone(), refused()),
        (vec![], ask_left, refused()),
        (prefer("respond-async"), question("Deploy?"), refused()),
        (vec![], named, refused()),
    ];
    let before = open(http).await;
    check(http, rows).await;
    assert_eq!(open(http).await, before);
    let (id, held) = hold(http, &[], &question("Held?")).await;
    reply(http, &id, "because").await.expect("a response").is(204);
    assert_eq!(held.await.unwrap().expect("a response").is(200).json()["outcome"]["values"]["a"], "because");
}

/// An asker that lists the questions finds its own, and no longer finds it once it was told that it is over.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lists_are_no_older_than_what_an_asker_was_told() {
    const ROUNDS: usize = 30;
    let home = Home::new();
    let inbox = home.start();
    let http = &inbox.http;
    let has = async |asked: &str| open(http).await.iter().any(|record| id(record) == asked);
    for round in 0..ROUNDS {
        let told = ask(http, &[], &left(question(&format!("Round {round}?")))).await.expect("a response");
        let asked = id(&told.is(201).json());
        assert!(has(&asked).await, "{round}: asked");
        if round % 2 == 0 {
            withdraw(http, &asked).await.expect("a response").is(204);
            assert!(!has(&asked).await, "{round}: withdrawn");
            continue;
        }
        let waits = http.clone();
        let waited = asked.clone();
        let waiter = tokio::spawn(async move { wait(&waits, &waited).await });
        let replies = http.clone();
        let answered = asked.clone();
        let replied = tokio::spawn(async move { reply(&replies, &answered, "because").await });
        assert_eq!(waiter.await.unwrap().expect("a response").is(200).json()["state"], "settled");
        assert!(!has(&asked).await, "{round}: answered");
        replied.await.unwrap().expect("a response").is(204);
    }
}
