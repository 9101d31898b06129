//! What is sent waits on the server, from where its connection can take it back: the ends of the wait, with the real
//! program. Times by a virtual clock are left to the unit tests of `crates/control`, the page to `tests/page`.

use rustix::process::Signal;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinHandle;

use crate::http::client::{Http, soon};
use crate::http::program::{askbridge, http};
use crate::http::websocket::WebSocket;
use crate::support::Process;

/// An inbox, in which what is sent can be taken back for this long.
struct Inbox {
    process: Process,
    http: Http,
    _folder: TempDir,
}

impl Inbox {
    fn start(undo: Option<&str>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut command = askbridge(&folder, &["inbox", "--addr", "127.0.0.1:0"]);
        command.env("XDG_CONFIG_HOME", folder.path());
        if let Some(undo) = undo {
            command.env("ASKBRIDGE_SEND_UNDO", undo);
        }
        let process = Process::spawn(&mut command);
        let http = http(&process, &folder);
        Inbox { process, http, _folder: folder }
    }

    /// Asks as a program does, and returns the ID of the question, and what waits for its settlement.
    async fn ask(&self, label: &str, timeout: u64) -> (String, JoinHandle<Value>) {
        let mut listener = self.http.listen("/v1/events", &[]).await;
        while listener.next().await.event != "snapshot" {}
        let fields = json!([{ "name": "a", "label": label, "kind": "text" }]);
        let body = json!({ "fields": fields, "timeoutMs": timeout }).to_string();
        let http = self.http.clone();
        let asked = tokio::spawn(async move { http.post("/v1/questions", &body).await.is(200).json() });
        (listener.requested().await, asked)
    }

    async fn is_open(&self, id: &str) -> bool {
        let listing = self.http.get("/v1/questions").await.is(200).json();
        listing["questions"].as_array().unwrap().iter().any(|question| question["id"] == id)
    }
}

fn answer(id: &str, text: &str) -> Value {
    json!({ "id": id, "answer": { "values": { "a": text } }, "seen": 0 })
}

/// Lets an answer wait, and returns for how many milliseconds.
async fn defer(socket: &mut WebSocket, id: &str, text: &str) -> u64 {
    let reply = socket.call("question_defer", answer(id, text)).await;
    reply["result"]["milliseconds"].as_u64().unwrap_or_else(|| panic!("{reply}"))
}

async fn told(asked: JoinHandle<Value>) -> Value {
    let mut settlement = soon("the settlement", asked).await.unwrap();
    settlement["outcome"].take()
}

fn answered(text: &str) -> Value {
    json!({ "status": "answered", "values": { "a": text } })
}

const HOUR: u64 = 3_600_000;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_waits_as_long_as_the_setting_says_and_no_longer_than_the_deadline_lets_it() {
    for (undo, timeout, expected) in [
        (None, HOUR, 3_000..=3_000),
        (Some("0s"), HOUR, 0..=0),
        (Some("1h"), HOUR, 3_000..=3_000),
        (Some("1500ms"), HOUR, 1_500..=1_500),
        (Some("10s"), HOUR, 10_000..=10_000),
        (Some("10s"), 6_000, 1..=4_000),
    ] {
        let inbox = Inbox::start(undo);
        let mut socket = WebSocket::connect(&inbox.http).await;
        let (id, asked) = inbox.ask("Why?", timeout).await;
        let milliseconds = defer(&mut socket, &id, "so").await;
        assert!(expected.contains(&milliseconds), "{undo:?}, {timeout}: {milliseconds}");
        if timeout < HOUR {
            let settled = socket.call("question_deferred", json!({ "id": id })).await;
            assert_eq!(settled["result"]["settlement"]["outcome"], answered("so"), "{settled}");
            assert_eq!(told(asked).await, answered("so"));
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_taken_back_is_open_for_everybody_as_before() {
    let inbox = Inbox::start(Some("10s"));
    let (mut mine, mut other) =
        (WebSocket::connect(&inbox.http).await, WebSocket::connect(&inbox.http).await);
    let (id, asked) = inbox.ask("Why?", HOUR).await;
    let named = json!({ "id": id });
    for socket in [&mut mine, &mut other] {
        defer(socket, &id, "so").await;
        assert!(inbox.is_open(&id).await);
    }
    let waits = mine.begin("question_deferred", &named).await;
    assert_eq!(mine.call("question_undo", named.clone()).await["result"], json!(true));
    assert_eq!(mine.call("question_undo", named.clone()).await["result"], json!(false), "it is done once");
    let again = mine.call("question_deferred", named.clone()).await;
    assert_eq!(again["error"]["data"]["name"], "not_found", "the call {waits} has its verdict");
    // What another connection has sent is its own.
    assert!(inbox.is_open(&id).await);
    assert_eq!(other.call("question_undo", named.clone()).await["result"], json!(true));
    assert_eq!(other.call("question_deferred", named.clone()).await["result"], Value::Null);
    assert_eq!(defer(&mut other, &id, "at last").await, 10_000);
    drop(other);
    assert_eq!(told(asked).await, answered("at last"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_responder_wins_and_a_connection_that_ends_sends_at_once() {
    let inbox = Inbox::start(Some("10s"));
    let mut first = WebSocket::connect(&inbox.http).await;
    let mut second = WebSocket::connect(&inbox.http).await;
    let (one, told_one) = inbox.ask("One?", HOUR).await;
    let (two, told_two) = inbox.ask("Two?", HOUR).await;
    let (three, told_three) = inbox.ask("Three?", HOUR).await;
    defer(&mut first, &one, "waits").await;
    defer(&mut first, &three, "mine").await;
    defer(&mut second, &two, "at once").await;
    drop(second);
    assert_eq!(told(told_two).await, answered("at once"));
    let path = format!("/v1/questions/{three}/reply");
    inbox.http.post(&path, &json!({ "answers": [["theirs"]] }).to_string()).await.is(204);
    assert_eq!(told(told_three).await, answered("theirs"));
    let refused = first.call("question_deferred", json!({ "id": three })).await;
    assert_eq!(refused["error"]["data"]["name"], "conflict", "{refused}");
    let settlement = &refused["error"]["data"]["question"]["settlement"];
    assert_eq!(
        (&settlement["outcome"], &settlement["by"]["responder"]),
        (&answered("theirs"), &json!("http"))
    );
    // It was sent before both, and has waited all the time.
    assert!(inbox.is_open(&one).await);
    drop(first);
    assert_eq!(told(told_one).await, answered("waits"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_ends_sends_what_waits_before_its_questions_end() {
    for signal in [Signal::TERM, Signal::INT] {
        let mut inbox = Inbox::start(Some("10s"));
        let mut socket = WebSocket::connect(&inbox.http).await;
        let mut asked = Vec::new();
        for label in ["One?", "Two?"] {
            let (id, told) = inbox.ask(label, HOUR).await;
            defer(&mut socket, &id, label).await;
            asked.push((label, told));
        }
        inbox.process.signal(signal);
        for (label, settlement) in asked {
            assert_eq!(told(settlement).await, answered(label), "{signal:?}");
        }
        inbox.process.wait();
    }
}
