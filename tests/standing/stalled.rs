//! The journal cannot be written for a while: nobody is told what a kill of the inbox could undo.

use rusqlite::Connection;
use serde_json::{Value, json};

use crate::http::client::{Reply, soon};
use crate::standing::home::{
    Home, Inbox, ask_under, id, left, open, question, reply, show, wait, with, withdraw,
};

/// An inbox with an open question under the key `k`, and whether its journal is stalled.
struct Stage {
    home: Home,
    inbox: Inbox,
    stalled: Option<Connection>,
    id: String,
    body: Value,
}

impl Stage {
    async fn new(timeout: Option<u64>) -> Self {
        let home = Home::new();
        let inbox = home.start();
        let body = body(timeout);
        let asked = ask_under(&inbox.http, "k", &body).await.expect("a response");
        let id = id(&asked.is(201).json());
        Stage { home, inbox, stalled: None, id, body }
    }

    /// Keeps all others from writing.
    fn stall(&mut self) {
        self.stalled = Some(self.home.stall());
    }

    fn go_on(&mut self) {
        self.stalled = None;
    }

    /// Kills the inbox before the journal can be written, and starts another.
    fn crash(mut self) -> Self {
        self.inbox.kill();
        self.stalled = None;
        self.inbox = self.home.start();
        self
    }

    /// Checks that nobody is told that the question is over.
    async fn tells_nothing(&self) {
        let http = &self.inbox.http;
        for told in [
            show(http, &self.id).await,
            http.try_send("GET", &format!("/v1/questions/{}?wait=0s", self.id), &[], "").await,
            ask_under(http, "k", &self.body).await,
        ] {
            is_untold(&told.expect("a response"));
        }
    }
}

fn body(timeout: Option<u64>) -> Value {
    let body = left(question("Deploy?"));
    timeout.map_or(body.clone(), |timeout| with(body, &json!({ "timeoutMs": timeout })))
}

#[track_caller]
fn is_untold(told: &Reply) {
    match told.status {
        // A decision that is not written yet is on its way.
        200 => {
            let record = told.json();
            assert!(matches!(record["state"].as_str(), Some("open" | "delivering")), "{told:?}");
            assert_eq!(record.get("settlement"), None, "{told:?}");
        }
        status => {
            assert_eq!(status, 503, "{told:?}");
            assert!(told.json().get("outcome").is_none(), "{told:?}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_withdrawal_is_told_once_it_is_kept() {
    let mut stage = Stage::new(None).await;
    stage.stall();
    for _ in 0..3 {
        let told = withdraw(&stage.inbox.http, &stage.id).await.expect("a response");
        assert_eq!((told.status, &told.json()["name"]), (503, &json!("not_kept")), "{told:?}");
        stage.tells_nothing().await;
    }
    let mut stage = stage.crash();
    assert_eq!(open(&stage.inbox.http).await.len(), 1);
    stage.stall();
    withdraw(&stage.inbox.http, &stage.id).await.expect("a response").is(503);
    stage.go_on();
    // The journal goes on by itself.
    let over = wait(&stage.inbox.http, &stage.id).await.expect("a response").is(200).json();
    assert_eq!(over["settlement"]["outcome"]["reason"], "withdrawn");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deadline_is_told_once_it_is_kept() {
    let mut stage = Stage::new(Some(300)).await;
    stage.stall();
    let path = format!("/v1/questions/{}?wait=1s", stage.id);
    is_untold(&stage.inbox.http.try_send("GET", &path, &[], "").await.expect("a response"));
    stage.tells_nothing().await;
    let stage = stage.crash();
    let over = wait(&stage.inbox.http, &stage.id).await.expect("a response").is(200).json();
    assert_eq!(over["settlement"]["outcome"]["reason"], "timeout");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_is_accepted_once_it_is_kept() {
    let mut stage = Stage::new(None).await;
    stage.stall();
    let told = reply(&stage.inbox.http, &stage.id, "because").await.expect("a response");
    assert_eq!(told.status, 503, "{told:?}");
    stage.tells_nothing().await;
    let other = reply(&stage.inbox.http, &stage.id, "other").await.expect("a response");
    is_untold(&other);
    let stage = stage.crash();
    reply(&stage.inbox.http, &stage.id, "later").await.expect("a response").is(204);
    let over = wait(&stage.inbox.http, &stage.id).await.expect("a response").is(200).json();
    assert_eq!(over["settlement"]["outcome"]["values"]["a"], "later");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_time_is_given_once_it_is_kept() {
    let mut stage = Stage::new(Some(600_000)).await;
    let path = format!("/v1/questions/{}", stage.id);
    let before = stage.inbox.http.get(&path).await.json()["deadline"].clone();
    stage.stall();
    let more = stage.inbox.http.post(&format!("{path}/extend"), r#"{"milliseconds":60000}"#).await;
    assert_eq!(more.status, 503, "{more:?}");
    let stage = stage.crash();
    assert_eq!(stage.inbox.http.get(&path).await.json()["deadline"], before);
}

/// A question that could not be kept in time is not asked, or is open for who asks again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_that_was_refused_can_be_asked_again() {
    let mut stage = Stage::new(None).await;
    let http = &stage.inbox.http.clone();
    let body = left(question("Another?"));
    for round in 0..3 {
        let key = format!("another {round}");
        stage.stall();
        let told = ask_under(http, &key, &body).await.expect("a response");
        assert_eq!((told.status, &told.json()["name"]), (503, &json!("not_kept")), "{told:?}");
        stage.go_on();
        // That the journal can be written again is known once it was.
        let again = soon("the journal", async {
            loop {
                let told = ask_under(http, &key, &body).await.expect("a response");
                if told.status != 503 {
                    break told;
                }
            }
        })
        .await;
        assert!(matches!(again.status, 200 | 201), "{round}: {again:?}");
        assert_eq!(again.json()["state"], "open", "{round}: {again:?}");
        reply(http, &id(&again.json()), "because").await.expect("a response").is(204);
    }
    assert_eq!(open(http).await.len(), 1);
}
